package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// plan lists the runs.
type plan struct {
	rounds    int
	benchTime time.Duration
	walks     int // rounds that include the long walk
}

// variant is a way to build everything.
type variant struct{ name, experiment string }

// variants are the two JSON implementations of the standard library. Both are named, since the default
// depends on the toolchain.
func variants() []variant {
	return []variant{{"encoding/json", "nojsonv2"}, {"jsonv2", "jsonv2"}}
}

// programs are the commands below size, each compared with raw.
func programs() []string {
	return []string{"raw", "shipping", "gogithub", "stripego", "hcloudgo", "godo"}
}

// findings is all that was measured.
type findings struct {
	plan    plan
	runs    map[string]*samples         // by variant
	sizes   map[string]map[string]int64 // bytes, by variant and program
	machine machine
}

// machine is the machine and the Go version of a measurement.
type machine struct {
	cpu, goVersion, platform string
	cores                    int
	modules                  []string
}

func (p plan) measure(ctx context.Context, progress io.Writer) (*findings, error) {
	dir, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	found := &findings{plan: p, runs: map[string]*samples{}, sizes: map[string]map[string]int64{}}
	for _, v := range variants() {
		fmt.Fprintf(progress, "building with %s\n", v.name)
		if _, err := command(ctx, v, "go", "test", "-c", "-o", testBinary(dir, v), "."); err != nil {
			return nil, err
		}
		if found.sizes[v.name], err = programSizes(ctx, dir, v); err != nil {
			return nil, err
		}
		found.runs[v.name] = &samples{}
	}
	for round := range p.rounds {
		for _, v := range variants() {
			fmt.Fprintf(progress, "round %d of %d with %s\n", round+1, p.rounds, v.name)
			for _, arguments := range p.arguments(round) {
				output, err := command(ctx, v, testBinary(dir, v), arguments...)
				if err != nil {
					return nil, err
				}
				if err := found.runs[v.name].addRound(output); err != nil {
					return nil, err
				}
			}
		}
	}
	found.machine, err = describeMachine(ctx, found.runs[variants()[0].name].cpu)
	return found, err
}

// arguments are those of the runs of the test binary in a round. Calls get one processor, so that the garbage collector
// does not use another one that is idle, and single records a process without the garbage of the lists. The long walk, and how cost grows, are left out of the later rounds.
func (p plan) arguments(round int) [][]string {
	walks := "Pages"
	if round < p.walks {
		walks = "Pages|Walk|Growth"
	}
	run := func(benchmarks string, more ...string) []string {
		return append([]string{"-test.run=^$", "-test.bench=" + benchmarks, "-test.benchtime=" + p.benchTime.String(), "-test.timeout=1h"}, more...)
	}
	return [][]string{run("List|Forms|Drift", "-test.cpu=1"), run("One", "-test.cpu=1"), run(walks)}
}

func testBinary(dir string, v variant) string { return filepath.Join(dir, v.experiment+".test") }

// programSizes builds every program without symbols and debugging data.
func programSizes(ctx context.Context, dir string, v variant) (map[string]int64, error) {
	sizes := map[string]int64{}
	for _, name := range programs() {
		binary := filepath.Join(dir, v.experiment+"-"+name)
		if _, err := command(ctx, v, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./size/"+name); err != nil {
			return nil, err
		}
		info, err := os.Stat(binary)
		if err != nil {
			return nil, err
		}
		sizes[name] = info.Size()
	}
	return sizes, nil
}

func describeMachine(ctx context.Context, cpu string) (machine, error) {
	const direct = "{{if not (or .Indirect .Main .Replace)}}{{.Path}} {{.Version}}{{end}}"
	list, err := command(ctx, variants()[0], "go", "list", "-m", "-f", direct, "all")
	if err != nil {
		return machine{}, err
	}
	return machine{
		cpu: cpu, goVersion: runtime.Version(), platform: runtime.GOOS + "/" + runtime.GOARCH,
		cores: runtime.NumCPU(), modules: peerModules(string(list)),
	}, nil
}

// peerModules keeps the modules that are compared, with their versions.
func peerModules(list string) []string {
	var modules []string
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.Contains(line, "/go-cmp ") {
			modules = append(modules, line)
		}
	}
	return modules
}

// command runs a program in the current directory, built as a variant, and returns its output.
func command(ctx context.Context, v variant, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "GOEXPERIMENT="+v.experiment)
	var output, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &complaints
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s (run this command in the benchmarks folder): %w\n%s%s",
			filepath.Base(name), strings.Join(args, " "), err, output.Bytes(), complaints.Bytes())
	}
	return output.Bytes(), nil
}
