// Recording makes the moving picture of README from what the commands print:
//
//	go run ./test/recording          # writes docs/pictures/sweep.svg
//	go run ./test/recording -check   # fails if the commands print something else than the picture shows
//
// It needs Python.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"html"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const picture = "docs/pictures/sweep.svg"

// The commands run in the folder of the careless programs.
var commands = []string{
	"tail -n 9 careless.py",
	"mockserver sweep -faults lost-before,lost-after,500-after -- python3 careless.py {shipment}",
}

// Sizes in pixels, and times in seconds.
const (
	columns, charWidth, lineHeight, margin = 118, 7.4, 18, 18
	still, typing, reading, linePause      = 1.5, 1.2, 2.2, 0.12
)

// The picture is readable on a light and on a dark page. It shows its end at first, and wherever nothing is
// animated; after a pause, it hides each line until its time.
const style = `
text { font: 12.3px ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; fill: #1f2328; white-space: pre }
rect { fill: #f6f8fa; stroke: #d1d9e0 }
.command { fill: #0550ae; font-weight: bold; animation: hide, type steps(40) }
.output { animation: hide }
.alarm { fill: #cf222e; font-weight: bold }
@keyframes type { from { clip-path: inset(0 100% 0 0) } to { clip-path: inset(0 0 0 0) } }
@keyframes hide { from, to { opacity: 0 } }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } rect { fill: #151b23; stroke: #3d444d } .command { fill: #79c0ff } .alarm { fill: #ff7b72 }
}
@media (prefers-reduced-motion: reduce) { .command, .output { animation: none } }
`

func main() {
	check := flag.Bool("check", false, "fail if the commands print something else than the picture shows")
	flag.Parse()
	if err := record(*check); err != nil {
		log.Fatal(err)
	}
}

// record writes the picture, or compares it with what the commands print now.
func record(check bool) error {
	bin, err := os.MkdirTemp("", "recording")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	if out, err := exec.Command("go", "build", "-o", bin, "./mockserver/cmd/mockserver").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var lines bytes.Buffer
	height, now := margin, 0.5
	for i, command := range commands {
		if i > 0 {
			now += reading
			height += lineHeight / 2
		}
		height += lineHeight
		write(&lines, "command", height, now, "$ "+command)
		now += typing
		for line := range strings.Lines(run(bin, command)) {
			height += lineHeight
			write(&lines, "output", height, now, strings.TrimRight(line, "\n"))
			now += linePause
		}
	}
	width := columns*charWidth + 2*margin
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]d" width="%[1]g" height="%[2]d">
<style>%[3]s</style>
<rect x="0.5" y="0.5" width="%[4]g" height="%[5]d" rx="8"/>
%[6]s</svg>
`, width, height+margin, style, width-1, height+margin-1, lines.String())
	if !check {
		return os.WriteFile(picture, []byte(svg), 0o644)
	}
	if shown, err := os.ReadFile(picture); err != nil || string(shown) != svg {
		return errors.Join(err, errors.New(picture+" is not what the commands print: run go run ./test/recording"))
	}
	return nil
}

// run returns the standard output of a command, which may fail: sweep does if it finds something.
func run(bin, command string) string {
	shell := exec.Command("bash", "-c", command)
	shell.Dir = filepath.Join("examples", "careless")
	shell.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, _ := shell.Output()
	return string(out)
}

// write adds a line that is hidden until a time. Its length is fixed, so that columns align in every font.
func write(lines *bytes.Buffer, class string, y int, at float64, line string) {
	if class == "output" && (strings.Contains(line, "paid-twice") || strings.HasSuffix(line, " X")) {
		class += " alarm"
	}
	times := fmt.Sprintf("animation-delay: %.2fs; animation-duration: %.2fs", still, at)
	if class == "command" {
		times = fmt.Sprintf("animation-delay: %.2fs, %.2fs; animation-duration: %.2fs, %.2fs", still, still+at, at, typing)
	}
	if length := utf8.RuneCountInString(line); length > 0 {
		fmt.Fprintf(lines,
			"<text x=\"%d\" y=\"%d\" class=\"%s\" style=\"%s\" textLength=\"%.1f\" xml:space=\"preserve\">%s</text>\n",
			margin, y, class, times, float64(length)*charWidth, html.EscapeString(line))
	}
}
