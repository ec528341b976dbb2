package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"
)

func readyCommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "ready", Usage: "wait for a server; exit 0 when it is ready", ArgsUsage: "[URL]",
		Description: `For scripts and health checks. The exit code is 0 as soon as GET
URL/_mock/healthz succeeds, and 1 after the time of -wait. The default of URL is
` + baseURLVariable + `, else http://` + defaultAddr + `.`,
		Metadata: examples("ready http://127.0.0.1:4010 -wait 10s", "ready https://127.0.0.1:4010 -cacert ca.pem   # of -tls-ca"),
		Flags:    []cli.Flag{env.time("wait", 0, "retry for this time; 0 sends one request"), cacertFlag(env), tokenFlag(env)},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			base, err := baseURL(cmd.Args().First(), env)
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
				if !paused(waiting, pause) {
					return fmt.Errorf("%w, or wait longer with -wait", err)
				}
			}
		},
	}
}

// paused waits for d, and returns false if the context ends first.
func paused(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
