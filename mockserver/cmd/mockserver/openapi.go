package main

import (
	"context"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/mockserver"
)

func openAPICommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "openapi", Usage: "print the OpenAPI 3.1 document of the service",
		Description: `x-assumption marks points that the specification leaves open. x-provisional
marks operations for which it has no path. The operations below /_mock/ belong
to the reference server.`,
		Metadata: examples("openapi | jq .paths", "openapi -o openapi.json"),
		Flags:    []cli.Flag{env.text("o", "", "write to this file instead of standard output")},
		Action: func(_ context.Context, cmd *cli.Command) error {
			document, err := mockserver.OpenAPI()
			if file := cmd.String("o"); err == nil && file != "" {
				return os.WriteFile(file, document, 0o666)
			}
			if err != nil {
				return err
			}
			return printValue(cmd, nil, string(document))
		},
	}
}
