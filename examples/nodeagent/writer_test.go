//go:build linux

// This file checks the writers: version 2 on a hierarchy made of files, the others on real processes.

package main

import (
	"bufio"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fakeRoot makes what a mounted hierarchy of version 2 has at its root.
func fakeRoot(t *testing.T, controllers string) string {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "cgroup.controllers"), controllers)
	write(t, filepath.Join(root, "cgroup.subtree_control"), "")
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// unifiedOn returns a writer on a fake hierarchy, without the probe: a real group's folder is removed
// with its files, a fake one's is not.
func unifiedOn(t *testing.T) *unified {
	t.Helper()
	u, _ := newUnified(fakeRoot(t, "cpuset cpu io\n"))
	if u == nil {
		t.Fatal("refused a hierarchy with the cpu controller")
	}
	return u
}

func TestUnifiedWritesCPUMax(t *testing.T) {
	u := unifiedOn(t)
	if err := u.add("a", 4321); err != nil {
		t.Fatal(err)
	}
	group := filepath.Join(u.root, groupName("a"))
	if got := content(t, u.root, "cgroup.subtree_control"); got != "+cpu" {
		t.Errorf("subtree_control %q, want +cpu", got)
	}
	if got := content(t, group, "cgroup.procs"); got != "4321" {
		t.Errorf("procs %q, want 4321", got)
	}
	for _, test := range []struct {
		share float64
		want  string
	}{{0.25, "12500 50000"}, {1, "50000 50000"}, {0.0001, "1000 50000"}} {
		if err := u.limit("a", test.share); err != nil {
			t.Fatal(err)
		}
		if got := content(t, group, "cpu.max"); got != test.want {
			t.Errorf("share %v: cpu.max %q, want %q", test.share, got, test.want)
		}
	}
	for _, file := range []string{"cpu.max", "cgroup.procs"} { // the kernel does this
		if err := os.Remove(filepath.Join(group, file)); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.remove("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(group); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("group is still there: %v", err)
	}
	if err := u.remove("a"); err != nil {
		t.Errorf("removed twice: %v", err)
	}
}

func TestUnifiedRefuses(t *testing.T) {
	if _, err := newUnified(fakeRoot(t, "hugetlb\n")); err == nil || !strings.Contains(err.Error(), "no cpu controller") {
		t.Errorf("hierarchy without cpu: %v", err)
	}
	if _, err := newUnified(filepath.Join(t.TempDir(), "nothing")); err == nil || err.Error() != "not mounted" {
		t.Errorf("no hierarchy: %v", err)
	}
	root := fakeRoot(t, "cpu\n")
	if err := os.Remove(filepath.Join(root, "cgroup.subtree_control")); err != nil {
		t.Fatal(err)
	}
	if _, err := newUnified(root); err == nil {
		t.Error("no error where the controller cannot be handed down")
	}
}

func TestChoose(t *testing.T) {
	if w, _, err := choose("signals"); err != nil || w.close() != nil {
		t.Errorf("signals: %v", err)
	}
	if _, _, err := choose("nothing"); err == nil {
		t.Error("no error for an unknown writer")
	}
	w, notes, err := choose("auto")
	if err != nil {
		t.Fatalf("auto: %v, %v", notes, err)
	}
	t.Logf("%s; %v", w.name(), notes)
	if err := w.close(); err != nil {
		t.Error(err)
	}
}

// spin starts a process that uses all CPU it gets, on the CPU of all tests here.
func spin(t *testing.T) int {
	t.Helper()
	cpu, err := lastCPU()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "train", "100000000", "8", "0.001", "1")
	if err := startOn(cpu, cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// usage measures the share of a CPU that a process uses over a time.
func usage(t *testing.T, pid int, over time.Duration) float64 {
	t.Helper()
	before, err := cpuTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	time.Sleep(over)
	after, err := cpuTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	return float64(after-before) / float64(time.Since(began))
}

// holds checks that a writer holds a process to shares. The process has the CPU with others perhaps, so
// it may use less; more than a twentieth above the limit is a fault.
func holds(t *testing.T, w writer) {
	t.Helper()
	if testing.Short() {
		t.Skip("measures for seconds")
	}
	pid := spin(t)
	if err := w.add("spin", pid); err != nil {
		t.Fatal(err)
	}
	for _, share := range []float64{0.25, 0.75, 0.5} {
		if err := w.limit("spin", share); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		got := usage(t, pid, time.Second)
		t.Logf("%s: limit %.2f, measured %.3f", w.name(), share, got)
		if got > share+0.05 || got < share/4 {
			t.Errorf("%s: limit %v, measured %v", w.name(), share, got)
		}
	}
	if err := w.limit("spin", 1); err != nil {
		t.Fatal(err)
	}
	if got := usage(t, pid, time.Second/2); got < 0.2 {
		t.Errorf("without a limit it uses %v", got)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitUntilGone(t, pid)
	if err := w.remove("spin"); err != nil {
		t.Error(err)
	}
}

// waitUntilGone waits until a killed process is dead; its parent has not waited for it yet.
func waitUntilGone(t *testing.T, pid int) {
	t.Helper()
	for range 500 {
		file, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err != nil {
			return
		}
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			if state, ok := strings.CutPrefix(lines.Text(), "State:\t"); ok && strings.HasPrefix(state, "Z") {
				file.Close()
				return
			}
		}
		file.Close()
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("process does not die")
}

// A group is busy while threads of a killed process still die.
func TestRemovalWaits(t *testing.T) {
	calls := 0
	busy := func() error {
		if calls++; calls < 3 {
			return unix.EBUSY
		}
		return nil
	}
	if err := patiently(busy); err != nil || calls != 3 {
		t.Errorf("%d calls: %v", calls, err)
	}
}

func TestDutyCycleHolds(t *testing.T) {
	d := newDutyCycle()
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	holds(t, d)
}

func TestQuotaHolds(t *testing.T) {
	q, err := newQuota()
	if err != nil {
		t.Skip(err)
	}
	holds(t, q)
	if err := q.close(); err != nil {
		t.Error(err)
	}
}

func TestUnifiedHolds(t *testing.T) {
	u, err := newUnified(unifiedRoots...)
	if err != nil {
		t.Skip(err)
	}
	holds(t, u)
	if err := u.close(); err != nil {
		t.Error(err)
	}
}

// A process that is let go runs on.
func TestDutyCycleContinues(t *testing.T) {
	d := newDutyCycle()
	pid := spin(t)
	if err := d.add("spin", pid); err != nil {
		t.Fatal(err)
	}
	if err := d.limit("spin", 0.001); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	if got := usage(t, pid, 300*time.Millisecond); got < 0.1 {
		t.Errorf("uses %v after it was let go", got)
	}
	if err := d.limit("nobody", 1); err == nil {
		t.Error("no error for an unknown process")
	}
}

// What steer stops and continues, without a clock.
func TestSteerBooks(t *testing.T) {
	pid := spin(t)
	s := &steered{pid: pid, share: 0.5}
	used, err := cpuTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	s.used = used - time.Second // one second more than it may
	s.steer(0)
	if !s.stopped || math.Abs(s.balance.Seconds()+1) > 0.1 {
		t.Fatalf("after a second too much: %+v", s)
	}
	s.steer(4 * time.Second)
	if s.stopped || s.balance != credit {
		t.Errorf("after two seconds of credit: %+v", s)
	}
}
