// This file implements the host: it compiles the cluster once and plays seeds.

package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion/internal/world/summary"
)

// World is a compiled cluster. It is safe for concurrent use.
type World struct{ dir, program string }

// New builds the cluster with the runtime of runs, and with bugs that are planted; Close it. The first time it builds Go's library as well.
func New(ctx context.Context, planted ...Change) (*World, error) {
	dir, err := os.MkdirTemp(scratch(), "world")
	if err != nil {
		return nil, err
	}
	w := &World{dir, filepath.Join(dir, "cluster")}
	files, err := overlay(dir, planted)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-overlay", files, "-ldflags=-checklinkname=0 -s", "-o", w.program,
		"github.com/apportion/apportion/internal/world/cluster")
	// Other settings than these would be another program: its memory lies elsewhere.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("world: %w\n%s", err, out), w.Close())
	}
	return w, nil
}

// scratch is where files of runs are kept: in memory, where there is such a place.
func scratch() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// Close removes what New has made.
func (w *World) Close() error { return os.RemoveAll(w.dir) }

// Play plays a seed, with flags of the program cluster, and returns what came of it. Lines of -trace go to out. A run that has found
// something is no error; one that did not come to its end is.
func (w *World) Play(ctx context.Context, seed uint64, out io.Writer, flags ...string) (summary.Summary, error) {
	disk, err := os.MkdirTemp(w.dir, "disk")
	if err != nil {
		return summary.Summary{}, err
	}
	defer os.RemoveAll(disk)
	var last lastLine
	var errs bytes.Buffer
	text := strconv.FormatUint(seed, 10)
	run := exec.CommandContext(ctx, w.program, append([]string{"-seed", text}, flags...)...)
	// The environment is the same everywhere, and one processor is what makes an order of goroutines.
	run.Dir, run.Env = disk, []string{"WORLD_SEED=" + text, "GOMAXPROCS=1", "TMPDIR=."}
	run.Stdout, run.Stderr = io.MultiWriter(out, &last), &errs
	err = run.Run()
	// The program says by its status whether it has found something; the summary says so as well.
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() == 1 {
		err = nil
	}
	var s summary.Summary
	if err == nil {
		err = json.Unmarshal(last.bytes, &s)
	}
	if err != nil {
		return s, fmt.Errorf("world: seed %d: %w\n%.4000s", seed, err, errs.Bytes())
	}
	return s, nil
}

// lastLine keeps the last line that was written.
type lastLine struct{ bytes []byte }

func (l *lastLine) Write(p []byte) (int, error) {
	l.bytes = append(l.bytes, p...)
	if end := bytes.LastIndexByte(bytes.TrimRight(l.bytes, "\n"), '\n'); end >= 0 {
		l.bytes = append(l.bytes[:0], l.bytes[end+1:]...)
	}
	return len(p), nil
}

// Shrink returns the numbers of faults, ascending, that are enough for a run of a seed to find something: none of them alone can be
// left out. It plays O(faults log faults) runs, and calls progress after each with how many faults are left.
func (w *World) Shrink(ctx context.Context, seed uint64, progress func(left int), flags ...string) ([]int, error) {
	s, err := w.Play(ctx, seed, io.Discard, flags...)
	if err != nil {
		return nil, err
	}
	var needed []int
	for _, n := range s.Faults {
		for range n {
			needed = append(needed, len(needed)+1)
		}
	}
	finds := func(only []int) bool {
		// Number 0 is no fault, and stands for none of them.
		s, err := w.Play(ctx, seed, io.Discard, append(flags, "-only", "0,"+join(only))...)
		progress(len(only))
		return err == nil && len(s.Violations) > 0
	}
	for size := (len(needed) + 1) / 2; size > 0 && ctx.Err() == nil; size /= 2 {
		for at := 0; at < len(needed); {
			without := slices.Delete(slices.Clone(needed), at, min(at+size, len(needed)))
			if finds(without) {
				needed = without
			} else {
				at += size
			}
		}
	}
	return needed, ctx.Err()
}

func join(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}
