package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/mockserver"
)

func openAPICommand() *cli.Command {
	return &cli.Command{
		Name: "openapi", Usage: "print the OpenAPI 3.1 document of the service",
		Description: `x-assumption marks points that the specification leaves open. x-provisional
marks operations for which it has no path. The operations below /_mock/ belong
to the reference server.`,
		Metadata: examples("openapi | jq .paths", "openapi > openapi.json"),
		Action: func(_ context.Context, cmd *cli.Command) error {
			document, err := mockserver.OpenAPI()
			if err != nil {
				return err
			}
			return printValue(cmd, nil, string(document))
		},
	}
}
