package pgstore_test

import (
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shipping-go/shipping"
)

// An amount is the value of a numeric or text column through pgx and database/sql, in every mode of queries, and can be
// read from other exact numbers.
func TestAmount_IsAColumnOfPostgreSQL(t *testing.T) {
	for _, mode := range []string{"cache_statement", "describe_exec", "exec", "simple_protocol"} {
		config, err := pgx.ParseConfig(os.Getenv(dsnVariable) + " default_query_exec_mode=" + mode)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := pgx.ConnectConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		db := stdlib.OpenDB(*config)
		defer db.Close()
		for _, query := range []string{"SELECT $1::numeric", "SELECT $1::text"} {
			for _, text := range []string{"19.99", "0", "-3", "123456789012345678", "0.000000000000000001", "NULL"} {
				var want shipping.Amount
				native, through := amount(t, "7"), amount(t, "7") // NULL replaces them too
				if text != "NULL" {
					want = amount(t, text)
				}
				err := conn.QueryRow(t.Context(), query, want).Scan(&native)
				err = errors.Join(err, db.QueryRowContext(t.Context(), query, want).Scan(&through))
				if err != nil || native != want || through != want {
					t.Errorf("%s, %s of %s: %s, %s, %v", mode, query, text, native, through, err)
				}
			}
		}
		for query, want := range map[string]string{
			"SELECT 7::bigint": "7", "SELECT 7::integer": "7", "SELECT 1.500::numeric(10,3)": "1.5",
			"SELECT sum(x) FROM (VALUES (0.1), (0.2)) v(x)": "0.3",
			"SELECT 'NaN'::numeric":                         "", "SELECT 19.99::double precision": "",
		} {
			var got shipping.Amount
			if err := conn.QueryRow(t.Context(), query).Scan(&got); (err == nil) != (want != "") || err == nil &&
				got != amount(t, want) {
				t.Errorf("%s, %s: %s, %v; want %q", mode, query, got, err, want)
			}
		}
	}
}
