// This file implements the control group of a run: of version 2, where one word ends it, or of version 1's freezer, where it is held
// still while it is ended.

package guard

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The files of a control group that say what it can do, and take its orders: of version 2, and of version 1's freezer.
const (
	killFile  = "cgroup.kill"
	stateFile = "freezer.state"
	frozen    = "FROZEN"
	thawed    = "THAWED"
)

// cgroup is a control group that the trainer begins its life in, so that no child of it is ever outside. Nil is none.
type cgroup struct {
	dir  string
	held Containment // Freezer or ControlGroup
}

// newCgroup makes one below a folder; nil where that is not to be had.
func newCgroup(below string) *cgroup {
	if below == "" {
		return nil
	}
	dir, err := os.MkdirTemp(below, "apportion-")
	if err != nil {
		return nil
	}
	g := cgroupIn(dir)
	// A thread that goes into a group of version 1 must be able to come out of it again.
	if g != nil && g.held == Freezer && enter(below) != nil {
		g = nil
	}
	// A group that cannot be ended at once is of no use here: the kernel may be too old, or this be another hierarchy of version 1.
	if g == nil {
		_ = os.Remove(dir)
	}
	return g
}

// cgroupIn returns the control group of a folder; nil: there is none, or none that can be ended at once.
func cgroupIn(dir string) *cgroup {
	if dir == "" {
		return nil
	}
	for file, held := range map[string]Containment{killFile: ControlGroup, stateFile: Freezer} {
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			return &cgroup{dir, held}
		}
	}
	return nil
}

// folder is where the group is; empty: there is none.
func (g *cgroup) folder() string {
	if g == nil {
		return ""
	}
	return g.dir
}

// start starts a command in the group. The goroutine is locked to its thread.
func (g *cgroup) start(cmd *exec.Cmd) error {
	if g == nil {
		return cmd.Start()
	}
	if g.held == Freezer {
		// What a thread starts is in the thread's group. This one must not stay there: it would hold still as well.
		if err := enter(g.dir); err != nil {
			return err
		}
		return errors.Join(cmd.Start(), enter(filepath.Dir(g.dir)))
	}
	dir, err := os.Open(g.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	return cmd.Start()
}

func enter(dir string) error {
	return os.WriteFile(filepath.Join(dir, "tasks"), []byte(strconv.Itoa(syscall.Gettid())), 0)
}

// kill kills all that is in the group. Nothing there can start another meanwhile.
func (g *cgroup) kill() {
	if g == nil {
		return
	}
	if g.held == ControlGroup {
		g.write(killFile, "1")
		return
	}
	// What is killed while it is frozen ends when it thaws, though another has frozen it and was killed before it could go on. What the
	// kernel cannot freeze in a tenth of a second is killed as it is.
	for tries := 0; g.write(stateFile, frozen) && tries < 100; tries++ {
		if state, err := os.ReadFile(filepath.Join(g.dir, stateFile)); err != nil || strings.TrimSpace(string(state)) == frozen {
			break
		}
		time.Sleep(time.Millisecond)
	}
	list, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs")) // it may be gone
	for field := range strings.FieldsSeq(string(list)) {
		// A process of a namespace that this one cannot see has the number 0, which stands for this process' own group.
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended just now
		}
	}
	g.write(stateFile, thawed)
}

// write writes a word into a file of the group, and reports whether that is still there and takes it.
func (g *cgroup) write(file, word string) bool {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(word), 0) == nil
}

// remove removes the group when it is empty, which it is when its last process was waited for, a moment after its end. A folder that is
// not to be removed in 50 ms stays behind, empty.
func (g *cgroup) remove() {
	for tries := 0; g != nil && tries < 50; tries++ {
		if err := os.Remove(g.dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
