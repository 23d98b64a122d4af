// This file is the command: it plants each bug, in no file of the tree, and says what finds it.

// Planted plants bugs in the library, one at a time, and prints which seed of the world finds each, or else which test of its package.
// The bugs stand in an overlay of the go command: no file is changed. It runs in the folder internal/world.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/apportion/apportion/internal/world"
)

func main() {
	seeds := flag.Uint64("seeds", 30, "how many seeds are played for each")
	first := flag.Int("first", 0, "the first bug")
	last := flag.Int("last", math.MaxInt, "the last one")
	tests := flag.Bool("tests", false, "ask the tests of its package before any seed")
	flag.Parse()
	all, err := bugs()
	missed := 0
	for i := *first; err == nil && i < len(all) && i <= *last; i++ {
		var by string
		by, err = all[i].find(context.Background(), *seeds, *tests)
		if err != nil {
			break
		}
		if by == "" {
			by, missed = "nothing", missed+1
		}
		fmt.Printf("| %d | %s | %s | %s |\n", i, all[i].what, all[i].file, by)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || missed > 0 {
		os.Exit(1)
	}
}

// find returns what finds the bug; empty: nothing does.
func (b *bug) find(ctx context.Context, seeds uint64, tests bool) (string, error) {
	file, err := filepath.Abs(filepath.Join("../../checkpoint", b.file))
	if err != nil {
		return "", err
	}
	change := world.Change{File: file, From: b.from, To: b.to}
	by := ""
	if tests || !b.isPlayed() {
		by, err = b.test(ctx, change)
	}
	if by == "" && err == nil && seeds > 0 && b.isPlayed() {
		by, err = b.play(ctx, change, seeds)
	}
	if by == "" && err == nil && !tests && b.isPlayed() {
		by, err = b.test(ctx, change)
	}
	return by, err
}

// isPlayed reports whether the file is a part of the world.
func (b *bug) isPlayed() bool {
	return slices.Contains([]string{".", "agent", "driver", "guard", "journal", "wire"}, filepath.Dir(b.file))
}

// play returns the first seed that finds the bug, and what it finds.
func (b *bug) play(ctx context.Context, change world.Change, seeds uint64) (string, error) {
	w, err := world.New(ctx, change)
	if err != nil {
		return "", fmt.Errorf("%s: %w", b.what, err)
	}
	defer w.Close()
	for seed := uint64(1); seed <= seeds; seed++ {
		s, err := w.Play(ctx, seed, io.Discard)
		switch {
		case err != nil:
			return fmt.Sprintf("seed %d: the run dies", seed), nil
		case len(s.Violations) > 0:
			_, what, _ := strings.Cut(s.Violations[0], ": ")
			return fmt.Sprintf("seed %d: %.70s", seed, strings.ReplaceAll(what, "|", " ")), nil
		}
	}
	return "", nil
}

// failure is how a test says that it has failed, or that it hangs.
var failure = regexp.MustCompile(`(?:--- FAIL: |running tests:\n\s+)(\w+)`)

func (b *bug) test(ctx context.Context, change world.Change) (string, error) {
	text, err := os.ReadFile(change.File)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "planted")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	files, err := world.Overlay(dir, map[string]string{change.File: strings.Replace(string(text), change.From, change.To, 1)})
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	// What is around the package is asked when the package has nothing to say.
	for _, packages := range []string{".", "./..."} {
		run := exec.CommandContext(ctx, "go", "test", "-short", "-failfast", "-vet=off", "-timeout=4m", "-overlay", files, packages)
		run.Dir, run.Stdout, run.Stderr = filepath.Dir(change.File), &out, &out
		if err = run.Run(); err != nil {
			break
		}
		if filepath.Dir(b.file) == "." {
			break // around that is all
		}
	}
	if err == nil {
		return "", nil
	}
	switch name := failure.FindSubmatch(out.Bytes()); {
	case name != nil:
		return fmt.Sprintf("%s %s", filepath.Dir(b.file), name[1]), nil
	case bytes.Contains(out.Bytes(), []byte("[build failed]")):
		return "", fmt.Errorf("%s: %s", b.what, out.Bytes())
	}
	return filepath.Dir(b.file) + ", an example", nil
}
