// This file checks what is read of logs, and that both writers write it.

package workerlog

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/internal/must"
)

const whole = `{"worker":"step","job":"lr","attempt":2,"rank":1,"server":"north","life":"x","step":41,"at":17}`

func TestRead(t *testing.T) {
	want := Line{"step", "lr", 2, 1, "north", "x", 41, 17}
	for _, test := range []struct {
		name, text string
		lines      int
		fault      string
	}{
		{"empty", "", 0, ""},
		{"one", whole + "\n", 1, ""},
		{"without a line end", whole, 1, ""},
		{"among others", "loading\n{\"step\": 3}\n" + whole + "\n{\"loss\": NaN}\n" + whole + "\n", 2, ""},
		{"torn at its end", whole + "\n" + whole[:50], 1, ""},
		{"torn before others", whole[:50] + "\n" + whole + "\n", 0, "line 1"},
		{"of another kind", strings.Replace(whole, `"step",`, `"stop",`, 1) + "\n" + whole, 0, `"stop" is no kind`},
		{"without a job", strings.Replace(whole, "lr", "", 1) + "\n" + whole, 0, "is missing"},
		{"without a life", strings.Replace(whole, `"x"`, `""`, 1) + "\n" + whole, 0, "is missing"},
		{"without a time", strings.Replace(whole, ":17", ":0", 1) + "\n" + whole, 0, "is missing"},
		{"without an attempt", strings.Replace(whole, ":2,", ":0,", 1) + "\n" + whole, 0, "is missing"},
		{"too long", strings.Repeat("x", maxLine+1), 0, "too long"},
	} {
		lines, err := read(strings.NewReader(test.text))
		if (err != nil) != (test.fault != "") || err != nil && !strings.Contains(err.Error(), test.fault) || len(lines) != test.lines {
			t.Errorf("%s: %d lines, %v", test.name, len(lines), err)
		}
		for _, l := range lines {
			must.Equal(t, l, want, test.name)
		}
	}
}

func TestReadAll(t *testing.T) {
	folder := fstest.MapFS{"a/1/x" + Ending: {Data: []byte(whole)}, "b/y" + Ending: {Data: []byte(whole + "\n" + whole)}, "b/z.log": {Data: []byte(whole)}}
	must.Equal(t, len(must.Have(ReadAll(folder))(t)), 3, "lines")
	folder["b/bad"+Ending] = &fstest.MapFile{Data: []byte(whole[:50] + "\n" + whole)}
	if _, err := ReadAll(folder); err == nil || !strings.Contains(err.Error(), "b/bad") {
		t.Errorf("a log with a hole: %v", err)
	}
}

func environment(t *testing.T, attempt, rank string) {
	t.Helper()
	t.Setenv(command.EnvJob, "lr")
	t.Setenv(command.EnvServer, "north")
	t.Setenv(command.EnvAttempt, attempt)
	t.Setenv(command.EnvRank, rank)
}

// written reads what a writer has left, and checks all but life and time.
func written(t *testing.T, dir string, attempt int64, rank int) {
	t.Helper()
	lines := must.Have(ReadAll(os.DirFS(dir)))(t)
	want := []Line{{Worker: Start, Step: 0}, {Worker: Step, Step: 1}, {Worker: Saved, Step: 1}, {Worker: End, Step: 1}}
	for i := range want {
		want[i].Job, want[i].Attempt, want[i].Rank, want[i].Server = "lr", attempt, rank, "north"
	}
	got := append([]Line(nil), lines...)
	for i := range got {
		if age := time.Since(time.Unix(0, got[i].At)); age < 0 || age > time.Minute || !strings.HasPrefix(got[i].Life, "north-"+strconv.Itoa(rank)+"-") {
			t.Errorf("life %q, %v ago", got[i].Life, age)
		}
		got[i].Life, got[i].At = "", 0
	}
	must.Equal(t, cmp.Diff(want, got), "")
	must.Do(t, Check(lines, nil))
}

func TestWriter(t *testing.T) {
	environment(t, "3", "2")
	dir := filepath.Join(t.TempDir(), "new")
	w := must.Have(Create(dir, 0))(t)
	for _, err := range []error{w.Step(1), w.Saved(1), w.End(1)} {
		must.Do(t, err)
	}
	written(t, dir, 3, 2)
	must.Err(t, w.Step(2), must.ErrAny, "a log that was closed takes a line")
	must.Have(Create(dir, 0))(t, "a second process")
}

// The Python beside the package writes the same.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT TESTED, there is no python3")
	}
	environment(t, "4", "1")
	dir := filepath.Join(t.TempDir(), "new")
	cmd := exec.Command(python, "-B", "-c", `
import sys, workerlog
w = workerlog.WorkerLog(sys.argv[1], 0)
w.step(1); w.saved(1); w.end(1)`, dir)
	cmd.Env = append(os.Environ(), "PYTHONPATH=.")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must.Do(t, cmd.Run(), &errs)
	written(t, dir, 4, 1)
}
