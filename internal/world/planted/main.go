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
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/apportion/apportion/internal/world"
)

func main() {
	seeds := flag.Uint64("seeds", 30, "how many seeds are played for each")
	first := flag.Int("first", 0, "the first bug")
	last := flag.Int("last", len(bugs)-1, "the last one")
	flag.Parse()
	missed := 0
	for i := *first; i <= min(*last, len(bugs)-1); i++ {
		by, err := bugs[i].find(context.Background(), *seeds)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if by == "" {
			by, missed = "nothing", missed+1
		}
		fmt.Printf("| %d | %s | %s | %s |\n", i, bugs[i].what, bugs[i].file, by)
	}
	if missed > 0 {
		os.Exit(1)
	}
}

// find returns what finds the bug; empty: nothing does.
func (b *bug) find(ctx context.Context, seeds uint64) (string, error) {
	file, err := filepath.Abs(filepath.Join("../../checkpoint", b.file))
	if err != nil {
		return "", err
	}
	change := world.Change{File: file, From: b.from, To: b.to}
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
	return b.test(ctx, change)
}

var failure = regexp.MustCompile(`--- FAIL: (\w+)`)

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
	run := exec.CommandContext(ctx, "go", "test", "-short", "-failfast", "-overlay", files, ".")
	run.Dir, run.Stdout, run.Stderr = filepath.Dir(change.File), &out, &out
	if run.Run() == nil {
		return "", nil
	}
	if name := failure.FindSubmatch(out.Bytes()); name != nil {
		return fmt.Sprintf("%s %s", filepath.Dir(b.file), name[1]), nil
	}
	return "", fmt.Errorf("%s: %s", b.what, out.Bytes())
}
