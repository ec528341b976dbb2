package pgstore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shipping-go/shipping"
)

// An amount is the value of a numeric or text column through pgx and database/sql, in every mode of queries.
func TestAmount_IsAColumnOfPostgreSQL(t *testing.T) {
	var given []shipping.Amount
	for _, text := range []string{"19.99", "0", "-3", "123456789012345678", "0.000000000000000001"} {
		amount, err := shipping.ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		given = append(given, amount)
	}
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		for column, query := range map[string]string{"numeric": "SELECT $1::numeric", "text": "SELECT $1::text"} {
			t.Run(fmt.Sprint(column, " ", mode), func(t *testing.T) {
				config, err := pgx.ParseConfig(os.Getenv(dsnVariable))
				if err != nil {
					t.Fatal(err)
				}
				config.DefaultQueryExecMode = mode
				conn, err := pgx.ConnectConfig(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close(t.Context())
				db := stdlib.OpenDB(*config)
				defer db.Close()
				for _, amount := range append(given, shipping.Amount{}) {
					native, through := given[0], given[0] // NULL replaces them too
					err := conn.QueryRow(t.Context(), query, amount).Scan(&native)
					if err := errors.Join(err, db.QueryRowContext(t.Context(), query, amount).Scan(&through)); err != nil {
						t.Fatal(err)
					}
					if native != amount || through != amount {
						t.Errorf("%s: %s through pgx, %s through database/sql", amount, native, through)
					}
				}
				unreadable := given[0]
				if err := unreadable.UnmarshalJSON([]byte(`"soon"`)); err != nil {
					t.Fatal(err)
				}
				var none sql.NullString
				if err := conn.QueryRow(t.Context(), query, unreadable).Scan(&none); !errors.Is(err, shipping.ErrAmountUnreadable) {
					t.Errorf("an unreadable amount was written: %v, %v", none, err)
				}
			})
		}
	}
	conn, err := pgx.Connect(t.Context(), os.Getenv(dsnVariable))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for query, want := range map[string]string{
		"SELECT 7::bigint": "7", "SELECT 7::integer": "7", "SELECT 1.500::numeric(10,3)": "1.5", "SELECT sum(x) FROM (VALUES (0.1), (0.2)) v(x)": "0.3",
		"SELECT 'NaN'::numeric": "", "SELECT 19.99::double precision": "",
	} {
		var got shipping.Amount
		if err := conn.QueryRow(t.Context(), query).Scan(&got); (err == nil) != (want != "") || want != "" && got.String() != want {
			t.Errorf("%s: %s, %v; want %q", query, got, err, want)
		}
	}
}
