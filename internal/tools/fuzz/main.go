// This file runs every fuzz target of a module, each for the same time.

// Fuzz finds the fuzz targets of a module with "go test -list" and runs them one after another:
//
//	go run -C tools ./fuzz -time 10s ..
//
// With -since only those of packages with a file that has changed since a revision.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// target is one fuzz function.
type target struct{ pkg, name string }

func main() {
	duration := flag.Duration("time", 10*time.Second, "how long each target runs")
	since := flag.String("since", "", "a revision; empty: all packages count as changed")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: fuzz [-time 10s] [-since REVISION] FOLDER")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), *since, *duration); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, dir, since string, duration time.Duration) error {
	packages, err := fuzzed(dir, since)
	if err != nil || len(packages) == 0 {
		return err
	}
	list := exec.Command("go", append([]string{"test", "-list", "^Fuzz"}, packages...)...)
	list.Dir = dir
	out, err := list.CombinedOutput()
	if err != nil {
		return fmt.Errorf("listing the targets: %w\n%s", err, out)
	}
	for _, t := range targets(out) {
		if err := fuzz(w, dir, t, duration); err != nil {
			return err
		}
	}
	return nil
}

// fuzzed returns the packages of a module that have fuzz targets, as "./folder", of those that have changed since a revision.
// It reads sources, since "go test -list" builds the tests of all that it is asked for.
func fuzzed(dir, since string) ([]string, error) {
	list := exec.Command("go", "list", "-f", `{{$d := .Dir}}{{range .TestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}`, "./...")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages: %w", err)
	}
	var packages []string
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		folder := filepath.Dir(file)
		if !bytes.Contains(source, []byte("\nfunc Fuzz")) || slices.Contains(packages, folder) || !changed(folder, since) {
			continue
		}
		packages = append(packages, folder)
	}
	return packages, nil
}

// changed reports whether a folder differs from a revision; also if that is empty, or not known.
func changed(folder, since string) bool {
	diff := exec.Command("git", "diff", "--quiet", since, "--", ".")
	diff.Dir = folder
	return since == "" || diff.Run() != nil
}

// targets reads what "go test -list" prints: the names in a package, one a line, and then a line
// "ok package time".
func targets(list []byte) []target {
	var found []target
	var names []string
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) >= 2 && fields[0] == "ok":
			for _, name := range names {
				found = append(found, target{fields[1], name})
			}
			names = nil
		}
	}
	return found
}

func fuzz(w io.Writer, dir string, t target, duration time.Duration) error {
	cmd := exec.Command("go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", duration.String(),
		"-fuzzminimizetime", "5s", t.pkg)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	fmt.Fprintf(w, "%s %s: %s\n", t.pkg, t.name, lastProgress(out))
	if err != nil && !isDeadlineRace(out) {
		return fmt.Errorf("%s %s: %w\n%s", t.pkg, t.name, err, out)
	}
	return nil
}

// isDeadlineRace tells whether a failed run is the toolchain's own fault: up to Go 1.26 a worker
// that is busy when -fuzztime ends can make the run fail with "context deadline exceeded"
// (go.dev/issue/75804). A target that really fails leaves an input behind or prints more.
func isDeadlineRace(out []byte) bool {
	_, failure, failed := bytes.Cut(out, []byte("--- FAIL: "))
	_, failure, _ = bytes.Cut(failure, []byte("\n"))
	first, rest, _ := bytes.Cut(failure, []byte("\n"))
	return failed && string(bytes.TrimSpace(first)) == "context deadline exceeded" &&
		bytes.HasPrefix(rest, []byte("FAIL\n")) && !bytes.Contains(out, []byte("Failing input written"))
}

// lastProgress returns the last line in which go test tells how far it came.
func lastProgress(out []byte) string {
	last := "no progress"
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "fuzz: elapsed: "); ok {
			last = text
		}
	}
	return last
}
