// This file tests the decisions of the runner that need no process: which ranks are here, how a run is judged,
// when files count as changed, and what is read of a log in pieces.

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

// Ranks are the containers on this node; with Single there is one process, where rank 0 is.
func TestRanks(t *testing.T) {
	run := &runner.Run{Containers: []string{"a", "b", "a", "c"}}
	for _, c := range []struct {
		node   string
		single bool
		want   []int
	}{
		{"", false, []int{0, 1, 2, 3}}, {"a", false, []int{0, 2}}, {"c", false, []int{3}}, {"d", false, nil},
		{"", true, []int{0}}, {"a", true, []int{0}}, {"b", true, nil}, {"d", true, nil},
	} {
		a := &Runner{options: Options{Node: c.node, Single: c.single}}
		must.Same(t, a.ranks(run), c.want, "node", c.node, "single", c.single)
	}
}

// Each fault of a run is told with its field, all at once.
func TestCheckRun(t *testing.T) {
	good := runner.Run{Job: "job", Attempt: 1, Containers: []string{"a"}, Dir: "/d"}
	must.Do(t, checkRun(&good))
	for field, change := range map[string]func(r *runner.Run){
		"Attempt":       func(r *runner.Run) { r.Attempt = 0 },
		"Containers":    func(r *runner.Run) { r.Containers = nil },
		"Containers[0]": func(r *runner.Run) { r.Containers = []string{"a,b"} },
		"Containers[1]": func(r *runner.Run) { r.Containers = []string{"a", ""} },
		"Containers[2]": func(r *runner.Run) { r.Containers = []string{"a", "b", "c\n"} },
		"Dir":           func(r *runner.Run) { r.Dir = "d" },
		"Restore":       func(r *runner.Run) { r.Restore = "/r\x00" },
	} {
		bad := good
		change(&bad)
		var fault *apportion.FieldError
		if err := checkRun(&bad); !errors.As(err, &fault) || fault.Field != field || fault.Item.ID != "job" {
			t.Errorf("%s: %v", field, err)
		}
	}
	all := runner.Run{Job: "job", Attempt: -1, Dir: "d", Restore: "r"}
	for _, field := range []string{"Attempt", "Containers", "Dir", "Restore"} {
		if err := checkRun(&all); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s is not told beside the others: %v", field, err)
		}
	}
	must.Err(t, checkRun(&runner.Run{Job: "a\nb"}), store.ErrName, "a job with a newline")
}

// A run is done when every process ended well, failed by the first rank that did not, and both are told from
// one that is alive.
func TestJudge(t *testing.T) {
	bad, worse := errors.New("exit status 1"), errors.New("signal: killed")
	for name, c := range map[string]struct {
		ends    []error
		done    bool // the job has said so
		stopped bool
		want    runner.Progress
	}{
		"nobody":                {nil, false, false, runner.Progress{}},
		"all ended":             {[]error{nil, nil}, false, false, runner.Progress{Done: true}},
		"one is alive":          {[]error{nil, errAlive}, false, false, runner.Progress{Running: true}},
		"all are alive":         {[]error{errAlive, errAlive}, true, false, runner.Progress{Running: true}},
		"one failed":            {[]error{nil, bad}, false, false, runner.Progress{Failed: "rank 7: exit status 1"}},
		"the first of two":      {[]error{bad, worse}, false, false, runner.Progress{Failed: "rank 5: exit status 1"}},
		"beside one alive":      {[]error{errAlive, worse}, false, false, runner.Progress{Running: true, Failed: "rank 7: signal: killed"}},
		"unknown, not said":     {[]error{nil, errUnknown}, false, false, runner.Progress{Failed: "rank 7: " + errUnknown.Error()}},
		"unknown, said":         {[]error{errUnknown, errUnknown}, true, false, runner.Progress{Done: true}},
		"failed, though said":   {[]error{bad, nil}, true, false, runner.Progress{Failed: "rank 5: exit status 1"}},
		"stopped":               {[]error{worse, worse}, false, true, runner.Progress{Failed: "stopped"}},
		"stopped when done":     {[]error{nil, nil}, false, true, runner.Progress{Done: true}},
		"stopped before an end": {[]error{errAlive, nil}, false, true, runner.Progress{Running: true, Failed: "stopped"}},
	} {
		folder := runFolder(t.TempDir())
		if c.stopped {
			must.Do(t, os.WriteFile(folder.stopped(), []byte("1\n"), 0o600))
		}
		var got runner.Progress
		err := new(Runner).judge(&got, folder, []int{5, 7}[:len(c.ends)], judged{c.ends, c.done})
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

// The highest attempt survives in its folder, only rises, and everything below is fenced.
func TestFence(t *testing.T) {
	j := jobFolder(t.TempDir())
	highest := int64(0)
	rng := rand.New(rand.NewPCG(14, 5))
	for range 60 {
		attempt := 1 + rng.Int64N(20)
		err := j.raise(attempt)
		if errors.Is(err, checkpoint.ErrFenced) != (attempt < highest) || err != nil && attempt >= highest {
			t.Fatalf("raising to %d above %d: %v", attempt, highest, err)
		}
		highest = max(highest, attempt)
		must.Equal(t, must.Have(j.highest())(t), highest, "the highest")
		for _, n := range []int64{highest - 1, highest, highest + 1} {
			if err := j.fence(n); errors.Is(err, checkpoint.ErrFenced) != (n < highest) {
				t.Fatalf("fence of %d at %d: %v", n, highest, err)
			}
		}
	}
	// What is called otherwise is nobody's attempt.
	for _, other := range []string{"run-", "run-99x", "run--5", "99", "ran-99"} {
		must.Do(t, os.Mkdir(filepath.Join(string(j), other), 0o700))
	}
	must.Equal(t, must.Have(j.highest())(t), highest, "beside other folders the highest")
	// A folder that cannot be read fences everything: taken for none it would let an old attempt pass.
	must.Do(t, os.RemoveAll(string(j)))
	must.Do(t, os.WriteFile(string(j), nil, 0o600))
	for _, err := range []error{j.fence(1 << 40), j.raise(1 << 40)} {
		if err == nil || errors.Is(err, checkpoint.ErrFenced) {
			t.Errorf("the highest attempt cannot be read, and that is no error: %v", err)
		}
	}
}

// A checkpoint is given away where the job says so in its acknowledgement, or the options say it of every job; one that only
// lies there is not.
func TestGiven(t *testing.T) {
	for _, c := range []struct {
		ack     string
		options bool
		want    bool
	}{
		{`{"request":1,"files":["weights"],"given":true}`, false, true},
		{`{"request":1,"files":["weights"],"given":false}`, false, false},
		{`{"request":1,"files":["weights"]}`, true, true},
		{`{"request":1,"files":["weights"]}`, false, false},
	} {
		s := &saving{Runner: &Runner{options: Options{Given: c.options}}, run: &runner.Run{Dir: t.TempDir()}, folder: runFolder(t.TempDir()), number: 1}
		must.Do(t, errors.Join(os.Mkdir(s.folder.own(), 0o700), os.WriteFile(filepath.Join(s.run.Dir, "weights"), []byte("w"), 0o600),
			os.WriteFile(s.folder.acknowledgement(), []byte(c.ack), 0o600)))
		saved, err := s.look(true)
		if want := (runner.Saved{Dir: s.run.Dir, Files: []string{"weights"}, Step: -1, Given: c.want}); err != nil || !reflect.DeepEqual(saved, want) {
			t.Errorf("%s, option %t: %+v, %v", c.ack, c.options, saved, err)
		}
	}
}

// Files count as changed when one is another file, has another length or another time, or has come or gone.
func TestSame(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	when := time.Unix(1_000_000, 0)
	touch := func(name string, at time.Time) {
		t.Helper()
		must.Do(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	put("a", "text")
	put("b", "text")
	touch("a", when)
	names := []string{"a", "b", "missing"}
	before := stat(dir, names)
	if !same(before, stat(dir, names)) || before[2] != nil || !same(list(dir).pick(names), before) {
		t.Fatalf("nothing changed: %v", before)
	}
	for what, change := range map[string]func(){
		"a byte more":  func() { put("a", "text!"); touch("a", when) },
		"another time": func() { put("a", "text"); touch("a", when.Add(-time.Nanosecond)) },
		"another file": func() {
			put("c", "text")
			touch("c", when)
			must.Do(t, os.Rename(filepath.Join(dir, "c"), filepath.Join(dir, "a")))
		},
		"gone": func() { must.Do(t, os.Remove(filepath.Join(dir, "a"))) },
		"come": func() { put("a", "text"); touch("a", when); put("missing", "") },
	} {
		if change(); same(before, stat(dir, names)) {
			t.Errorf("%s: taken for the same", what)
		}
		// Back to the beginning for the next change, whatever the order of the map.
		must.Do(t, os.RemoveAll(filepath.Join(dir, "missing")))
		put("a", "text")
		touch("a", when)
		before = stat(dir, names)
	}
}

// Readings found in pieces are those of the whole text, line by line, wherever it was cut.
func TestReadingsAgainstLines(t *testing.T) {
	lines := []string{
		`{"step": 1}`, `{"step": 2, "value": NaN}`, `no reading`, ``, `{"step": -1}`, `{"step": 3, "done": true}`, `{"step"`,
		`{"step": 4, "more": "` + strings.Repeat("x", 3*maxLine) + `"}`, `  {"step": 5}  `, `{"step": 6}` + "\r",
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 6))
		var text []byte
		var want Reading
		any := false
		for range 1 + rng.IntN(8) {
			line := lines[rng.IntN(len(lines))]
			text = append(append(text, line...), '\n')
			if r, ok := ParseLine([]byte(line)); ok {
				want, any = r, true
			}
		}
		text = append(text, `{"step": 99`...) // a line that has not ended says nothing yet
		var r Readings
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN(40)*rng.IntN(200))
			if took, err := r.Write(rest[:n]); took != n || err != nil {
				t.Fatalf("Write took %d of %d, %v", took, n, err)
			}
			if len(r.partial) > maxLine {
				t.Fatalf("%d bytes of a line are kept", len(r.partial))
			}
			rest = rest[n:]
		}
		if r.any != any || r.last.Step != want.Step || r.last.Done != want.Done || any && math.IsNaN(r.last.Value) != math.IsNaN(want.Value) {
			t.Fatalf("seed %d: %+v, %v; want %+v, %v", seed, r.last, r.any, want, any)
		}
	}
}

// What a job may have put in the place of a record is refused without waiting for it or believing it.
func TestGet(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "record")
	must.Do(t, os.WriteFile(filepath.Join(dir, "other"), []byte("7"), 0o600)) // a good record, elsewhere
	var number int64
	for what, make := range map[string]func() error{
		"a directory": func() error { return os.Mkdir(name, 0o700) },
		"a link":      func() error { return os.Symlink(filepath.Join(dir, "other"), name) },
		"no JSON":     func() error { return os.WriteFile(name, []byte("12 monkeys"), 0o600) },
		"a long one":  func() error { return os.WriteFile(name, append(bytes.Repeat([]byte(" "), maxRecord), '7'), 0o600) },
		"nothing":     func() error { return nil },
	} {
		must.Do(t, make())
		if err := get(name, &number); err == nil || errors.Is(err, os.ErrNotExist) != (what == "nothing") {
			t.Errorf("%s: %v", what, err)
		}
		must.Do(t, os.RemoveAll(name))
	}
	for _, want := range []int64{0, 7, math.MaxInt64} {
		must.Do(t, put(name, want, func(name string, data []byte) error { return os.WriteFile(name, data, 0o600) }))
		if err := get(name, &number); err != nil || number != want {
			t.Errorf("%d was read as %d, %v", want, number, err)
		}
	}
}

// Folders of runs are found by their attempt; what else lies there is not the runner's.
func TestAttempts(t *testing.T) {
	j := jobFolder(t.TempDir())
	for _, name := range []string{"run-1", "run-20", "run-21", "run-x", "run-", "ran-3", "lock"} {
		must.Do(t, os.Mkdir(filepath.Join(string(j), name), 0o700))
	}
	must.Do(t, os.WriteFile(j.run(1).held(), nil, 0o600))
	must.Do(t, os.WriteFile(j.run(20).held(), nil, 0o600))
	must.Do(t, os.WriteFile(j.run(20).over(), []byte("true\n"), 0o600))
	got, err := j.attempts()
	if slices.Sort(got); err != nil || fmt.Sprint(got) != "[1 20 21]" {
		t.Errorf("attempts %v, %v", got, err)
	}
	if open, err := j.open(); err != nil || len(open) != 1 || open[0] != j.run(1) {
		t.Errorf("open %v, %v", open, err)
	}
}

// pause ends with its context, and not before the interval otherwise.
func TestPause(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	must.Do(t, (&Runner{options: Options{Poll: time.Millisecond}}).paced(nil).pause(ctx))
	cancel()
	must.Err(t, (&Runner{options: Options{Poll: time.Hour}}).paced(nil).pause(ctx), context.Canceled, "after the context")
}

// Pauses grow up to Poll, and stay there: nothing is looked at more often for long.
func TestPausesGrow(t *testing.T) {
	pace := (&Runner{options: Options{Poll: 1600 * time.Microsecond}}).paced(nil)
	for _, want := range []time.Duration{100, 200, 400, 800, 1600, 1600, 1600} {
		began, pause := time.Now(), pace.next
		must.Do(t, pace.pause(t.Context()))
		if took := time.Since(began); pause != want*time.Microsecond || took < pause {
			t.Errorf("a pause of %v took %v, want %v", pause, took, want*time.Microsecond)
		}
	}
}

// What a setting should not be is told as it was given.
func TestNegativeSettingsAreTold(t *testing.T) {
	bad := Options{Grace: -12, LogBytes: -345, Poll: -6789, KeepRuns: -10}
	_, err := New(Commands{Start: []string{"true"}, Work: t.TempDir()}, &bad)
	var faults apportion.Faults
	if !errors.As(err, &faults) || len(faults) != 4 {
		t.Fatalf("%v, want four faults", err)
	}
	want := map[string]string{"Grace": "-12", "LogBytes": "-345", "Poll": "-6789", "KeepRuns": "-10"}
	for _, f := range faults {
		if f.Detail != want[f.Field] || !errors.Is(f, apportion.ErrNegative) {
			t.Errorf("%s: %q, %v; want %q", f.Field, f.Detail, f.Err, want[f.Field])
		}
	}
}

// Whoever has stopped waiting for an answer is not searched for among all processes.
func TestRunningEndsWithItsContext(t *testing.T) {
	j := jobFolder(t.TempDir())
	must.Do(t, os.Mkdir(string(j.run(1)), 0o700))
	ctx, cancel := context.WithCancel(t.Context())
	a := &Runner{}
	if alive, err := a.running(ctx, j, j.run(1), []int{0}); alive || err != nil {
		t.Errorf("nothing was started: %v, %v", alive, err)
	}
	cancel()
	must.Fail(a.running(ctx, j, j.run(1), []int{0}))(t, context.Canceled, "after the context")
}
