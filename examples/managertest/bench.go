//go:build unix

// This file implements Bench: a controller as its user starts it, on a real cluster, with real jobs.

// Package managertest plays elastic jobs on real clusters and asks their workers' own logs whether anything ran twice or was
// lost.
package managertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/workerlog"
	"github.com/apportion/apportion/examples/managertest/processes"
)

// Bench is a controller in a process of its own, and what the test has seen of it.
type Bench struct {
	testing.TB
	// Dir is the folder of the test's cluster, and Shared the one that all its nodes see.
	Dir, Shared string
	// Trainer is the program that jobs run: with the arguments train -steps N -cost 1ms.
	Trainer string

	// Several goroutines of a test may submit at the same time.
	submitted atomic.Int64 // how many jobs Another has drawn
	args, env []string
	// now is the controller that leads; every one listens on an address of its own behind the front.
	now   *process
	front *front
	port  int // the first of two, on which one controller and the next listen
	// confirmed is what the controller has called confirmed whenever it was asked: Check compares the
	// workers' own logs with it.
	confirmed []workerlog.Confirmed
	unrest    string // what did not rest when it was last looked
	// plain are the jobs with fixed containers, as Cancel calls them, by name.
	plain map[string]string
}

// process is a controller in a process.
type process struct {
	*exec.Cmd
	number  int // 0 or 1
	address string
}

// Number stands in a variable's value for the number of the controller, 0 or 1, that is started with it.
const Number = "{number}"

// Path is the path of a file or folder of the repository that the module of the test has the library from.
func Path(t testing.TB, below ...string) string {
	t.Helper()
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/apportion/apportion").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(append([]string{strings.TrimSpace(string(root))}, below...)...)
}

// New builds the controller of the folder in which the test runs, NAME/apportion-NAME, the guard and the trainer, and starts the controller with
// these variables beside the test's.
// Leases are six seconds and looks a third of one, so that a fault shows within seconds; the thresholds let
// every decision move everything, which is the hardest case for what carries it out.
func New(t testing.TB, dir string, env ...string) *Bench {
	t.Helper()
	b := &Bench{TB: t, Dir: dir, Shared: filepath.Join(dir, "shared"), env: env, plain: map[string]string{}}
	if err := os.MkdirAll(b.Shared, 0o755); err != nil {
		t.Fatal(err)
	}
	// Building takes seconds where the cache is warm. A test binary cannot be its own trainer, since the
	// guards start it.
	b.Trainer = processes.Build(t, dir, "inhouse", Path(t, "examples", "studies"), "./inhouse")
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	processes.Build(t, dir, "controller", ".", "./apportion-"+filepath.Base(folder))
	guard := processes.Build(t, dir, "apportion-guard", Path(t), "./checkpoint/guard/apportion-guard")
	// Both are free for the length of the test.
	b.front, b.port = newFront(t), processes.FreePorts(t, 2)
	b.args = []string{"-shared", b.Shared, "-url", "http://" + b.front.address(), "-guard", guard, "-lease", "6s", "-every", "200ms",
		"-look", "300ms", "-look-idle", "1s", "-theta1", "1", "-theta2", "1", "-save", "5s", "-min-run", "0s", "-job-moves", "0"}
	b.Begin()
	// The controller ends before the folder goes; its log is shown only for a test that has failed.
	t.Cleanup(func() {
		b.End()
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(dir, "controller.log"))
			t.Logf("the controller's log:\n%.4000s\n%s", text, b.unrest)
		}
	})
	return b
}

// Begin starts the controller, as the one before where that has ended.
func (b *Bench) Begin() {
	b.Helper()
	i := 0
	if b.now != nil {
		i = b.now.number
	}
	b.lead(b.start(i))
}

// start starts a controller on the i-th address, which waits until no other leads.
func (b *Bench) start(i int) *process {
	b.Helper()
	log, err := os.OpenFile(filepath.Join(b.Dir, "controller.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	p := &process{number: i, address: "127.0.0.1:" + strconv.Itoa(b.port+i)}
	p.Cmd = exec.Command(filepath.Join(b.Dir, "controller"), append([]string{"-listen", p.address}, b.args...)...)
	p.Env = os.Environ()
	// Two controllers that live at the same time need names, ports or folders of their own.
	for _, variable := range b.env {
		p.Env = append(p.Env, strings.ReplaceAll(variable, Number, strconv.Itoa(i)))
	}
	p.Stdout, p.Stderr = log, log
	if err := p.Start(); err != nil {
		b.Fatal(err)
	}
	return p
}

// lead puts a controller in charge.
func (b *Bench) lead(p *process) {
	b.now = p
	b.front.turn(p.address)
}

// Set starts the controller again with more flags.
func (b *Bench) Set(flags ...string) {
	b.Helper()
	b.End()
	b.args = append(b.args, flags...)
	b.Begin()
}

// End kills the controller.
// It is killed and not asked to end: no test may depend on a controller's last words.
func (b *Bench) End() {
	_ = b.now.Process.Kill() // it may have ended
	_ = b.now.Wait()
}

// Signal sends the controller a signal.
func (b *Bench) Signal(s syscall.Signal) {
	if err := b.now.Process.Signal(s); err != nil {
		b.Error(err)
	}
}

// Ask asks the controller for a page of its API; nil: it does not answer.
func (b *Bench) Ask(path string) []byte { return b.ask(b.front.address(), path) }

// ask asks a controller at an address; nil: it does not answer.
func (b *Bench) ask(address, path string) []byte {
	token, err := os.ReadFile(filepath.Join(b.Shared, "master", "user.token"))
	if err != nil {
		return nil
	}
	client := http.Client{Timeout: 10 * time.Second}
	request, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return nil
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := client.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil
	}
	return text
}

// Process is the number of the controller's process.
// It is another after each Begin, Follow and Replace.
func (b *Bench) Process() int { return b.now.Process.Pid }

// Report asks the controller how everything stands; nil: it does not answer. It notes what checkpoints count.
// A test calls it often while it waits, since what is confirmed is known from these looks alone.
func (b *Bench) Report() *controller.Report {
	text := b.Ask("/state")
	if text == nil {
		return nil
	}
	var r controller.Report
	if json.Unmarshal(text, &r) != nil {
		b.unrest = string(text)
		return nil
	}
	for _, j := range r.Jobs {
		if newest := j.Job.Newest(); newest.Number > 0 {
			b.confirmed = append(b.confirmed, workerlog.Confirmed{Job: j.Job.Name, Step: newest.Step, At: time.Now().UnixNano()})
		}
	}
	return &r
}

// Holds waits until the jobs that run hold so many containers each.
// A job that is being adjusted counts as holding nothing, so that it returns only when all is at rest.
func (b *Bench) Holds(want map[string]int) {
	b.Helper()
	processes.Eventually(b, fmt.Sprintf("the jobs hold %v", want), 90*time.Second, func() bool {
		r, held := b.Report(), map[string]int{}
		if r == nil {
			return false
		}
		for _, j := range r.Jobs {
			if slices.Contains(resting, j.Job.Phase) && j.Job.Phase != checkpoint.Ended && j.Job.Order == 0 {
				held[j.Job.Name] = len(j.Job.Containers)
			}
		}
		r.Servers = nil
		text, _ := json.Marshal(r)
		b.unrest = string(text)
		return fmt.Sprint(held) == fmt.Sprint(want)
	})
}

// resting are the phases of a job that nothing is to be changed of: one that runs is saved now and then.
var resting = []checkpoint.Phase{checkpoint.Running, checkpoint.Saving, checkpoint.Verifying, checkpoint.Ended}

// rests waits until all of these jobs, and all others that the controller knows, run or have ended.
// submitted is asked each time, as it may still grow. Two minutes bound the wait: a fault costs a lease, a
// start and a decision.
func (b *Bench) rests(submitted func() []string) {
	b.Helper()
	processes.Eventually(b, "all jobs run or have ended", 120*time.Second, func() bool {
		r := b.Report()
		if r == nil {
			return false
		}
		b.unrest = ""
		known := map[string]bool{}
		for _, j := range r.Jobs {
			known[j.Job.Name] = true
			if !slices.Contains(resting, j.Job.Phase) || j.Job.Order != 0 {
				b.unrest += fmt.Sprintf("%s is %s: %s\n", j.Job.Name, j.Job.Phase, j.Why)
			}
		}
		for _, id := range submitted() {
			if !known[id] {
				b.unrest += id + " is not known\n"
			}
		}
		return b.unrest == ""
	})
}

// Check asks the workers' logs.
// It is the judge of every test here: nothing but what is named ran twice, and no confirmed step was lost, by the word of
// those who did the work.
func (b *Bench) Check(but ...string) {
	b.Helper()
	lines, err := workerlog.ReadAll(os.DirFS(filepath.Join(b.Shared, "runs")))
	lines = slices.DeleteFunc(lines, func(l workerlog.Line) bool { return slices.Contains(but, l.Job) })
	if err == nil {
		err = workerlog.Check(lines, &workerlog.Options{Confirmed: b.confirmed})
	}
	if err != nil || len(lines) == 0 {
		b.Errorf("%d lines of workers: %v", len(lines), err)
	}
	b.Logf("%d lines of workers, %d looks at confirmed checkpoints", len(lines), len(b.confirmed))
}
