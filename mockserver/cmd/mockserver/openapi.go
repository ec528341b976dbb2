package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/mockserver"
)

func openAPICommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "openapi", Usage: "print the OpenAPI 3.1 document of the service",
		Description: `x-assumption marks points that the specification leaves open. x-provisional
marks operations for which it has no path. The operations below /_mock/ belong
to the reference server.`,
		Metadata: examples("openapi | jq .paths", "openapi -dialect service.json > openapi.json"),
		Flags:    []cli.Flag{env.text("dialect", "", "the service's dialect, as in serve")},
		Action: func(_ context.Context, cmd *cli.Command) error {
			d, err := readDialect(cmd.String("dialect"))
			if err != nil {
				return err
			}
			document, err := mockserver.OpenAPI(d)
			if err != nil {
				return err
			}
			return printValue(cmd, nil, string(document))
		},
	}
}
