// Command sbom writes the software bill of materials of a Go program: its modules, as the linker recorded them, and
// the standard library.
//
//	sbom PROGRAM >PROGRAM.cdx.json
//
// The output is CycloneDX JSON. It depends on nothing but the program, so that equal programs have equal bills.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log"
	"os"
	"path"
	"runtime/debug"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: sbom PROGRAM")
	}
	info, err := buildinfo.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	bill, err := describe(info)
	if err != nil {
		log.Fatal(err)
	}
	if err := cyclonedx.NewBOMEncoder(os.Stdout, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bill, cyclonedx.SpecVersion1_6); err != nil {
		log.Fatal(err)
	}
}

// describe returns the bill of a program. It fails if a module has no checksum, as with a replace directive that
// names a directory.
func describe(info *debug.BuildInfo) (*cyclonedx.BOM, error) {
	program := component(cyclonedx.ComponentTypeApplication, info.Main.Path, info.Main.Version)
	program.Name = path.Base(info.Path)
	standard := component(cyclonedx.ComponentTypeLibrary, "std", strings.TrimPrefix(info.GoVersion, "go"))
	components, uses := []cyclonedx.Component{standard}, []string{standard.BOMRef}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		found := component(cyclonedx.ComponentTypeLibrary, module.Path, module.Version)
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:"))
		if err != nil || len(sum) == 0 {
			return nil, fmt.Errorf("sbom: %s has no checksum that can be read: %q", module.Path, module.Sum)
		}
		found.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}} // of the module's zip, as in go.sum
		components, uses = append(components, found), append(uses, found.BOMRef)
	}
	bill := cyclonedx.NewBOM()
	bill.Metadata = &cyclonedx.Metadata{Component: &program}
	bill.Components = &components
	bill.Dependencies = &[]cyclonedx.Dependency{{Ref: program.BOMRef, Dependencies: &uses}}
	return bill, nil
}

// component identifies a module by its package URL.
func component(kind cyclonedx.ComponentType, modulePath, version string) cyclonedx.Component {
	purl := "pkg:golang/" + modulePath + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cyclonedx.Component{BOMRef: purl, Type: kind, Name: modulePath, Version: version, PackageURL: purl}
}
