//go:build unix

// This file runs the daemons of a cluster as processes of a test.

package processes

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// Group are those of a cluster, by name, in a folder of their own. All that they have started ends with the test. Several may be
// killed and started at the same time.
// A cluster manager's daemons start processes that outlive them, which is what the tests are about; so the
// folder's cleaning finds these by a variable of their environment.
type Group struct {
	testing.TB
	Dir string

	mu sync.Mutex
	// mu guards it: faults come from several goroutines.
	running map[string]*exec.Cmd
}

// New makes the folder, with a name like this.
// The path of the folder is short, since sockets in it may have 108 bytes only.
func New(t testing.TB, name string) *Group {
	t.Helper()
	d := &Group{TB: t, Dir: folder(t, name), running: map[string]*exec.Cmd{}}
	// Before the folder is cleaned, which kills what they leave behind.
	// Cleanups run in the reverse order: this one before that of folder.
	t.Cleanup(func() {
		for _, cmd := range d.running {
			_ = cmd.Process.Kill() // it may be dead
			_ = cmd.Wait()
		}
	})
	return d
}

// Write writes a file of the folder.
// Folders on the way to it are made.
func (d *Group) Write(name, text string, mode os.FileMode) {
	d.Helper()
	name = filepath.Join(d.Dir, name)
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		// A file that is there keeps its mode.
		err = os.WriteFile(name, []byte(text), mode)
	}
	if err != nil {
		d.Fatal(err)
	}
}

// Start starts a daemon, which may have been there before. Its log is the file log/NAME.
// It returns when the process has begun, and not when the daemon answers: a caller that needs that waits by
// Eventually.
func (d *Group) Start(name, program string, args ...string) {
	d.Helper()
	file := filepath.Join(d.Dir, "log", name)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	var log *os.File
	if err == nil {
		// One log for all lives of a daemon.
		log, err = os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	if err != nil {
		d.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	// The mark by which all that it has started is found at the end: some of that has no path in its command.
	cmd.Env = append(os.Environ(), "APPORTION_TEST_CLUSTER="+d.Dir+"/")
	if err := cmd.Start(); err != nil {
		d.Fatal(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running[name] = cmd
}

// Kill kills a daemon. What it has started lives on.
// It waits until the process is gone, so that its port and its files are free.
func (d *Group) Kill(name string) {
	d.Helper()
	d.mu.Lock()
	cmd := d.running[name]
	d.mu.Unlock()
	if err := cmd.Process.Kill(); err != nil {
		d.Error(err)
	}
	_ = cmd.Wait() // it was killed
}

// built are the programs that this process has built, by folder, package and CGO_ENABLED: to link one takes seconds of a processor.
var built sync.Map

// Build builds a program of a package into a folder, in the module that it belongs to, hence from, and returns its path.
// A program that this process has built before is written again: sources do not change under a test.
func Build(t testing.TB, dir, name, from, pkg string) string {
	t.Helper()
	program := filepath.Join(dir, name)
	key := [3]string{from, pkg, os.Getenv("CGO_ENABLED")}
	if bytes, ok := built.Load(key); ok {
		// A program cannot be started while any process has it open to write, so that none may be forked meanwhile.
		syscall.ForkLock.RLock()
		err := os.WriteFile(program, bytes.([]byte), 0o755)
		syscall.ForkLock.RUnlock()
		if err != nil {
			t.Fatal(err)
		}
		return program
	}
	build := exec.Command("go", "build", "-o", program, pkg)
	build.Dir = from
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if bytes, err := os.ReadFile(program); err == nil {
		built.Store(key, bytes)
	}
	return program
}
