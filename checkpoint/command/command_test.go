//go:build linux

// This file tests the runner with real processes.

package command_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

// long is far more than anything here takes, on a machine that is busy with other things.
const long = 2 * time.Minute

func program(t *testing.T) string {
	t.Helper()
	return must.Have(os.Executable())(t)
}

// site is a place for jobs: a folder for the runner and one for checkpoints.
type site struct {
	*command.Runner
	work, dir string
}

func newSite(t *testing.T, options *command.Options, job string, args ...string) *site {
	t.Helper()
	s := &site{work: t.TempDir(), dir: t.TempDir()}
	s.runner(t, options, job, args...)
	t.Cleanup(func() { s.sweep(t) })
	return s
}

// runner makes a runner as a restarted agent does: knowing the folder only.
func (s *site) runner(t *testing.T, options *command.Options, job string, args ...string) {
	t.Helper()
	a := must.Have(command.New(command.Commands{Start: append([]string{program(t), "job:" + job}, args...), Work: s.work}, options))(t)
	t.Cleanup(func() { a.Close() })
	s.Runner = a
}

func (s *site) run(attempt int64) runner.Run {
	return runner.Run{Job: "job", Attempt: attempt, Containers: []string{"here"}, Dir: s.dir}
}

func (s *site) sweep(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	must.Do(t, s.Stop(ctx, s.run(1<<60)))
	if left := s.processes(t); len(left) > 0 {
		t.Errorf("alive after Stop: %v", left)
	}
}

// processes returns the processes whose environment names the runner's folder, by the attempt that they
// belong to. It is another way to find them than the runner's.
func (s *site) processes(t *testing.T) map[string][]int {
	t.Helper()
	folders := must.Have(filepath.Glob("/proc/[0-9]*"))(t)
	found := map[string][]int{}
	for _, folder := range folders {
		_, value, ok := bytes.Cut(environOf(folder), []byte(command.EnvRunDir+"="+s.work))
		if !ok || dead(folder) {
			continue
		}
		value, _, _ = bytes.Cut(value, []byte{0})
		pid := must.Have(strconv.Atoi(filepath.Base(folder)))(t)
		attempt := filepath.Base(string(value))
		found[attempt] = append(found[attempt], pid)
	}
	return found
}

// environOf returns the environment of a process at its start, nothing if it has ended. A process that has
// just been started is there for a moment before its arguments are, and then before its environment is.
func environOf(folder string) []byte {
	for {
		arguments, _ := os.ReadFile(folder + "/cmdline")
		text, _ := os.ReadFile(folder + "/environ")
		if _, err := os.Readlink(folder + "/exe"); len(text) > 0 || err != nil {
			return text
		}
		if len(arguments) > 0 {
			time.Sleep(time.Millisecond)
			text, _ = os.ReadFile(folder + "/environ")
			return text
		}
	}
}

// dead reports whether a process has ended, though nobody may have waited for it.
func dead(folder string) bool {
	text, err := os.ReadFile(folder + "/stat")
	at := bytes.LastIndexByte(text, ')')
	return err != nil || at < 0 || strings.ContainsRune("ZX", rune(text[at+2]))
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(long); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func (s *site) resume(t *testing.T, run runner.Run) {
	t.Helper()
	must.Do(t, s.Resume(t.Context(), run))
}

func (s *site) progress(t *testing.T, run runner.Run) runner.Progress {
	t.Helper()
	return must.Have(s.Progress(t.Context(), run))(t)
}

func (s *site) reaches(t *testing.T, run runner.Run, step int64) {
	t.Helper()
	eventually(t, "step "+strconv.FormatInt(step, 10), func() bool {
		p := s.progress(t, run)
		must.Equal(t, p.Failed, "")
		return p.Step >= step
	})
}

// TestResize is the whole life of a job: run, save, stop, resume elsewhere from what was saved, finish.
func TestResize(t *testing.T) {
	s := newSite(t, nil, "train", "100000")
	first := s.run(1)
	s.resume(t, first)
	s.reaches(t, first, 20)
	saved := must.Have(s.Save(t.Context(), first))(t)
	if saved.Dir != s.dir || !cmp.Equal(saved.Files, []string{"state"}) || saved.Step < 20 {
		t.Fatalf("saved %+v", saved)
	}
	again, err := s.Save(t.Context(), first)
	if err != nil || again.Step <= saved.Step {
		t.Fatalf("saved again %+v, %v", again, err)
	}
	if p := s.progress(t, first); !p.Running || p.Done || p.Failed != "" {
		t.Errorf("while it runs: %+v", p)
	}
	must.Do(t, s.Stop(t.Context(), first))
	if p := s.progress(t, first); p.Running || p.Done || p.Failed != "stopped" {
		t.Errorf("after Stop: %+v", p)
	}

	second := s.run(2)
	second.Restore, second.Dir = s.dir, t.TempDir()
	s.runner(t, nil, "train", strconv.FormatInt(again.Step+50, 10))
	s.resume(t, second)
	eventually(t, "done", func() bool { return s.progress(t, second).Done })
	if p := s.progress(t, second); p.Step != again.Step+50 || p.Running || p.Failed != "" {
		t.Errorf("at the end: %+v", p)
	}
	last, ok, err := s.Last(second, 0)
	if !ok || err != nil || !last.Done {
		t.Errorf("last reading %+v, %v, %v", last, ok, err)
	}
	log, err := os.ReadFile(s.Log(second, 0))
	if err != nil || !bytes.HasPrefix(log, []byte("{\"step\":"+strconv.FormatInt(again.Step+1, 10)+",")) {
		t.Errorf("the second run begins with %.40q, %v; saved were %d steps", log, err, again.Step)
	}
}

// TestEnvironment: what a process is told, and that it inherits nothing.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET", "token")
	s := newSite(t, &command.Options{Env: []string{"A=b", command.EnvRank + "=9"}, Node: "n2"}, "env", "two words", "$HOME", "*")
	run := runner.Run{Job: "a job's name", Attempt: 3, Containers: []string{"n1", "n2", "n2"}, Dir: s.dir, Restore: t.TempDir()}
	s.resume(t, run)
	eventually(t, "done", func() bool { return s.progress(t, run).Done })
	folder := filepath.Dir(s.Log(run, 0))
	for _, rank := range []string{"1", "2"} {
		text := must.Have(os.ReadFile(filepath.Join(s.dir, "env-"+rank)))(t)
		want := []string{
			"A=b", "APPORTION_JOB=a job's name", "APPORTION_ATTEMPT=3", "APPORTION_CONTAINERS=3", "APPORTION_SERVERS=n1,n2,n2",
			"APPORTION_SERVER=n2", "APPORTION_RANK=" + rank, "APPORTION_CHECKPOINT_DIR=" + s.dir,
			"APPORTION_SAVE_REQUEST=" + folder + "/save-request", "APPORTION_SAVE_ACK=" + folder + "/own/save-ack",
			"APPORTION_RUN_DIR=" + folder, "APPORTION_RESTORE_DIR=" + run.Restore,
		}
		got := map[string]bool{}
		for _, v := range strings.Split(string(text), "\n") {
			got[v] = true
		}
		for _, v := range want {
			if !got[v] {
				t.Errorf("rank %s misses %s", rank, v)
			}
			delete(got, v)
		}
		for v := range got {
			t.Errorf("rank %s has %s", rank, v)
		}
		args, err := os.ReadFile(filepath.Join(s.dir, "args-"+rank))
		if want := `["job:env" "two words" "$HOME" "*"] ` + s.dir; err != nil || string(args) != want {
			t.Errorf("arguments %s, %v, want %s", args, err, want)
		}
	}
	must.Fail(os.Stat(filepath.Join(s.dir, "env-0")))(t, fs.ErrNotExist, "a container of another node was started")
}

// TestProcesses: one for each container, one for the job, none where no container is.
func TestProcesses(t *testing.T) {
	for name, test := range map[string]struct {
		options command.Options
		want    int
	}{
		"each":            {command.Options{}, 3},
		"each of a node":  {command.Options{Node: "b"}, 2},
		"one":             {command.Options{Single: true}, 1},
		"one, here":       {command.Options{Single: true, Node: "a"}, 1},
		"one, elsewhere":  {command.Options{Single: true, Node: "b"}, 0},
		"on another node": {command.Options{Node: "c"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, &test.options, "sleep")
			run := s.run(1)
			run.Containers = []string{"a", "b", "b"}
			s.resume(t, run)
			s.resume(t, run) // nothing more
			must.Equal(t, len(s.processes(t)["run-1"]), test.want, "processes")
			p := s.progress(t, run)
			if p.Running != (test.want > 0) || p.Done || p.Failed != "" {
				t.Errorf("%+v", p)
			}
			if test.want > 0 {
				return
			}
			must.Fail(s.Save(t.Context(), run))(t, command.ErrNotStarted, "save of nothing")
		})
		if name == "each" && testing.Short() {
			break
		}
	}
}

// TestSaveBySignal: a file that is written over is a new checkpoint; the old one is not.
func TestSaveBySignal(t *testing.T) {
	s := newSite(t, &command.Options{Signal: syscall.SIGUSR1, Format: format.PyTorch{}}, "signal")
	must.Do(t, os.WriteFile(filepath.Join(s.dir, "model.pt"), archive("of before"), 0o600))
	run := s.run(1)
	s.resume(t, run)
	s.reaches(t, run, 1)
	for n := range 3 {
		saved, err := s.Save(t.Context(), run)
		if err != nil || !cmp.Equal(saved.Files, []string{"model.pt"}) {
			t.Fatalf("%+v, %v", saved, err)
		}
		text, err := os.ReadFile(filepath.Join(s.dir, "model.pt"))
		if err != nil || !bytes.Contains(text, []byte("state "+strconv.Itoa(n))) {
			t.Fatalf("save %d returned before the file was written: %v", n, err)
		}
	}
}

// meddling is a format in whose hands a file changes: as it is read for the second time, the job begins to
// write it over.
type meddling struct {
	format.PyTorch
	file  string
	reads int
}

func (m *meddling) Newest(fsys fs.FS) (format.Found, error) {
	found, err := m.PyTorch.Newest(fsys)
	if m.reads++; m.reads == 2 {
		if err := os.Truncate(m.file, 10); err != nil {
			return format.Found{}, err
		}
	}
	return found, err
}

// TestSaveWhileWritten: a file that changes after it was verified is not the checkpoint that was verified.
func TestSaveWhileWritten(t *testing.T) {
	for _, acknowledge := range []bool{false, true} {
		s := newSite(t, nil, "sleep")
		format := &meddling{file: filepath.Join(s.dir, "model.pt"), reads: map[bool]int{true: 1}[acknowledge]}
		s.runner(t, &command.Options{Format: format, Acknowledge: acknowledge}, "sleep")
		must.Do(t, os.WriteFile(format.file, archive("old"), 0o600))
		run := s.run(1)
		s.resume(t, run)
		must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(s.Log(run, 0)), "own", "save-ack"), []byte(`{"request":99}`), 0o600))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if saved, err := s.Save(ctx, run); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("acknowledged %v: saved %+v, %v", acknowledge, saved, err)
		}
	}
}

// TestSaveRefused: no answer, half a checkpoint, and an answer that names what is not there are no save, and
// the job goes on.
func TestSaveRefused(t *testing.T) {
	for name, test := range map[string]struct {
		job     string
		options command.Options
		reason  string
	}{
		"no answer":          {"deaf", command.Options{}, "request 1 is not answered"},
		"signal is no save":  {"deaf", command.Options{Signal: syscall.SIGUSR1, Format: format.PyTorch{}}, "no complete checkpoint of pytorch"},
		"half":               {"half", command.Options{Format: format.PyTorch{}}, "model.pt is not complete"},
		"half, acknowledged": {"half", command.Options{Format: format.PyTorch{}, Acknowledge: true}, "is not"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, &test.options, test.job)
			run := s.run(1)
			s.resume(t, run)
			s.reaches(t, run, 1)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			saved, err := s.Save(ctx, run)
			must.Err(t, err, context.DeadlineExceeded, saved)
			if name != "half" && !strings.Contains(err.Error(), test.reason) { // half may not have been reached
				t.Errorf("%v, want %q", err, test.reason)
			}
			if p := s.progress(t, run); !p.Running || p.Failed != "" {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestSaveNames: an acknowledgement cannot name files outside, links out, or nothing.
func TestSaveNames(t *testing.T) {
	s := newSite(t, nil, "sleep")
	run := s.run(1)
	s.resume(t, run)
	must.Do(t, os.Symlink("/etc/hostname", filepath.Join(s.dir, "link")))
	must.Do(t, os.Mkdir(filepath.Join(s.dir, "sub"), 0o700))
	for _, name := range []string{"b", "sub/a"} {
		must.Do(t, os.WriteFile(filepath.Join(s.dir, name), nil, 0o600))
	}
	ack := filepath.Join(filepath.Dir(s.Log(run, 0)), "own", "save-ack")
	for answer, want := range map[string]string{
		`{"request":99,"files":["../up"]}`:        "up",
		`{"request":99,"files":["/etc/passwd"]}`:  "passwd",
		`{"request":99,"files":["link"]}`:         "link",
		`{"request":99,"files":["sub"]}`:          "not a regular file",
		`{"request":99,"files":["b","absent"]}`:   "absent",
		`{"request":99,"files":[]}`:               "names no files",
		`{"request":99,"files":["b"`:              "unexpected end",
		`{"request":0,"files":["b"]}`:             "not answered",
		`{"request":99,"files":["sub/a","b"]}   `: "",
	} {
		must.Do(t, os.WriteFile(ack, []byte(answer), 0o600))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if want == "" {
			ctx, cancel = context.WithTimeout(t.Context(), long)
		}
		saved, err := s.Save(ctx, run)
		cancel()
		if want == "" && (err != nil || !cmp.Equal(saved.Files, []string{"b", "sub/a"}) || saved.Step != -1) {
			t.Errorf("%s: %+v, %v", answer, saved, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v, want %q", answer, saved, err, want)
		}
	}
}

// TestSaveOfTheDead: the last checkpoint of a job that has ended is the newest state there is.
func TestSaveOfTheDead(t *testing.T) {
	for job, want := range map[string]string{"saved": "", "die": "not answered"} {
		s := newSite(t, nil, job)
		run := s.run(1)
		s.resume(t, run)
		eventually(t, "end", func() bool { return !s.progress(t, run).Running })
		saved, err := s.Save(t.Context(), run)
		if want == "" && (err != nil || saved.Step != 5 || !cmp.Equal(saved.Files, []string{"state-5"})) {
			t.Errorf("%s: %+v, %v", job, saved, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v", job, saved, err)
		}
	}
}

// TestStopForks: children that ignore SIGTERM, that have left the session and thrown away the environment
// and descriptor 3, and grandchildren of processes that are gone end all.
func TestStopForks(t *testing.T) {
	for _, job := range []string{"forks", "daemon", "closed", "deaf", "frozen"} {
		for name, grace := range map[string]time.Duration{"at once": 0, "with grace": 30 * time.Millisecond} {
			t.Run(job+" "+name, func(t *testing.T) {
				// A folder of its own to start in marks every process, whatever environment it has.
				dir := t.TempDir()
				s := newSite(t, &command.Options{Grace: grace, Dir: dir}, job)
				run := s.run(1)
				s.resume(t, run)
				// One that is about to become another is not there yet: it may have thrown away all signs when its parent has ended, and
				// nobody has seen the two together.
				want := map[string]string{"forks": "deaf forks sleep sleep", "daemon": "sleep", "closed": "closed sleep", "deaf": "deaf", "frozen": "frozen"}[job]
				eventually(t, "children", func() bool { return strings.Join(startedIn(t, dir), " ") == want })
				if p := s.progress(t, run); !p.Running {
					t.Errorf("%+v", p)
				}
				must.Do(t, s.Stop(t.Context(), run))
				if left := startedIn(t, dir); len(left) > 0 {
					t.Errorf("alive after Stop: %v", left)
				}
				if p := s.progress(t, run); p.Running {
					t.Errorf("%+v", p)
				}
			})
		}
	}
}

// startedIn returns the jobs that the processes run whose current folder is dir, sorted.
func startedIn(t *testing.T, dir string) []string {
	t.Helper()
	folders := must.Have(filepath.Glob("/proc/[0-9]*"))(t)
	var found []string
	for _, folder := range folders {
		cwd, _ := os.Readlink(folder + "/cwd") // it may have ended
		line, _ := os.ReadFile(folder + "/cmdline")
		if cwd == dir && !dead(folder) {
			_, job, _ := strings.Cut(strings.TrimRight(string(line), "\x00"), "job:")
			found = append(found, job)
		}
	}
	slices.Sort(found)
	return found
}

// TestStopGrace: SIGKILL only comes after the time of grace, to those who are still there.
func TestStopGrace(t *testing.T) {
	s := newSite(t, &command.Options{Grace: time.Hour}, "sleep") // a Go program ends on SIGTERM
	run := s.run(1)
	s.resume(t, run)
	must.Do(t, s.Stop(t.Context(), run))
	deaf := newSite(t, &command.Options{Grace: time.Hour}, "deaf")
	run = deaf.run(1)
	deaf.resume(t, run)
	deaf.reaches(t, run, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := deaf.Stop(ctx, run); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "processes [") {
		t.Errorf("within the time of grace: %v", err)
	}
	if p := deaf.progress(t, run); !p.Running {
		t.Errorf("killed within the time of grace: %+v", p)
	}
	deaf.runner(t, nil, "deaf") // without grace, for the sweep
}

// TestEnds: how a job ended is told, also to a runner that comes later; a second Resume does not start it
// again.
func TestEnds(t *testing.T) {
	for job, want := range map[string]runner.Progress{
		"die":    {Failed: "rank 0: exit status 3"},
		"killed": {Failed: "rank 0: signal: killed"},
		"finish": {Step: 7, Done: true},
	} {
		s := newSite(t, nil, job)
		run := s.run(1)
		s.resume(t, run)
		eventually(t, "end", func() bool { return s.progress(t, run) == want })
		log := must.Have(os.ReadFile(s.Log(run, 0)))(t)
		s.resume(t, run)
		s.runner(t, nil, job)
		s.resume(t, run)
		must.Equal(t, s.progress(t, run), want, job)
		if after, err := os.ReadFile(s.Log(run, 0)); err != nil || !bytes.Equal(log, after) {
			t.Errorf("%s was started again: %q, %v", job, after, err)
		}
	}
}

// TestOneOfMany: one process that fails is told while the others go on.
func TestOneOfMany(t *testing.T) {
	s := newSite(t, nil, "sleep")
	run := s.run(1)
	run.Containers = []string{"a", "b"}
	s.resume(t, run)
	pids := s.processes(t)["run-1"]
	must.Equal(t, len(pids), 2, pids)
	must.Do(t, syscall.Kill(pids[1], syscall.SIGTERM))
	eventually(t, "failure", func() bool { return s.progress(t, run).Failed != "" })
	if p := s.progress(t, run); !p.Running || p.Done || !strings.Contains(p.Failed, "signal: terminated") {
		t.Errorf("%+v", p)
	}
}

// TestResumeFails: each time, and nothing of it stays.
func TestResumeFails(t *testing.T) {
	s := newSite(t, nil, "sleep")
	absent := must.Have(command.New(command.Commands{Start: []string{filepath.Join(s.dir, "absent")}, Work: s.work}, nil))(t)
	defer absent.Close()
	unreadable := &command.Options{Format: format.PyTorch{}}
	run := s.run(1)
	for range 3 {
		must.Err(t, absent.Resume(t.Context(), run), fs.ErrNotExist, "no such program")
		must.Fail(absent.Progress(t.Context(), run))(t, command.ErrNotStarted, "progress of nothing")
	}
	s.runner(t, unreadable, "sleep")
	run.Restore = t.TempDir()
	for range 3 {
		must.Err(t, s.Resume(t.Context(), run), format.ErrNone, "no checkpoint to resume from")
	}
	run.Restore = ""
	run.Containers = []string{"here", "here", "here"}
	for asked := range 4 {
		ctx := &ending{Context: t.Context(), left: asked}
		if err := s.Resume(ctx, run); asked < 3 != errors.Is(err, context.Canceled) {
			t.Errorf("time for %d processes: %v", asked, err)
		}
		if left := s.processes(t)["run-1"]; asked < 3 && len(left) > 0 {
			t.Errorf("time for %d processes, alive: %v", asked, left)
		}
	}
	if p := s.progress(t, run); !p.Running || len(s.processes(t)["run-1"]) != 3 {
		t.Errorf("once there is time: %+v", p)
	}
}

// ending is a context that ends when it was asked a number of times.
type ending struct {
	context.Context
	left int
}

func (c *ending) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestRestoreIsNamed: a job is told which checkpoint its directory holds, and progress begins there.
func TestRestoreIsNamed(t *testing.T) {
	s := newSite(t, &command.Options{Format: format.PyTorch{StepsPerNumber: 10}}, "env")
	run := s.run(1)
	run.Restore = t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(run.Restore, "model-12.pt"), archive("state"), 0o600))
	s.resume(t, run)
	eventually(t, "done", func() bool { return s.progress(t, run).Done })
	if p := s.progress(t, run); p.Step != 120 {
		t.Errorf("%+v", p)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "env-0"))
	if want := "APPORTION_RESTORE=" + filepath.Join(run.Restore, "model-12.pt"); err != nil || !strings.Contains(string(text), want) {
		t.Errorf("no %s: %v", want, err)
	}
}

// TestFenced: whatever an older attempt asks for, nothing is done, whoever asks and after any restart.
func TestFenced(t *testing.T) {
	s := newSite(t, nil, "sleep")
	s.resume(t, s.run(4))
	s.resume(t, s.run(7)) // which ends 4
	for restart := range 2 {
		if restart == 1 {
			s.runner(t, nil, "sleep")
		}
		for attempt := int64(1); attempt < 7; attempt++ {
			run := s.run(attempt)
			_, saveErr := s.Save(t.Context(), run)
			_, progressErr := s.Progress(t.Context(), run)
			for name, err := range map[string]error{
				"resume": s.Resume(t.Context(), run), "stop": s.Stop(t.Context(), run), "save": saveErr, "progress": progressErr,
			} {
				must.Err(t, err, checkpoint.ErrFenced, name, "of", attempt, "after 7")
			}
		}
		if left := s.processes(t); len(left) != 1 || len(left["run-7"]) != 1 {
			t.Fatalf("alive: %v", left)
		}
	}
	// A run that was stopped, even before it was started, does not start.
	must.Do(t, s.Stop(t.Context(), s.run(9)))
	must.Err(t, s.Resume(t.Context(), s.run(9)), command.ErrStopped, "resume after stop")
	if left := s.processes(t); len(left) > 0 {
		t.Errorf("alive: %v", left)
	}
	// Looking at a later attempt does not end the one that is there, and does not fence it either.
	s.resume(t, s.run(10))
	must.Fail(s.Progress(t.Context(), s.run(11)))(t, command.ErrNotStarted, "progress of a later attempt")
	must.Do(t, s.Stop(t.Context(), s.run(10)), "stop after a look at a later attempt")
	if _, err := s.Save(t.Context(), s.run(10)); !errors.Is(err, checkpoint.ErrFenced) || !errors.Is(err, command.ErrStopped) {
		t.Errorf("save after stop: %v", err)
	}
}

// TestSaveIsFenced: a save that waits ends when another attempt begins.
func TestSaveIsFenced(t *testing.T) {
	s := newSite(t, nil, "deaf")
	run := s.run(1)
	s.resume(t, run)
	result := make(chan error)
	go func() {
		_, err := s.Save(t.Context(), run)
		result <- err
	}()
	eventually(t, "request", func() bool {
		_, err := os.Stat(filepath.Join(filepath.Dir(s.Log(run, 0)), "save-request"))
		return err == nil
	})
	s.resume(t, s.run(2))
	must.Err(t, <-result, checkpoint.ErrFenced)
}

// startAgent starts an agent and returns when it has printed a line.
func (s *site) startAgent(t *testing.T, until string, attempt int64, containers int, job ...string) *exec.Cmd {
	t.Helper()
	args := append([]string{"job:agent", s.work, s.dir, strconv.FormatInt(attempt, 10), strconv.Itoa(containers), program(t)}, job...)
	cmd := exec.Command(program(t), args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	output := must.Have(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test has failed
	lines := bufio.NewScanner(output)
	for lines.Scan() && lines.Text() != until {
	}
	if lines.Text() != until {
		_ = cmd.Wait() // it has ended
		t.Fatalf("the agent has ended: %s", &complaint)
	}
	return cmd
}

// TestAgentKilled: the next runner goes on with the processes that it finds: it knows their progress, has
// them save, and stops them.
func TestAgentKilled(t *testing.T) {
	s := newSite(t, nil, "train", "1000000000")
	cmd := s.startAgent(t, "resumed", 1, 1, "job:train", "1000000000")
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed
	run := s.run(1)
	before := s.processes(t)["run-1"]
	s.resume(t, run)
	if after := s.processes(t)["run-1"]; len(before) != 1 || !cmp.Equal(before, after) {
		t.Fatalf("processes %v before and %v after Resume", before, after)
	}
	s.reaches(t, run, 10)
	if saved, err := s.Save(t.Context(), run); err != nil || saved.Step < 10 {
		t.Fatalf("%+v, %v", saved, err)
	}
	must.Do(t, s.Stop(t.Context(), run))
	if left := s.processes(t); len(left) > 0 {
		t.Errorf("alive: %v", left)
	}
}

// TestEndUnwatched: of a process that ended while no runner ran only its last words are known.
func TestEndUnwatched(t *testing.T) {
	for job, want := range map[string]runner.Progress{
		"train": {Step: 400, Done: true},
		"sleep": {Failed: "rank 0: ended while no runner ran, its exit status is not known"},
	} {
		s := newSite(t, nil, job, "400")
		cmd := s.startAgent(t, "resumed", 1, 1, "job:"+job, "400")
		must.Do(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		run := s.run(1)
		if job == "sleep" {
			for _, pid := range s.processes(t)["run-1"] {
				must.Do(t, syscall.Kill(pid, syscall.SIGKILL))
			}
		}
		eventually(t, "end", func() bool { return !s.progress(t, run).Running })
		// Where it ended before its agent did, its status is known.
		must.Equal(t, s.progress(t, run), want, job)
	}
}

// TestAgentKilledWhileResuming: at whatever moment the agent dies, the next attempt runs alone, and Stop
// leaves nothing.
func TestAgentKilledWhileResuming(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	random := rand.New(rand.NewPCG(7, 8))
	s := newSite(t, nil, "sleep")
	for round := range rounds {
		attempt := int64(2*round + 1)
		cmd := s.startAgent(t, "resuming", attempt, 4, "job:sleep")
		time.Sleep(time.Duration(random.IntN(20000)) * time.Microsecond)
		must.Do(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		if round%2 == 0 {
			run := s.run(attempt)
			run.Containers = []string{"here", "here", "here", "here"}
			s.resume(t, run) // what is half-started is started, what is started stays
			if left := s.processes(t); len(left) != 1 || len(left[filepath.Base(filepath.Dir(s.Log(run, 0)))]) != 4 {
				t.Fatalf("round %d: alive after the same attempt: %v", round, left)
			}
		}
		s.resume(t, s.run(attempt+1))
		left := s.processes(t)
		if len(left) != 1 || len(left[filepath.Base(filepath.Dir(s.Log(s.run(attempt+1), 0)))]) != 1 {
			t.Fatalf("round %d: alive after the next attempt: %v", round, left)
		}
	}
}

// TestNumberReused: a process that has the number of one that was ours, but not its start, or on another
// start of the machine, is left alone.
func TestNumberReused(t *testing.T) {
	s := newSite(t, nil, "die")
	run := s.run(1)
	s.resume(t, run)
	eventually(t, "end", func() bool { return !s.progress(t, run).Running })
	innocent := exec.Command(program(t), "job:sleep")
	innocent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must.Do(t, innocent.Start())
	defer func() {
		_ = innocent.Process.Kill() // at the end
		_ = innocent.Wait()
	}()
	boot := must.Have(os.ReadFile("/proc/sys/kernel/random/boot_id"))(t)
	stat := must.Have(os.ReadFile("/proc/" + strconv.Itoa(innocent.Process.Pid) + "/stat"))(t)
	start := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[19]
	for _, record := range []string{
		`{"pid":` + strconv.Itoa(innocent.Process.Pid) + `,"start":1,"boot":"` + strings.TrimSpace(string(boot)) + `"}`,
		`{"pid":` + strconv.Itoa(innocent.Process.Pid) + `,"start":` + start + `,"boot":"another"}`,
		`{"pid":-1}`, `{"pid":1}`, `{"pid":0}`, `nonsense`,
	} {
		must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(s.Log(run, 0)), "rank-0.json"), []byte(record), 0o600))
		if p, err := s.Progress(t.Context(), run); p.Running {
			t.Errorf("%s: %+v, %v", record, p, err)
		}
		// Stop shall look again.
		if err := os.Remove(filepath.Join(filepath.Dir(s.Log(run, 0)), "over")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		must.Do(t, s.Stop(t.Context(), run), record)
		if err := innocent.Process.Signal(syscall.Signal(0)); err != nil || dead("/proc/"+strconv.Itoa(innocent.Process.Pid)) {
			t.Fatalf("%s: an innocent process was killed", record)
		}
	}
}

// TestOutput: a flood of output stays below its bound on the disk, and the reading at its end is seen.
func TestOutput(t *testing.T) {
	const bound = 1 << 20
	s := newSite(t, &command.Options{LogBytes: bound}, "flood")
	run := s.run(1)
	s.resume(t, run)
	eventually(t, "the last reading", func() bool { return s.progress(t, run).Step == 4242 })
	eventually(t, "the bound", func() bool {
		info, err := os.Stat(s.Log(run, 0))
		return err == nil && info.Sys().(*syscall.Stat_t).Blocks*512 <= bound
	})
	log, err := os.ReadFile(s.Log(run, 0))
	if err != nil || !bytes.HasSuffix(log, []byte("{\"step\":4242}\n")) {
		t.Errorf("the end of the log is lost: %v", err)
	}
}

// TestFolders: old runs are forgotten.
func TestFolders(t *testing.T) {
	s := newSite(t, &command.Options{KeepRuns: 2}, "finish")
	for attempt := range int64(6) {
		s.resume(t, s.run(attempt+1))
	}
	folders := must.Have(filepath.Glob(filepath.Join(s.work, "job", "run-*")))(t)
	for i := range folders {
		folders[i] = filepath.Base(folders[i])
	}
	if want := []string{"run-4", "run-5", "run-6"}; !cmp.Equal(folders, want) {
		t.Errorf("%v, want %v", folders, want)
	}
}

// TestJobNames runs jobs that are called as patterns and paths are: each has a folder of its own below
// Work, and stopping one leaves the others alone.
func TestJobNames(t *testing.T) {
	s := newSite(t, nil, "sleep")
	names := []string{"job", "*", "[", "?ob", "job/run-1", "../job", "..", `a\b`, strings.Repeat("job", 100)}
	run := func(i int) runner.Run {
		r := s.run(1)
		r.Job, r.Dir = names[i], filepath.Join(t.TempDir(), "out")
		return r
	}
	runs := make([]runner.Run, len(names))
	for i := range names {
		runs[i] = run(i)
		s.resume(t, runs[i])
	}
	folders := must.Have(os.ReadDir(s.work))(t)
	must.Equal(t, len(folders), len(names), "jobs have the folders", folders)
	for i, name := range names {
		must.Do(t, s.Stop(t.Context(), runs[i]), name)
		for k := range names {
			must.Equal(t, s.progress(t, runs[k]).Running, k > i, "after the stop of", name, names[k], "runs")
		}
	}
}

// TestAtOnce: methods of several attempts from many sides at once leave one run or none.
func TestAtOnce(t *testing.T) {
	s := newSite(t, nil, "sleep")
	var wait sync.WaitGroup
	for attempt := int64(1); attempt <= 4; attempt++ {
		for range 2 {
			wait.Go(func() { _ = s.Resume(t.Context(), s.run(attempt)) }) // fenced or not
			wait.Go(func() { _, _ = s.Progress(t.Context(), s.run(attempt)) })
			wait.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				_, _ = s.Save(ctx, s.run(attempt)) // nobody answers
			})
		}
	}
	wait.Wait()
	if left := s.processes(t); len(left) != 1 || len(left["run-4"]) != 1 {
		t.Errorf("alive: %v", left)
	}
}

func TestFaults(t *testing.T) {
	for name, test := range map[string]struct {
		commands command.Commands
		options  command.Options
		field    string
		sort     error
	}{
		"no start":      {command.Commands{Work: "w"}, command.Options{}, "Start", apportion.ErrEmpty},
		"empty start":   {command.Commands{Start: []string{""}, Work: "w"}, command.Options{}, "Start", apportion.ErrEmpty},
		"empty resume":  {command.Commands{Start: []string{"a"}, Resume: []string{""}, Work: "w"}, command.Options{}, "Resume[0]", apportion.ErrEmpty},
		"no work":       {command.Commands{Start: []string{"a"}}, command.Options{}, "Work", apportion.ErrEmpty},
		"negative":      {command.Commands{Start: []string{"a"}, Work: "w"}, command.Options{Grace: -1}, "Grace", apportion.ErrNegative},
		"negative log":  {command.Commands{Start: []string{"a"}, Work: "w"}, command.Options{LogBytes: -1}, "LogBytes", apportion.ErrNegative},
		"negative poll": {command.Commands{Start: []string{"a"}, Work: "w"}, command.Options{Poll: -1}, "Poll", apportion.ErrNegative},
		"negative keep": {command.Commands{Start: []string{"a"}, Work: "w"}, command.Options{KeepRuns: -1}, "KeepRuns", apportion.ErrNegative},
	} {
		_, err := command.New(test.commands, &test.options)
		var fault *apportion.FieldError
		if !errors.As(err, &fault) || fault.Field != test.field || !errors.Is(fault, test.sort) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newSite(t, nil, "sleep")
	for name, change := range map[string]func(*runner.Run){
		"job":            func(r *runner.Run) { r.Job = "a\x00" },
		"attempt":        func(r *runner.Run) { r.Attempt = 0 },
		"no containers":  func(r *runner.Run) { r.Containers = nil },
		"empty server":   func(r *runner.Run) { r.Containers = []string{""} },
		"comma":          func(r *runner.Run) { r.Containers = []string{"a,b"} },
		"control":        func(r *runner.Run) { r.Containers = []string{"a\x00b"} },
		"no dir":         func(r *runner.Run) { r.Dir = "" },
		"relative dir":   func(r *runner.Run) { r.Dir = "a" },
		"zero in dir":    func(r *runner.Run) { r.Dir = "/a\x00b" },
		"relative store": func(r *runner.Run) { r.Restore = "a" },
	} {
		run := s.run(1)
		change(&run)
		_, saveErr := s.Save(t.Context(), run)
		_, progressErr := s.Progress(t.Context(), run)
		for _, err := range []error{s.Resume(t.Context(), run), s.Stop(t.Context(), run), saveErr, progressErr} {
			var fault *apportion.FieldError
			if !errors.As(err, &fault) && !errors.Is(err, store.ErrName) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// The same attempt is one run.
	s.resume(t, s.run(1))
	other := s.run(1)
	other.Containers = []string{"here", "there"}
	must.Err(t, s.Resume(t.Context(), other), apportion.ErrConflict, "another run of the same number")
}

// TestDiskFails: what cannot be recorded is not started.
func TestDiskFails(t *testing.T) {
	s := newSite(t, nil, "sleep")
	must.Do(t, os.WriteFile(filepath.Join(s.work, "blocked"), nil, 0o600))
	run := s.run(1)
	run.Job = "blocked" // its folder cannot be made
	must.Err(t, s.Resume(t.Context(), run), must.ErrAny, "resumed without a folder")
	must.Do(t, os.MkdirAll(filepath.Join(s.work, "damaged"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(s.work, "damaged", "run-1"), []byte("no folder"), 0o600))
	run.Job = "damaged" // nobody knows whether something of it is alive
	must.Err(t, s.Resume(t.Context(), run), must.ErrAny, "resumed without knowing what was started before")
	if left := s.processes(t); len(left) > 0 {
		t.Errorf("alive: %v", left)
	}
}

// A save is answered at once, however rarely files are looked at while nobody tells of them.
func TestSaveIsTold(t *testing.T) {
	s := newSite(t, &command.Options{Poll: 24 * time.Hour}, "train", "1000000000")
	run, rarely := s.run(1), s.Runner
	s.resume(t, run)
	s.runner(t, nil, "train") // which ends it
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	for range 3 {
		if saved, err := rarely.Save(ctx, run); err != nil || len(saved.Files) != 1 {
			t.Fatalf("%+v, %v", saved, err)
		}
	}
}
