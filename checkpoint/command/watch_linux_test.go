// This file tests what a watch tells, and that whoever waits for files neither sleeps over them nor is kept awake by others.

package command

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// A file that comes into a folder is told, and one that is closed after it was written; what is only begun is not.
func TestWatch(t *testing.T) {
	const long, short = time.Minute, time.Millisecond
	dir, other := t.TempDir(), t.TempDir()
	w := watching(dir, filepath.Join(dir, "missing"), other)
	defer w.close()
	quiet := func(what string) {
		t.Helper()
		if w.wait(t.Context(), short) {
			t.Errorf("%s was told", what)
		}
	}
	tells := func(what string) {
		t.Helper()
		if began := time.Now(); !w.wait(t.Context(), long) || time.Since(began) >= long {
			t.Errorf("%s was not told", what)
		}
	}
	quiet("nothing")
	file := must.Have(os.Create(filepath.Join(dir, "a")))(t)
	must.Have(file.WriteString("half"))(t)
	quiet("a file that is being written")
	must.Do(t, file.Close())
	tells("a file that was written")
	quiet("what was told before")
	outside := filepath.Join(t.TempDir(), "b")
	must.Do(t, os.WriteFile(outside, nil, 0o600))
	quiet("a file elsewhere")
	must.Do(t, os.Rename(outside, filepath.Join(other, "b")))
	tells("a file that was moved into the other folder")
	// A file that comes while somebody waits ends the wait.
	go func() { _ = os.WriteFile(filepath.Join(other, "c"), nil, 0o600) }()
	tells("a file of a moment later")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(short, cancel)
	for range 2 {
		if w.wait(ctx, long) {
			t.Error("the end of a context was told as a file")
		}
	}
	tellsNothing := (*watch)(nil)
	tellsNothing.close()
}

// A save is answered in the folder of acknowledgements, and in that of checkpoints where one of these alone is an answer.
func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	folder := runFolder(t.TempDir())
	s := &saving{Runner: &Runner{}, run: &runner.Run{Dir: dir}, folder: folder}
	for _, c := range []struct {
		format, acknowledge bool
		want                []string
	}{{false, false, []string{folder.own()}}, {true, true, []string{folder.own()}}, {true, false, []string{folder.own(), dir}}} {
		s.options.Format, s.options.Acknowledge = nil, c.acknowledge
		if c.format {
			s.options.Format = format.PyTorch{}
		}
		if got := s.answers(); len(got) != len(c.want) || got[len(got)-1] != c.want[len(c.want)-1] || got[0] != c.want[0] {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A pause ends with the first word of its watch, and the one after it lasts as long as a first one at least: floods are looked at rarely.
func TestPauseIsTold(t *testing.T) {
	dir := t.TempDir()
	write := func() { must.Do(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o600)) }
	w := watching(dir)
	defer w.close()
	a := &Runner{options: Options{Poll: time.Hour}}
	pace := a.paced(w)
	if pace.least > time.Millisecond {
		t.Errorf("whoever looks rarely sleeps %v over the second of two files", pace.least)
	}
	pace.least = 20 * time.Millisecond
	write()
	must.Do(t, pace.pause(t.Context())) // which else lasts minutes
	for range 3 {
		write()
		began := time.Now()
		must.Do(t, pace.pause(t.Context()))
		if took := time.Since(began); took < pace.least {
			t.Errorf("a pause of %v after one that was told of", took)
		}
	}
	// Where nothing is told the pauses grow as ever.
	quiet := (&Runner{options: Options{Poll: 160 * time.Microsecond}}).paced(watching(t.TempDir()))
	defer quiet.watch.close()
	for range 6 {
		must.Do(t, quiet.pause(t.Context()))
	}
	if quiet.next != 160*time.Microsecond || quiet.told {
		t.Errorf("%+v", quiet)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	for _, told := range []bool{false, true} {
		late := a.paced(w)
		late.told, late.least = told, time.Hour
		must.Err(t, late.pause(ctx), context.Canceled, "told", told)
	}
}
