//go:build linux

// This file runs the command as a user does, with short jobs.

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/nodeagent/node"
	"github.com/apportion/apportion/internal/must"
)

// TestMain lets the test program be a training process: the agent starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "train" {
		if err := run(context.Background(), os.Stdout, os.Stderr, os.Args[1:]); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// The whole thing, with whatever the machine offers, by the thesis' test and by ours.
func TestRun(t *testing.T) {
	for _, more := range [][]string{nil, {"-robust"}} {
		var text bytes.Buffer
		must.Do(t, run(t.Context(), &text, io.Discard, append([]string{"-runs", "1", "-scale", "0.02", "-interval", "20ms", "-timeout", "5m"}, more...)), text.String())
		for _, want := range []string{"limits by ", "long     limit 1.00", "short", "makespan"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%q: no %q in\n%s", more, want, text.String())
			}
		}
	}
}

// Flags choose the test: ours has readings between two checks.
func TestLimitedChoosesTheTest(t *testing.T) {
	for _, robust := range []bool{false, true} {
		a := &node.Agent{}
		o := &options{interval: time.Second, alpha: 0.05, robust: robust}
		if _, err := limited(t.Context(), o, a, nil); err != nil || a.FlowCon == nil || (a.Every > 0) != robust {
			t.Errorf("robust %v: read every %v, %v", robust, a.Every, err)
		}
	}
}

func TestRunWithSignals(t *testing.T) {
	var text bytes.Buffer
	must.Do(t, run(t.Context(), &text, io.Discard, []string{"-writer", "signals", "-runs", "1", "-scale", "0.02", "-interval", "20ms", "-timeout", "5m"}))
	if !strings.Contains(text.String(), "SIGSTOP") {
		t.Errorf("does not say what limits:\n%s", text.String())
	}
}

// The time limit ends everything.
func TestTimeout(t *testing.T) {
	began := time.Now()
	err := run(t.Context(), io.Discard, io.Discard, []string{"-writer", "signals", "-scale", "50", "-timeout", "200ms"})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "-timeout 200ms") {
		t.Errorf("error %v, want %v and the flag", err, context.DeadlineExceeded)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range []string{"-scale 0", "-scale NaN", "-runs 0", "-timeout -1s", "extra", "-nothing"} {
		must.Err(t, run(t.Context(), io.Discard, io.Discard, strings.Fields(args)), errUsage, args, "error")
	}
	for _, args := range []string{"-writer nothing", "-interval 0s -runs 1 -scale 0.01", "train", "train 1 2 x 4", "train 0 1 0.1 1"} {
		if err := run(t.Context(), io.Discard, io.Discard, strings.Fields(args)); err == nil || errors.Is(err, errUsage) {
			t.Errorf("%s: error %v, want one", args, err)
		}
	}
	must.Err(t, run(t.Context(), io.Discard, io.Discard, []string{"-h"}), flag.ErrHelp, "help")
}

func TestReport(t *testing.T) {
	ms := func(values ...int) (times []time.Duration) {
		for _, v := range values {
			times = append(times, time.Duration(v)*time.Millisecond)
		}
		return times
	}
	var text bytes.Buffer
	without := medians([][]time.Duration{ms(9000, 3000, 2000), ms(8000, 4000, 2000), ms(8500, 3500, 1000)})
	must.Do(t, report(&text, schedule("", 1), without, ms(8500, 3500, 1000)))
	want := `job       starts  without limits  with    change
long      0.0 s   8.50 s          8.50 s  +0.0 %
middle    1.5 s   3.50 s          3.50 s  +0.0 %
short     3.0 s   2.00 s          1.00 s  -50.0 %
makespan          8.50 s          8.50 s  +0.0 %
`
	must.Equal(t, text.String(), want)
}
