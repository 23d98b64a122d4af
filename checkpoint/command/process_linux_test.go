//go:build linux

// This file tests which processes belong to a run by their environment.

package command

import (
	"os/exec"
	"testing"
	"time"
)

// An environment names a run wherever the variable stands in it, and no variable whose name only ends alike.
func TestNames(t *testing.T) {
	j := jobFolder(t.TempDir())
	run := EnvRunDir + "=" + string(j.run(7))
	for text, want := range map[string]bool{
		"\x00" + run + "\x00": true, "\x00A=1\x00" + run + "\x00B=2\x00": true, "\x00MY_" + run + "\x00": false, "\x00A=" + run + "\x00": false,
		"\x00A=1\x00": false, "\x00": false,
	} {
		if got := j.names([]byte(text), 7); got != want {
			t.Errorf("%q: %v", text, got)
		}
		if j.names([]byte(text), 6) {
			t.Errorf("%q is of an attempt up to 6", text)
		}
	}
	// What is read of a process begins so.
	leader := exec.Command("/bin/sleep", "60")
	leader.Env = []string{run}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = leader.Process.Kill(); _ = leader.Wait() })
	a := &Runner{}
	// A program that has only just begun has no environment yet.
	for limit := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		found, err := a.members(j, 7, nil, nil)
		if _, ours := found[leader.Process.Pid]; ours && err == nil {
			return
		}
		if err != nil || time.Now().After(limit) {
			t.Fatalf("%v, %v: a process whose first variable names the run is not found", found, err)
		}
	}
}
