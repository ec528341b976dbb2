package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/shipping-go/shipping/mockserver"
)

func envCommand() command {
	return command{
		word: "env", summary: "print the settings that a program needs to use the server",
		about: `The settings follow from the seed. With -url a running server is asked whether they are its own, and
nothing is printed when they are not.`,
		examples: []string{
			`env                                       # for eval "$(mockserver env)"`,
			"env -format dotenv >.env",
			"env -url http://127.0.0.1:4010 -format json",
		},
		define: func(f *flags) action {
			seed := f.Uint64("seed", 1, "the `NUMBER` that the server's world follows from")
			format := f.text("format", text{value: "sh", choices: []string{"sh", "dotenv", "json"}}, "the `FORMAT` to print")
			address := f.text("url", text{}, "make sure that the server running at this `URL` has these settings")
			return func(ctx context.Context, p program) int {
				return printSettings(ctx, p, *seed, *format, *address)
			}
		},
	}
}

// setting is an environment variable of programs that use the service.
type setting struct{ name, value string }

// printSettings prints the settings of a seed's world, at the default address or at one where a server
// runs that has it.
func printSettings(ctx context.Context, p program, seed uint64, format, address string) int {
	srv := mockserver.New(mockserver.WithSeed(seed), mockserver.WithoutListener())
	defer srv.Close()
	if err := srv.Err(); err != nil {
		return p.fail("%v", err)
	}
	base := "http://" + defaultAddr
	if address != "" {
		var err error
		if base, err = baseURL(program{args: []string{address}, getenv: p.getenv}); err != nil {
			return p.fail("-url: %v", err)
		}
		if err := healthy(ctx, http.DefaultTransport, base); err != nil {
			return p.fail("no mockserver answers on %s: %v; start one with mockserver serve", base, err)
		}
		if err := accepts(ctx, base, srv.SecretKey); err != nil {
			return p.fail("the server on %s is not of seed %d: %v; name its seed with -seed", base, seed, err)
		}
	}
	if err := writeSettings(p.stdout, format, settings(describeWorld(srv, base))); err != nil {
		return p.fail("cannot write to standard output: %v", err)
	}
	return exitOK
}

// settings is the table of what env prints.
func settings(world ready) []setting {
	return []setting{
		{baseURLVariable, world.URL},
		{secretKeyVariable, world.SecretKey},
		{"SHIPPING_WALLET", world.Wallets[0]},
		{"SHIPPING_SHIPMENT", world.Shipments[0]},
		{"SHIPPING_INVOICE", world.Invoices[0]},
		{"SHIPPING_WEBHOOK", world.Webhooks[0]},
	}
}

// writeSettings writes settings in one of the formats of -format.
func writeSettings(out io.Writer, format string, settings []setting) error {
	if format == "json" {
		object := map[string]string{}
		for _, s := range settings {
			object[s.name] = s.value
		}
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(object)
	}
	line := "export %s=%s\n"
	if format == "dotenv" {
		line = "%s=%s\n"
	}
	for _, s := range settings {
		if _, err := fmt.Fprintf(out, line, s.name, quoted(s.value)); err != nil {
			return err
		}
	}
	return nil
}

// quoted puts a value in single quotes unless it has only letters that no shell and no reader of .env
// files treats in a special way.
func quoted(value string) string {
	plain := strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:") == ""
	if plain {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// accepts returns nil when the service takes the key, else what it says.
func accepts(ctx context.Context, base, key string) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/rates?perPage=1", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("its key was answered with %s", resp.Status)
	}
	return nil
}
