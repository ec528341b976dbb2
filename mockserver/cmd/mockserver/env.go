package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

func envCommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "env", Usage: "print the environment variables for a client of the server",
		Description: `Prints the settings of a server with the seed of -seed or, with -url, of a
running server and one of its worlds.`,
		Metadata: examples(`env      # for eval "$(mockserver env)"`,
			"env -url http://127.0.0.1:4010 -world lowfunds_ci42 -json"),
		Flags: []cli.Flag{
			env.number("seed", 1, "the random seed of the server"),
			env.toggle("json", "print a JSON object instead of commands of a shell"),
			env.text("url", "", "the URL of a running server"),
			env.text("world", "", "with -url: an open world; default: the home world"),
			env.text("token", "", "the token that serve prints, if it is needed"),
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			found, err := findServer(ctx, cmd, env)
			if err != nil {
				return err
			}
			return printSettings(cmd, found.settings())
		},
	}
}

// findServer describes the server of -url, or else the one that serve would start.
func findServer(ctx context.Context, cmd *cli.Command, env environment) (found ready, err error) {
	world := cmd.String("world")
	if cmd.String("url") == "" {
		if world != "" {
			return ready{}, exit{exitUsage, errors.New("-world needs a running server: add -url")}
		}
		srv := mockserver.New(mockserver.WithSeed(cmd.Uint64("seed")), mockserver.WithoutListener())
		defer srv.Close()
		found = describe(srv.World)
		found.URL = "http://" + defaultAddr
		return found, srv.Err()
	}
	base, err := baseURL(cmd.String("url"), env)
	if err == nil {
		err = ask(ctx, cmd, base, "/_mock/worlds/"+url.PathEscape(cmp.Or(world, "home")), &found)
		found.URL = base
	}
	return found, err
}

// setting is an environment variable of a program. In arguments of sweep, {shipment} stands for the value of
// SHIPPING_SHIPMENT, and so on.
type setting struct{ name, value string }

// settings returns the variables of clients and of conform. Variables without a record are empty.
func (r ready) settings() []setting {
	first := func(all []string) string { return append(all, "")[0] }
	return []setting{
		{baseURLVariable, r.URL},
		{secretKeyVariable, r.SecretKey},
		{"SHIPPING_WALLET", first(r.Wallets)},
		{"SHIPPING_SHIPMENT", first(r.Shipments)},
		{"SHIPPING_INVOICE", first(r.Invoices)},
		{"SHIPPING_WEBHOOK", first(r.Webhooks)},
	}
}

// printSettings prints the settings that are not empty, as commands of a shell or as JSON.
func printSettings(cmd *cli.Command, settings []setting) error {
	object := map[string]string{}
	var lines strings.Builder
	for _, s := range settings {
		if s.value != "" {
			object[s.name] = s.value
			fmt.Fprintf(&lines, "export %s=%s\n", s.name, shell.Quote(s.value))
		}
	}
	return printValue(cmd, object, lines.String())
}

func readyCommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "ready", Usage: "wait for a server; exit 0 when it is ready", ArgsUsage: "[URL]",
		Description: `For scripts and health checks. The exit code is 0 as soon as GET
URL/_mock/healthz succeeds, and 1 after the time of -wait. The default of URL is
the server of -addr on this machine, else ` + baseURLVariable + `, else
http://` + defaultAddr + `.`,
		Metadata: examples("ready http://127.0.0.1:4010 -wait 10s",
			"ready https://127.0.0.1:4010   # with SSL_CERT_FILE, for -tls"),
		Flags: []cli.Flag{
			env.time("wait", 0, "retry for this time; 0 sends one request"),
			env.text("addr", "", "the -addr of the server"),
			env.toggle("tls", "with -addr: the server has -tls"),
			env.text("tls-ca", "", "the file of the certificate to trust"),
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			base, err := baseURL(cmp.Or(cmd.Args().First(), localURL(cmd.String("addr"), cmd.Bool("tls"))), env)
			if err != nil {
				return err
			}
			waiting, cancel := context.WithTimeout(ctx, cmd.Duration("wait"))
			defer cancel()
			for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
				err := ask(ctx, cmd, base, "/_mock/healthz", &struct{}{})
				if err == nil {
					return nil
				}
				if wait.Sleep(waiting, pause) != nil {
					if _, unreachable := errors.AsType[net.Error](err); unreachable {
						err = fmt.Errorf("%w, or wait longer with -wait", err)
					}
					return err
				}
			}
		},
	}
}

// localURL returns the base address of a server on this machine that listens on addr; "" if addr is empty.
func localURL(addr string, tls bool) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr // baseURL refuses it, unless it is empty
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http"
	if tls {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}
