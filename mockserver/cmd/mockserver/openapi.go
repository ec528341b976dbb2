package main

import (
	"context"
	"os"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

func openAPICommand() command {
	return command{
		word: "openapi", summary: "print the OpenAPI 3.1 document of the service",
		about: `x-assumption marks points that the specification leaves open. x-provisional marks operations for which it has no
path. The operations below /_mock/ belong to the reference server.`,
		examples: []string{"openapi | jq .paths", "openapi -o openapi.json"},
		define: func(f *flags) action {
			file := f.text("o", text{file: true}, "write the document to this `FILE` instead of standard output")
			return func(_ context.Context, p program) int { return writeOpenAPI(p, *file) }
		},
	}
}

func writeOpenAPI(p program, file string) int {
	document, err := mockserver.OpenAPI(shipping.Operations())
	if err != nil {
		return p.fail("cannot write the OpenAPI document: %v", err)
	}
	if file == "" {
		_, err = p.stdout.Write(document)
	} else {
		err = os.WriteFile(file, document, 0o666)
	}
	if err != nil {
		return p.fail("cannot write the OpenAPI document: %v", err)
	}
	return exitOK
}
