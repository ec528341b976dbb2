package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

func envCommand() command {
	return command{
		word: "env", summary: "print the environment variables for a client of the server",
		about: `Prints the settings of a server with the seed of -seed or, with -url, of a running server and one of its worlds.
With -cacert it also prints ` + caVariable + `, so that programs trust that CA certificate.`,
		examples: []string{
			`env                                         # for eval "$(mockserver env)"`,
			"env -format dotenv >.env",
			"env -url http://127.0.0.1:4010 -world lowfunds_ci42 -format json",
		},
		define: func(f *flags) action {
			seed := f.Uint64("seed", 1, "the random seed of the server's world, a `NUMBER`")
			format := f.text("format", text{value: "sh", choices: []string{"sh", "dotenv", "json"}}, "the `FORMAT` to print")
			address := f.text("url", text{}, "print the settings of the running server at this `URL`")
			world := f.text("world", text{}, "with -url: the `NAME` of an open world; default: the home world")
			cacert, token := cacertFlag(f), tokenFlag(f)
			return func(ctx context.Context, p program) int {
				var settings []setting
				var err error
				switch {
				case *address != "":
					settings, err = runningSettings(ctx, p, *address, *world, *cacert, *token)
				case *world != "":
					err = fmt.Errorf("-world needs a running server: add -url")
				default:
					settings, err = seededSettings(*seed)
				}
				if err != nil {
					return p.fail("%v", err)
				}
				if err := writeSettings(p.stdout, *format, settings); err != nil {
					return p.fail("cannot print the settings: %v", err)
				}
				return exitOK
			}
		},
	}
}

// setting is an environment variable.
type setting struct{ name, value string }

// settings returns the table that env prints: the variables of clients and of conform.
func settings(url, key, wallet, shipment, invoice, webhook string) []setting {
	return []setting{
		{baseURLVariable, url},
		{secretKeyVariable, key},
		{"SHIPPING_WALLET", wallet},
		{"SHIPPING_SHIPMENT", shipment},
		{"SHIPPING_INVOICE", invoice},
		{"SHIPPING_WEBHOOK", webhook},
	}
}

// seededSettings returns the settings of the home world of a seed, at the default address of serve.
func seededSettings(seed uint64) ([]setting, error) {
	srv := mockserver.New(mockserver.WithSeed(seed), mockserver.WithoutListener())
	defer srv.Close()
	if err := srv.Err(); err != nil {
		return nil, err
	}
	return settings("http://"+defaultAddr, srv.SecretKey, srv.Wallets()[0], srv.Shipments()[0], srv.Invoices()[0], srv.Webhooks()[0]), nil
}

// runningSettings returns the settings of a world of a running server, without those for which it has no record.
func runningSettings(ctx context.Context, p program, address, world, cacert, token string) ([]setting, error) {
	base, err := baseURL(program{args: []string{address}, getenv: p.getenv})
	if err != nil {
		return nil, fmt.Errorf("-url: %w", err)
	}
	w, err := newWire(cacert, token)
	if err != nil {
		return nil, err
	}
	defer w.CloseIdleConnections()
	var about struct {
		Key       string   `json:"secret_key"`
		Wallets   []string `json:"wallets"`
		Shipments []string `json:"shipments"`
		Invoices  []string `json:"invoices"`
		Webhooks  []string `json:"webhooks"`
	}
	err = ask(ctx, w, base+"/_mock/worlds/"+url.PathEscape(cmp.Or(world, "home")), "", &about)
	if refused, ok := errors.AsType[*refusal](err); ok {
		return nil, fmt.Errorf("%s: %w", base, refused)
	}
	if err != nil {
		return nil, fmt.Errorf("no mockserver responds on %s: %w; start one with mockserver serve", base, err)
	}
	first := func(all []string) string { return append(all, "")[0] }
	found := settings(base, about.Key, first(about.Wallets), first(about.Shipments), first(about.Invoices), first(about.Webhooks))
	if cacert != "" {
		if cacert, err = filepath.Abs(cacert); err != nil {
			return nil, err
		}
		found = append(found, setting{caVariable, cacert})
	}
	return found, nil
}

// caVariable is the variable with which Go, OpenSSL and programs that use it replace the system's CA certificates.
const caVariable = "SSL_CERT_FILE"

// writeSettings writes the settings that are not empty in one of the formats of -format. A value with a control
// character is an error: values come from a server, and the output is used with eval and on terminals.
func writeSettings(out io.Writer, format string, settings []setting) error {
	object := map[string]string{}
	var lines strings.Builder
	for _, s := range settings {
		switch {
		case s.value == "":
		case format == "json":
			object[s.name] = s.value
		case strings.Contains(s.value, "\n") || !shell.Visible(s.value):
			return fmt.Errorf("the value of %s has a non-printable character: %q; use -format json", s.name, s.value)
		case format == "sh":
			fmt.Fprintf(&lines, "export %s=%s\n", s.name, shell.Quote(s.value))
		default:
			fmt.Fprintf(&lines, "%s=%s\n", s.name, dotenvQuoted(s.value))
		}
	}
	if format == "json" {
		return writeJSON(out, object)
	}
	_, err := io.WriteString(out, lines.String())
	return err
}

// dotenvQuoted quotes a value for readers of .env files and for shells. They agree on text in single quotes without
// quotes and backslashes.
func dotenvQuoted(value string) string {
	if !strings.ContainsAny(value, `'\`) {
		return shell.Quote(value)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(value) + `"`
}
