package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed package.json
var packageJSON string

// packageLock pins both packages by version and hash; npm refuses others.
//
//go:embed package-lock.json
var packageLock string

// packages holds the data of the two npm packages, by country code.
type packages struct {
	// Names is from countries-and-timezones, which keeps a name's own letters (Åland, Curaçao). Its
	// zones are not used: it lists a neighbour's zone where both have kept the same time
	// (Europe/Berlin for Norway), and zone.tab has each country's own.
	Names map[string]struct {
		Name string `json:"name"`
	} `json:"names"`
	// Details is from countries-list, which also has codes outside ISO 3166-1.
	Details map[string]details `json:"details"`
}

// details is a country in countries-list. Both lists have the principal value first.
type details struct {
	Name     string   `json:"name"`
	Phone    []int    `json:"phone"`
	Currency []string `json:"currency"`
}

// installPackages installs the packages into a temporary folder, reads them and removes it.
func installPackages() (*packages, error) {
	folder, err := os.MkdirTemp("", "country-sources-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	for name, text := range map[string]string{"package.json": packageJSON, "package-lock.json": packageLock} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	if _, err := output(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		return nil, fmt.Errorf("installing the npm packages: %w", err)
	}
	const script = `JSON.stringify({
		names: require("countries-and-timezones").getAllCountries(),
		details: require("countries-list").countries,
	})`
	text, err := output(folder, "node", "-p", script)
	if err != nil {
		return nil, fmt.Errorf("reading the npm packages: %w", err)
	}
	read := &packages{}
	if err := json.Unmarshal(text, read); err != nil {
		return nil, fmt.Errorf("reading the npm packages: %w", err)
	}
	return read, nil
}

// output runs a command in a folder and returns its standard output; its errors go to standard error.
func output(folder, name string, args ...string) ([]byte, error) {
	command := exec.Command(name, args...)
	command.Dir = folder
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}
