// This file runs every fuzz target of the module in the current folder, each for the same time.

// Fuzz finds the fuzz targets of a module with "go test -list" and runs them one after another:
//
//	go run -C tools ./fuzz -time 10s ..
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// target is one fuzz function.
type target struct{ pkg, name string }

func main() {
	duration := flag.Duration("time", 10*time.Second, "how long each target runs")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: fuzz [-time 10s] FOLDER")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), *duration); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, dir string, duration time.Duration) error {
	list := exec.Command("go", "test", "-list", "^Fuzz", "./...")
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
