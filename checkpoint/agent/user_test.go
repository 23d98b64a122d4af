//go:build linux

// This file tests an agent whose jobs run as users of their own, with real processes, a real store and a book on a disk.

package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store/files"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
)

// A job of another user than the agent's goes from attempt to attempt with its checkpoint, and can read neither book nor store nor what
// the runner keeps, as the library makes them; the folders of jobs let it pass and do not let it look around.
func TestJobsOfOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts processes of another user")
	}
	// The folders of package testing are closed to others.
	dir, err := os.MkdirTemp("", "agent-user-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	must.Do(t, err)
	b := newBench(t)
	p := &processes{bench: b, work: filepath.Join(dir, "work")}
	t.Cleanup(func() { p.end(t); os.RemoveAll(dir) })
	join := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, name := range []string{"book", "store", "shared"} {
		// Open to all: what lies there is closed by itself.
		must.Do(t, errors.Join(os.Mkdir(join(name), 0o755), os.Chmod(join(name), 0o755)))
	}
	disk := must.Have(vfs.NewOS(join("book")))(t)
	b.config.Disk, b.config.Shared, b.config.Restored = disk, join("shared"), join("restored", "here")
	b.config.Store = must.Have(files.Open(join("store"), nil))(t)
	b.config.Lease = time.Hour
	user := command.User{UID: 64101, GID: 64102}
	b.config.Runner = func(string, json.RawMessage) (runner.Runner, error) {
		return command.New(command.Commands{Start: []string{"sh", "-c", scriptOfUser(join)}, Work: p.work}, &command.Options{Node: "here", User: &user})
	}
	b.restart()
	for attempt := int64(1); attempt <= 2; attempt++ {
		b.must(checkpoint.Create, attempt, 0)
		b.must(checkpoint.Resume, attempt, attempt-1)
		b.must(checkpoint.Confirm, attempt, 0)
		b.must(checkpoint.Save, attempt, attempt)
		b.must(checkpoint.Stop, attempt, 0)
	}
	text, err := os.ReadFile(join("shared", "lr", "2", "state"))
	if got := strings.Fields(string(text)); err != nil || len(got) != 2 || got[0] != "64101" || got[1] != "64101" {
		t.Errorf("the second attempt has learnt %q, %v: want both attempts' user", text, err)
	}
	for _, attempt := range []string{"1", "2"} {
		if could, _ := os.ReadFile(join("shared", "lr", attempt, "could")); len(could) > 0 {
			t.Errorf("attempt %s could read:\n%s", attempt, could)
		}
	}
	for name, want := range map[string]os.FileMode{"shared/lr": 0o711, "shared/lr/2": 0o700, "restored/here": 0o711, "restored/here/lr": 0o711, "restored/here/lr/2": 0o700} {
		info, err := os.Stat(join(name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
			continue
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; (owner == user.UID) != (want == 0o700) {
			t.Errorf("%s belongs to %d", name, owner)
		}
	}
	must.Have(agent.OpenBook(b.config.Disk, "here"))(t)
	must.Do(t, disk.Close())
}

// scriptOfUser is a trainer that adds its user to what it begins from, tries to read what is the agent's, and saves.
func scriptOfUser(join func(...string) string) string {
	// Both containers here are started with it, and one of them writes.
	return fmt.Sprintf(`[ "$APPORTION_RANK" = 0 ] || exec sleep 300
cd "$APPORTION_CHECKPOINT_DIR"
for name in %s; do find $name -type f -exec cat {} + 2>/dev/null | grep -q . && echo $name >> could; done
{ [ -n "$APPORTION_RESTORE_DIR" ] && cat "$APPORTION_RESTORE_DIR/state"; id -u; } > state
while :; do
	if read -r n 2>/dev/null < "$APPORTION_SAVE_REQUEST"; then
		echo "{\"request\": $n, \"files\": [\"state\"]}" > "$APPORTION_SAVE_ACK.tmp"
		mv "$APPORTION_SAVE_ACK.tmp" "$APPORTION_SAVE_ACK"
	fi
	sleep 0.02
done`, strings.Join([]string{join("book"), join("store"), join("shared", "other"), join("work")}, " "))
}
