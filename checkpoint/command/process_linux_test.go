//go:build linux

// This file tests which processes belong to a run by their environment.

package command

import (
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/proc"
	"github.com/apportion/apportion/internal/must"
)

// An environment names a run wherever the variable stands in it, and no variable whose name only ends alike.
func TestNames(t *testing.T) {
	j := jobFolder(t.TempDir())
	run := EnvRunDir + "=" + string(j.run(7))
	for text, want := range map[string]bool{
		"\x00" + run + "\x00": true, "\x00A=1\x00" + run + "\x00B=2\x00": true, "\x00MY_" + run + "\x00": false, "\x00A=" + run + "\x00": false,
		"\x00A=1\x00": false, "\x00": false,
	} {
		must.Equal(t, j.names([]byte(text), 7), want, text)
		if j.names([]byte(text), 6) {
			t.Errorf("%q is of an attempt up to 6", text)
		}
	}
	// What is read of a process begins so.
	leader := exec.Command("/bin/sleep", "60")
	leader.Env = []string{run}
	must.Do(t, leader.Start())
	t.Cleanup(func() { _ = leader.Process.Kill(); _ = leader.Wait() })
	a := &Runner{}
	// A program that has only just begun has no environment yet.
	for limit := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		found, err := a.members(j, 7, nil, nil, 0)
		if _, ours := found[leader.Process.Pid]; ours && err == nil {
			return
		}
		if err != nil || time.Now().After(limit) {
			t.Fatalf("%v, %v: a process whose first variable names the run is not found", found, err)
		}
	}
}

// Each process is read once for all jobs, and passed over while it is older than the job and the one that was read.
func TestStrangersAreNotReadAgain(t *testing.T) {
	j := jobFolder(t.TempDir())
	ours := exec.Command("/bin/sleep", "60")
	ours.Env = []string{EnvRunDir + "=" + string(j.run(7))}
	must.Do(t, ours.Start())
	t.Cleanup(func() { _ = ours.Process.Kill(); _ = ours.Wait() })
	a, pid, parent := &Runner{}, ours.Process.Pid, os.Getppid()
	finds := func(since uint64) bool {
		t.Helper()
		found := must.Have(a.members(j, 7, nil, nil, since))(t)
		_, ours := found[pid]
		return ours
	}
	// A program that has only just begun has no environment yet.
	for limit := time.Now().Add(time.Minute); !finds(0); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the process is not found")
		}
	}
	delete(a.table.met, pid) // it may have been read when it had none
	// What is as old as the job's first process may be of it: a hundredth of a second has many processes.
	older, _ := a.identify(parent)
	another := jobFolder(t.TempDir())
	for since, want := range map[uint64]bool{0: false, 1: false, older.Start: false, older.Start + 1: true, math.MaxUint64: true} {
		for _, of := range []jobFolder{j, another} {
			if finds(since); a.table.passes(parent, of, since) != want {
				t.Errorf("since %d: the parent of this test is passed over: %v", since, !want)
			}
		}
		if !finds(since) || a.table.passes(pid, j, since) {
			t.Errorf("since %d: the process is a stranger to its own job", since)
		}
		// Its number was a stranger's before, of another identity.
		identity, _ := proc.Identity(pid)
		for _, c := range []struct {
			m    met
			want bool
		}{
			{met{identity + 1, 0, ""}, true}, {met{identity, since, ""}, true}, {met{identity, 0, string(j.run(3))}, true},
			{met{identity, 0, string(another.run(7))}, since == 0}, {met{identity, 0, ""}, since == 0},
		} {
			if a.table.note(pid, c.m); finds(since) != c.want {
				t.Errorf("since %d, read as %+v: found is %v", since, c.m, !c.want)
			}
		}
		delete(a.table.met, pid)
	}
	// Whoever has read it for another job knows whose it is.
	must.Have(a.members(another, 7, nil, nil, math.MaxUint64))(t)
	if !a.table.passes(pid, another, math.MaxUint64) || !finds(math.MaxUint64) {
		t.Error("a process that was read for another job is a stranger to its own, or read again for the other")
	}
	// What is gone is forgotten.
	a.table.note(1<<30, met{})
	finds(0)
	if _, kept := a.table.met[1<<30]; kept || len(a.table.met) == 0 {
		t.Errorf("a process that is gone is remembered: %v, beside %d others", kept, len(a.table.met))
	}
}

// What was started is known by its first process, unless one had ended before it could be asked.
func TestStartIsNoted(t *testing.T) {
	a := &Runner{children: map[string]*child{}, since: map[string]uint64{}}
	folder := jobFolder("/work/job").run(3)
	for rank, start := range []uint64{70, 50, 60} {
		a.children[folder.process(rank)] = &child{process: process{Start: start}}
	}
	a.children[folder.process(3)] = &child{}
	for _, c := range []struct {
		ranks []int
		want  uint64
	}{{nil, 0}, {[]int{0}, 70}, {[]int{0, 1, 2}, 50}, {[]int{2}, 60}, {[]int{0, 3}, 60}, {nil, 60}} {
		if a.noteStart("job", folder, c.ranks); a.lastStart("job") != c.want {
			t.Errorf("ranks %v: since %d, want %d", c.ranks, a.lastStart("job"), c.want)
		}
	}
	must.Equal(t, a.lastStart("another"), 0, "a job that was never started: since")
}

// A sweep ends when often enough in a row nobody was found, those looks counted that were before it; somebody who is found makes it count anew.
func TestSweepCounts(t *testing.T) {
	gone := map[int]process{1 << 30: {PID: 1 << 30}} // which is nobody's number, so that nobody is killed
	for _, c := range []struct {
		quiet, enough int
		found         []bool // by one look after the other; nobody is found later
		looks         int
	}{
		{0, 1, nil, 1}, {0, 2, nil, 2}, {1, 2, nil, 1}, {0, 1, []bool{true}, 2}, {0, 2, []bool{true}, 3}, {1, 2, []bool{true}, 3},
		{0, 2, []bool{false, true}, 4}, {1, 3, []bool{false, true, true}, 6}, {0, 2, []bool{true, false, true, false, true}, 7},
	} {
		a, looks := &Runner{options: Options{Poll: time.Millisecond}}, 0
		var given []int
		err := a.sweepFound(t.Context(), sweeping{quiet: c.quiet, enough: c.enough, find: func(_, known map[int]process) (map[int]process, error) {
			given = append(given, len(known))
			looks++
			if looks <= len(c.found) && c.found[looks-1] {
				return gone, nil
			}
			return nil, nil
		}})
		if err != nil || looks != c.looks {
			t.Errorf("%+v: %d looks, %v", c, looks, err)
		}
		// Each look is told what the one before has found.
		for i, found := range c.found {
			must.Equal(t, slices.Contains(given[i+1:i+2], 1), found, c, "looks were told of", given)
		}
	}
}
