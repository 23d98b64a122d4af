// This file prints how the figures of a test change with each number that steers a package.

// Ablate halves and doubles each named number of a package, one at a time, runs a test of that package with it, and prints the
// lines of the test's output that hold a text: what each number is worth, and which of them nobody would miss.
//
//	go run -C internal/tools ./ablate -run TestReferences -lines 'short of the reference' ../../alloc/embedded
//
// A number is a constant of a file that is no test, given as a literal. The files of the package stay as they are: the
// compiler sees others in their place.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// study is what to run, and what to show of it.
type study struct {
	folder, run, lines string
	// only restricts the numbers by their names; nil: all of them.
	only *regexp.Regexp
}

func main() {
	var s study
	flag.StringVar(&s.run, "run", "", "the test to run, as of go test")
	flag.StringVar(&s.lines, "lines", "", "a text that the lines to show hold")
	only := flag.String("only", "", "a regular expression that the names of the numbers to change match")
	flag.Parse()
	err := errors.New("usage: ablate -run TEST -lines TEXT [-only NAMES] FOLDER")
	if flag.NArg() == 1 && s.run != "" && s.lines != "" {
		s.folder = flag.Arg(0)
		if s.only, err = regexp.Compile(*only); err == nil {
			err = s.print(context.Background(), os.Stdout)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ablate:", err)
		os.Exit(1)
	}
}

// print runs the test as it is, and then with each number halved and doubled. A number with which nothing changes is said to be
// so; where the test or the compiler fails, the lines that there are come with the error.
func (s *study) print(ctx context.Context, w io.Writer) error {
	numbers, err := numbersOf(s.folder)
	if err != nil {
		return err
	}
	asIs, err := s.measure(ctx, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "as it is\n%s", asIs)
	for _, n := range numbers {
		if !s.only.MatchString(n.name) {
			continue
		}
		for _, text := range n.others() {
			got, err := s.measure(ctx, n.with(text))
			switch {
			case err != nil:
				fmt.Fprintf(w, "%s %s instead of %s: %v\n%s", n.name, text, n.text, err, got)
			case got == asIs:
				fmt.Fprintf(w, "%s %s instead of %s: no change\n", n.name, text, n.text)
			default:
				fmt.Fprintf(w, "%s %s instead of %s\n%s", n.name, text, n.text, got)
			}
		}
	}
	return ctx.Err()
}

// measure runs the test with some files replaced, and returns the lines that hold the text, without what comes before it: names
// of files and line numbers of the test.
func (s *study) measure(ctx context.Context, files replaced) (string, error) {
	scratch, err := os.MkdirTemp("", "ablate")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range files {
		overlay.Replace[path] = filepath.Join(scratch, filepath.Base(path))
		if err := os.WriteFile(overlay.Replace[path], text, 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	list := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, "go", "test", "-vet=off", "-count=1", "-v", "-overlay", list, "-run", s.run, ".")
	command.Dir = s.folder
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err = command.Run()
	var shown strings.Builder
	for line := range strings.Lines(out.String()) {
		if at := strings.Index(line, s.lines); at >= 0 {
			shown.WriteString("  " + strings.TrimRight(line[at:], "\n") + "\n")
		}
	}
	if err == nil && shown.Len() == 0 {
		err = fmt.Errorf("no line of the test holds %q", s.lines)
	}
	return shown.String(), err
}
