//go:build !js

// This file tests "apportion adjust": what it answers, and that it says the same again wherever it was killed.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/workerlog"
	"github.com/apportion/apportion/internal/must"
)

// adjustHead opens the streams of this file.
const adjustHead = `{"kinds":["cpu"],"limit":3,"retries":1,"restarts":-1,"keep":2,"timeout":10,"room":20}` + "\n"

// live is a run of the command in a process of its own, which is fed line by line.
type live struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      *bufio.Writer
	out     *bufio.Scanner
	effects []checkpoint.Effect
	jobs    map[string]checkpoint.Job
}

func startAdjust(t *testing.T, folder string) *live {
	t.Helper()
	l := &live{t: t, cmd: exec.Command(os.Args[0], "adjust", "-journal", folder), jobs: map[string]checkpoint.Job{}}
	l.cmd.Env = append(os.Environ(), asCommand+"=1")
	l.cmd.Stderr = os.Stderr
	in, err1 := l.cmd.StdinPipe()
	out, err2 := l.cmd.StdoutPipe()
	must.Do(t, errors.Join(err1, err2, l.cmd.Start()))
	t.Cleanup(func() { _ = l.cmd.Process.Kill(); _ = l.cmd.Wait() })
	l.in, l.out = bufio.NewWriter(in), bufio.NewScanner(out)
	l.out.Buffer(nil, 1<<20)
	return l
}

// say gives a line and takes in its answer.
func (l *live) say(line string) adjustAnswer {
	l.t.Helper()
	fmt.Fprintln(l.in, strings.TrimSpace(line))
	if err := l.in.Flush(); err != nil || !l.out.Scan() {
		l.t.Fatalf("%s: no answer: %v", line, errors.Join(err, l.out.Err()))
	}
	var a adjustAnswer
	must.Do(l.t, json.Unmarshal(l.out.Bytes(), &a))
	l.effects = append(l.effects, a.Effects...)
	for _, j := range a.Jobs {
		l.jobs[j.Name] = j
	}
	return a
}

// pending are the effects that are under way, one for a job at most, without what another master changes.
func (l *live) pending() map[string]checkpoint.Effect {
	pending := map[string]checkpoint.Effect{}
	for _, e := range l.effects {
		if e.ID == l.jobs[e.Job].Effect {
			e.Epoch = 0
			pending[e.Job] = e
		}
	}
	return pending
}

// next does the effect that was asked for first, and replies.
func (l *live) next() {
	l.t.Helper()
	at := slices.IndexFunc(l.effects, func(e checkpoint.Effect) bool { return e.Action != checkpoint.Prune })
	if at < 0 {
		return
	}
	e := l.effects[at]
	l.effects = slices.Delete(l.effects, at, at+1)
	text := must.Have(checkpoint.MarshalEvent(checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done, Step: 10}))(l.t)
	l.say(string(text))
}

// played is a stream in which two jobs change places; an empty line stands for the next reply.
var played = []string{
	`{"event":"server-up","server":{"id":"n","capacity":[2]}}`, `{"event":"server-up","server":{"id":"s","capacity":[2]}}`,
	`{"event":"submit","job":"a","demand":[1]}`, `{"event":"submit","job":"b","demand":[2]}`,
	`{"event":"adjust","targets":{"a":["n","n"],"b":["s"]}}`, "", "", "", "", "", "",
	`{"event":"checkpoint","job":"a"}`, "", "",
	`{"event":"adjust","targets":{"a":["s"],"b":["n"]}}`, "", "", "", "", "", "", "", "", "", "", "", "", "",
	`{"event":"cancel","job":"b"}`, "", "", `{"event":"finished","job":"a","attempt":1}`, "", "",
}

// play plays part of the stream.
func (l *live) play(part []string) {
	l.t.Helper()
	for _, line := range part {
		if line == "" {
			l.next()
		} else if a := l.say(line); a.Error != nil {
			l.t.Fatalf("%s: %+v", line, a.Error)
		}
	}
}

// Killed behind any line and started again, it asks for the same, knows the same, and goes on to the same end.
func TestAdjustKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	whole := startAdjust(t, t.TempDir())
	whole.say(adjustHead)
	whole.play(played)
	if a := whole.jobs["a"]; a.Phase != checkpoint.Running || !slices.Equal(a.Containers, []string{"s"}) || whole.jobs["b"].Phase != checkpoint.Ended {
		t.Fatalf("%+v", whole.jobs)
	}
	for k := 0; k <= len(played); k += 2 {
		folder := t.TempDir()
		first := startAdjust(t, folder)
		first.say(adjustHead)
		first.play(played[:k])
		must.Do(t, first.cmd.Process.Kill())
		_ = first.cmd.Wait()
		second := startAdjust(t, folder)
		if a := second.say(adjustHead); a.Epoch != 2 {
			t.Errorf("epoch %d", a.Epoch)
		}
		must.Equal(t, cmp.Diff(first.pending(), second.pending()), "", "killed behind line", k, "it asks for other effects")
		must.Equal(t, cmp.Diff(first.jobs, second.jobs), "", "killed behind line", k, "it knows other jobs")
		second.play(played[k:])
		for name, j := range whole.jobs {
			if got := second.jobs[name]; got.Phase != j.Phase || !slices.Equal(got.Containers, j.Containers) || len(got.Checkpoints) != len(j.Checkpoints) {
				t.Errorf("killed behind line %d: job %s ends as %+v", k, name, got)
			}
		}
	}
}

// once runs the command once: with a journal the second time is another.
func once(t *testing.T, in string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(in), &out, &errs)
	return code, out.String(), errs.String()
}

// A line that makes no sense is answered, changes nothing, and the stream goes on.
func TestAdjustRefuses(t *testing.T) {
	lines := []string{`{"event":"server-up","server":{"id":"n","capacity":[9]}}`, `{"event":"submit","job":"a","demand":[1]}`,
		`{"event":"dance"}`, `nonsense`, `{"event":"submit","job":"a","demand":[1]}`, `{"event":"adjust","totals":{"a":-1}}`,
		`{"event":"adjust","totals":{"a":1},"targets":{}}`, `{"event":"adjust","totals":{"nobody":1}}`, `{"event":"adjust","totals":{"a":3}}`,
		`{"event":"server-up","server":{"id":"s","capacity":[9]}}`, `{"event":"adjust","totals":{"a":1}}`}
	folder := t.TempDir()
	code, out, errs := once(t, adjustHead+strings.Join(lines, "\n"), "adjust", "-journal", folder)
	must.Equal(t, code, answered, errs)
	answers := strings.Split(strings.TrimSpace(out), "\n")
	for i, want := range map[int]string{3: "is unknown", 4: "invalid character", 5: "is there twice", 6: "out of range", 7: "targets", 8: "nobody", 11: "there are 2 servers"} {
		if !strings.Contains(answers[i], `"error":{`) || !strings.Contains(answers[i], want) || !strings.Contains(answers[i], `"effects":[],"jobs":[],"gone":[]`) {
			t.Errorf("line %d: %s; want %q", i+1, answers[i], want)
		}
	}
	for _, i := range []int{0, 1, 2, 9, 10} {
		if strings.Contains(answers[i], `"error"`) {
			t.Errorf("line %d: %s", i+1, answers[i])
		}
	}
	if !strings.Contains(answers[9], `"containers":["n","n","n"]`) || !strings.Contains(answers[9], `"previous":{"a":{"n":3}}`) {
		t.Errorf("totals on one server: %s", answers[9])
	}
	for _, test := range []struct{ input, args, want string }{
		{adjustHead, "", "-journal is needed"},
		{"{}", "-journal " + folder, "is missing"},
		{`{"kinds":["cpu"],"keep":-1}`, "-journal " + folder, "is negative"},
		{`{"kinds":["cpu","gpu"]}`, "-journal " + folder, "quantities for 2 kinds"},
	} {
		if code, _, errs := once(t, test.input, append([]string{"adjust"}, strings.Fields(test.args)...)...); code == answered || !strings.Contains(errs, test.want) {
			t.Errorf("%+v: %d %s", test, code, errs)
		}
	}
}

// A master whose journal has lost records ends at every start, and goes on when that is accepted, by name and once.
func TestAdjustAcceptsLoss(t *testing.T) {
	folder := t.TempDir()
	lines := strings.Join([]string{`{"event":"server-up","server":{"id":"n","capacity":[9]}}`, `{"event":"submit","job":"a","demand":[1]}`,
		`{"event":"adjust","totals":{"a":3}}`}, "\n")
	_, out, _ := once(t, adjustHead+lines, "adjust", "-journal", folder)
	_, rest, found := strings.Cut(out, `"journal":"`)
	name, _, _ := strings.Cut(rest, `"`)
	if !found || name == "" {
		t.Fatalf("no effect names its journal: %s", out)
	}
	up := `{"event":"server-up","server":{"id":"n","capacity":[9]},"witness":{"journal":"` + name + `","number":99999999}}`
	for range 2 {
		if code, _, errs := once(t, adjustHead+up, "adjust", "-journal", folder); code == answered || !strings.Contains(errs, "journal "+name+" does not know it") {
			t.Fatalf("%d %s", code, errs)
		}
	}
	if code, _, errs := once(t, adjustHead+up, "adjust", "-journal", folder, "-accept-loss", "another"); code == answered || !strings.Contains(errs, "the journal that is there is "+name) {
		t.Errorf("another name: %d %s", code, errs)
	}
	for _, args := range [][]string{{"-accept-loss", name}, {"-accept-loss", name}, nil} {
		code, out, errs := once(t, adjustHead+up, append([]string{"adjust", "-journal", folder}, args...)...)
		if code != answered || strings.Contains(out, `"error"`) || !strings.Contains(out, `"former":["`+name+`"]`) || !strings.Contains(out, `"action":"stop"`) {
			t.Errorf("%v: %d %s %s", args, code, errs, out)
		}
	}
}

// Whoever opens the journal fences off who had it: that one says so and ends, and has done nothing.
func TestAdjustFenced(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	folder := t.TempDir()
	first := startAdjust(t, folder)
	first.cmd.Stderr = nil
	first.say(adjustHead)
	startAdjust(t, folder).say(adjustHead)
	fmt.Fprintln(first.in, played[0])
	must.Do(t, first.in.Flush())
	if first.out.Scan() {
		t.Errorf("it answers %s", first.out.Text())
	}
	var exit *exec.ExitError
	if err := first.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != failed {
		t.Errorf("%v", err)
	}
}

// grown closes a channel when the files of a folder have become so many bytes longer.
func grown(t *testing.T, folder string, bytes int64) <-chan struct{} {
	length := func() (sum int64) {
		entries, _ := os.ReadDir(folder) // there is none at first
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				sum += info.Size()
			}
		}
		return sum
	}
	until, reached := length()+bytes, make(chan struct{})
	go func() {
		for length() < until && t.Context().Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		close(reached)
	}()
	return reached
}

// The master in Python is killed again and again, with its trainers or without: no job runs twice, and none loses a step.
func TestPythonMaster(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT TESTED, there is no python3")
	}
	if testing.Short() {
		t.Skip("runs real processes")
	}
	folder := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for kills := 0; ; kills++ {
		var out, errs bytes.Buffer
		cmd := exec.Command(python, "-B", "master.py", folder, "150", os.Args[0], "adjust", "-journal", filepath.Join(folder, "journal"))
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), asCommand+"=1"), &out, &errs
		must.Do(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var kill <-chan struct{} // the last run has all the time that it needs
		if kills < 5 {
			kill = grown(t, filepath.Join(folder, "logs"), 1000+random.Int64N(3000))
		}
		select {
		case err := <-ended:
			if err != nil || strings.Count(out.String(), "'completed'") != 2 {
				t.Fatalf("%v: %s %s", err, &out, &errs)
			}
			checkLogs(t, folder)
			return
		case <-kill:
			_ = cmd.Process.Kill()
			cmd.WaitDelay = time.Second
			<-ended
		}
	}
}

// checkLogs checks what the trainers have written, and that both have done all their steps.
func checkLogs(t *testing.T, folder string) {
	t.Helper()
	lines := must.Have(workerlog.ReadAll(os.DirFS(filepath.Join(folder, "logs"))))(t)
	must.Do(t, workerlog.Check(lines, nil))
	for _, job := range []string{"a", "b"} {
		attempts := map[int64]bool{}
		ended := false
		for _, l := range lines {
			if l.Job == job {
				attempts[l.Attempt] = true
				ended = ended || l.Worker == workerlog.End && l.Step == 150
			}
		}
		t.Logf("job %s: %d attempts", job, len(attempts))
		if !ended {
			t.Errorf("job %s has not done all its steps", job)
		}
	}
}
