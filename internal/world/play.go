// This file implements the host: it compiles the cluster once and plays seeds.

package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/apportion/apportion/internal/world/summary"
)

// epoch is when every run begins.
const epoch = 1_700_000_000 * int64(time.Second)

// timeOfDay is what a run is told at a time since its beginning, by turns an hour behind, right and an hour ahead: no part of the library
// goes by it.
func timeOfDay(now int64) int64 {
	const spell = int64(7 * time.Minute)
	return epoch + now + (now/spell%3-1)*int64(time.Hour)
}

// World is a compiled cluster. It is safe for concurrent use.
type World struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// New builds and compiles the cluster; Close it.
func New(ctx context.Context) (*World, error) {
	dir, err := os.MkdirTemp("", "world")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "cluster.wasm")
	build := exec.CommandContext(ctx, "go", "build", "-o", file, "github.com/apportion/apportion/internal/world/cluster")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("world: %w\n%s", err, out)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	w := &World{runtime: wazero.NewRuntime(ctx)}
	wasi_snapshot_preview1.MustInstantiate(ctx, w.runtime)
	if w.module, err = w.runtime.CompileModule(ctx, code); err != nil {
		return nil, errors.Join(err, w.Close(ctx))
	}
	return w, nil
}

// Close frees what New has made.
func (w *World) Close(ctx context.Context) error { return w.runtime.Close(ctx) }

// Play plays a seed, with flags of the program cluster, and returns what came of it. Lines of -trace go to out. A run that has found
// something is no error; one that did not come to its end is.
func (w *World) Play(ctx context.Context, seed uint64, out io.Writer, flags ...string) (summary.Summary, error) {
	disk, err := os.MkdirTemp("", "world")
	if err != nil {
		return summary.Summary{}, err
	}
	defer os.RemoveAll(disk)
	// The runtime refuses a clock at zero.
	now := int64(1)
	var last lastLine
	var errs bytes.Buffer
	config := wazero.NewModuleConfig().WithName("").
		WithArgs(append([]string{"cluster", "-seed", strconv.FormatUint(seed, 10)}, flags...)...).
		WithStdout(io.MultiWriter(out, &last)).WithStderr(&errs).
		WithFSConfig(wazero.NewFSConfig().WithDirMount(disk, "/")).WithEnv("TMPDIR", "/").WithEnv("GOGC", "800").
		WithRandSource(rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})).
		WithWalltime(func() (int64, int32) {
			at := timeOfDay(now)
			return at / int64(time.Second), int32(at % int64(time.Second))
		}, sys.ClockResolution(1)).
		WithNanotime(func() int64 { return now }, sys.ClockResolution(1)).
		WithNanosleep(func(ns int64) { now += max(ns, 1) })
	instance, err := w.runtime.InstantiateModule(ctx, w.module, config)
	if instance != nil {
		defer instance.Close(ctx)
	}
	// The program says by its status whether it has found something; the summary says so as well.
	var status *sys.ExitError
	if errors.As(err, &status) && status.ExitCode() <= 1 {
		err = nil
	}
	var s summary.Summary
	if err == nil {
		err = json.Unmarshal(last.bytes, &s)
	}
	if err != nil {
		return s, fmt.Errorf("world: seed %d: %w\n%s", seed, err, errs.Bytes())
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
