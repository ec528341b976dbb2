package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

func versionCommand() command {
	return command{word: "version", summary: "print the version", define: func(*flags) action { return version }}
}

// version prints the version in the program's build information.
func version(_ context.Context, p program) int {
	built := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		built = info.Main.Version
	}
	fmt.Fprintf(p.stdout, "mockserver %s %s %s/%s\n", built, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitOK
}
