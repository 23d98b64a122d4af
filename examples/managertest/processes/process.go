//go:build unix

// This file finds and kills processes, and gives tests ports and folders.

// Package processes runs programs under test as processes that are started, frozen and killed, and cleans up after them.
package processes

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Eventually waits until something is so, and ends the test if that takes longer than the limit.
// It is how every test here waits: for a condition and never for a time. The limit is for a machine that is
// busy.
func Eventually(t testing.TB, what string, limit time.Duration, is func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// block is how many ports FreePorts has to give at once.
// A cluster takes up to a few dozen.
const block = 50

// FreePorts returns the first of n ports in a row, at most a block, that are free now, below those that the system gives
// out by itself. Nobody else who asks here is given them until the test has ended: between now and the start of a daemon
// they are free for everybody.
func FreePorts(t testing.TB, n int) int {
	t.Helper()
	// From 14000 to 32000, below Linux' default of 32768.
	const low, blocks = 14000, 360
	for i := range blocks {
		first := low + (os.Getpid()+i)%blocks*block
		lock, err := os.OpenFile(filepath.Join(os.TempDir(), "apportion-ports-"+strconv.Itoa(first)), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		// The lock is among processes of this machine that use this function; the ports themselves are
		// tried as well.
		if n <= block && syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && areFree(first, n) {
			t.Cleanup(func() { _ = lock.Close() }) // which unlocks it
			return first
		}
		_ = lock.Close() // somebody else has it
	}
	t.Fatalf("there are no %d free ports", n)
	return 0
}

// areFree reports whether nobody listens on ports.
// Others may take one right after it.
func areFree(first, n int) bool {
	for p := first; p < first+n; p++ {
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(p))
		if err != nil {
			return false
		}
		_ = l.Close() // it was free
	}
	return true
}

// Of returns the numbers of those whose command begins with a program of this name in a folder.
// It reads /proc, since a daemon's children are not children of the test.
// They must have been started by that path in full.
func Of(dir, program string) []int {
	return matching(func(line, _ []byte) bool { return bytes.HasPrefix(line, []byte(filepath.Join(dir, program)+"\x00")) })
}

// matching returns the numbers of those whose command and environment are as is says.
// Processes of other users, whose environment cannot be read, do not count.
func matching(is func(line, env []byte) bool) []int {
	var found []int
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		pid, _ := strconv.Atoi(filepath.Base(folder))
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(folder, "environ"))
		if pid != os.Getpid() && is(line, env) {
			found = append(found, pid)
		}
	}
	return found
}

// killAll kills every process that has a folder in its command or environment, until there is none; and unmounts what was
// mounted there.
// A process that is killed may have started another in between, hence the rounds; two seconds are enough
// for all that was seen.
func killAll(dir string) {
	mark := []byte(strings.TrimSuffix(dir, "/") + "/")
	for range 40 {
		left := matching(func(line, env []byte) bool { return bytes.Contains(line, mark) || bytes.Contains(env, mark) })
		if len(left) == 0 {
			break
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		time.Sleep(50 * time.Millisecond)
	}
	mounts, _ := os.ReadFile("/proc/mounts")
	for line := range strings.SplitSeq(string(mounts), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], string(mark)) {
			_ = syscall.Unmount(fields[1], 0) // nothing uses it any more
		}
	}
}

// folder is a new folder with a short name, since the sockets of daemons have paths of at most 107 bytes. What is left of
// its processes ends with the test; the folder stays if the test has failed.
// Its cleaning is the last that runs, as it is the first that was registered.
// name begins its name, and the rest is drawn.
func folder(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		killAll(dir)
		if t.Failed() {
			t.Logf("logs are in %s", dir)
			return
		}
		_ = os.RemoveAll(dir) // what is left there is small
	})
	return dir
}
