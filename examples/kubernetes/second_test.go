// This file starts a second controller beside the first.

package kubernetes

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// second starts another controller as the first was started, under another name and with more flags, and returns its log and what kills
// it.
func (b *bench) second(t *testing.T, flags ...string) (name string, kill func()) {
	t.Helper()
	pids := processes.Of(b.Dir, "controller")
	must.Equal(t, len(pids), 1, "controllers")
	read := func(name string) []string {
		text := must.Have(os.ReadFile(fmt.Sprintf("/proc/%d/%s", pids[0], name)))(t)
		var list []string
		for part := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte{0}), []byte{0}) {
			list = append(list, string(part))
		}
		return list
	}
	args := append(read("cmdline"), append(flags, "-identity", "second")...)
	log := must.Have(os.Create(filepath.Join(b.Dir, "second.log")))(t)
	defer log.Close()
	command := exec.Command(args[0], args[1:]...)
	command.Env, command.Stdout, command.Stderr = read("environ"), log, log
	must.Do(t, command.Start())
	kill = func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
	}
	t.Cleanup(kill)
	return log.Name(), kill
}

// stand tells the first controller to end, so that it gives the Lease back.
func (b *bench) stand(t *testing.T) {
	t.Helper()
	pids := processes.Of(b.Dir, "controller")
	for _, pid := range pids {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if !bytes.Contains(name, []byte("\x00second\x00")) {
			must.Do(t, syscall.Kill(pid, syscall.SIGTERM))
		}
	}
}

// A second controller with a private folder of its own, as each replica of a StatefulSet has one, changes nothing when it never leads:
// what is started after it is served. When it comes to lead it says that it has not what the first has left, and ends.
func TestStandby(t *testing.T) {
	b := newBench(t, "n1")
	b.submit(b.job("a", 4, 1000000, nil))
	b.Holds(map[string]int{"default/a": 4})
	own := []string{"-private", filepath.Join(b.Dir, "own")}
	says := func(log, what string) {
		t.Helper()
		processes.Eventually(b.Bench, "the second says "+what, 90*time.Second, func() bool {
			text, _ := os.ReadFile(log)
			return strings.Contains(string(text), what)
		})
	}
	log, kill := b.second(t, own...)
	says(log, "Attempting to acquire leader lease")
	kill()
	b.submit(b.job("b", 4, 1000000, nil))
	b.Holds(map[string]int{"default/a": 4, "default/b": 4})
	b.delete("a")
	b.Holds(map[string]int{"default/b": 4})
	b.submit(b.job("c", 8, 1000000, nil))
	b.Holds(map[string]int{"default/b": 4, "default/c": 4})
	log, _ = b.second(t, own...)
	says(log, "Attempting to acquire leader lease")
	b.stand(t)
	says(log, "is that of cluster")
	b.Begin()
	b.Holds(map[string]int{"default/b": 4, "default/c": 4})
	b.check()
}
