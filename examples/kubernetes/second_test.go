// This file starts a second controller beside the first.

package kubernetes

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/apportion/apportion/examples/internal/external/externaltest"
)

// second starts another controller as the first was started, under another name, and returns its log.
func (b *bench) second(t *testing.T) string {
	t.Helper()
	pids := externaltest.Processes(b.Dir, "controller")
	if len(pids) != 1 {
		t.Fatalf("%d controllers", len(pids))
	}
	read := func(name string) []string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pids[0], name))
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for part := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte{0}), []byte{0}) {
			list = append(list, string(part))
		}
		return list
	}
	args := append(read("cmdline"), "-identity", "second")
	log, err := os.Create(filepath.Join(b.Dir, "second.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	command := exec.Command(args[0], args[1:]...)
	command.Env, command.Stdout, command.Stderr = read("environ"), log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
	})
	return log.Name()
}

// stand tells the first controller to end, so that it gives the Lease back.
func (b *bench) stand(t *testing.T) {
	t.Helper()
	pids := externaltest.Processes(b.Dir, "controller")
	for _, pid := range pids {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if !bytes.Contains(name, []byte("\x00second\x00")) {
			if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
	}
}
