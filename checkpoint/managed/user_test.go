//go:build linux

// This file tests runs of ordinary users, below a fleet that is root's.

package managed_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
	"github.com/apportion/apportion/internal/must"
)

// ann is a user that the system need not know.
var ann = &command.User{UID: 64301, GID: 64302}

// asRoot skips a test where files cannot be given away.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
}

func TestSuiteOfUser(t *testing.T) {
	asRoot(t)
	suite(t, ann)
}

// What is handed over is the user's and nobody else's; what lies above is passed and not listed.
func TestHandedOver(t *testing.T) {
	asRoot(t)
	b := newBench(t)
	b.SetUser(ann, nil)
	b.start()
	for name, want := range map[string]struct {
		mode fs.FileMode
		uid  uint32
	}{"runs": {0o711, 0}, "runs/lr": {0o711, 0}, "runs/lr/1": {0o700, ann.UID}, "runs/lr/1/guard.credential": {0o600, ann.UID}} {
		info := must.Have(os.Lstat(filepath.Join(b.config.Shared, name)))(t)
		if uid := info.Sys().(*syscall.Stat_t).Uid; info.Mode().Perm() != want.mode || uid != want.uid {
			t.Errorf("%s is %v of %d, want %v of %d", name, info.Mode(), uid, want.mode, want.uid)
		}
	}
	b.Each("lr", func(c *managedtest.Container) {
		if c.Fault != nil {
			t.Error(c.Fault)
		}
	})
}

// Where the user is not known, or cannot be given anything, nothing is started.
func TestUserIsRefused(t *testing.T) {
	b := newBench(t)
	b.SetUser(nil, errors.New("nobody knows whose it is"))
	b.done(7, checkpoint.Create)
	refused := func(why string) {
		t.Helper()
		if r := b.do(checkpoint.Resume, 7, nil); r.Outcome != checkpoint.Failed || !strings.Contains(r.Detail, why) || b.Starts("lr", 7) != 0 {
			t.Errorf("%+v, %d starts, want %s", r, b.Starts("lr", 7), why)
		}
	}
	refused("nobody knows whose it is")
	for _, root := range []command.User{{UID: 0, GID: 5}, {UID: 5, GID: 0}, {UID: 5, GID: 5, Groups: []uint32{0}}} {
		b.SetUser(&root, nil)
		refused("never runs as root")
	}
	if os.Geteuid() != 0 {
		b.SetUser(ann, nil)
		refused("only root")
	}
}

// A save with a file that is not the user's own makes no checkpoint: the user could not read it, and would be given it.
func TestUserSavesItsOwnOnly(t *testing.T) {
	asRoot(t)
	b := newBench(t)
	b.SetUser(ann, nil)
	b.start()
	secret := filepath.Join(b.config.Shared, "secret")
	must.Do(t, errors.Join(os.WriteFile(secret, []byte("secret"), 0o600), os.Link(secret, filepath.Join(b.config.Shared, "runs/lr/1/state-1"))))
	b.Each("lr", func(c *managedtest.Container) { c.Mute = true })
	save := func(e *checkpoint.Effect) { e.Checkpoint = 1 }
	linked := make(chan checkpoint.Reply, 1)
	go func() { linked <- b.do(checkpoint.Save, 1, save) }()
	// The trainer acknowledges another's file, by a link of the hard sort, which no root folder keeps out.
	b.eventually("it is asked to save", func() bool {
		asked := false
		b.Each("lr", func(c *managedtest.Container) {
			step := int64(1)
			c.State.Checkpoint = &command.Acknowledgement{Request: 9, Step: &step, Files: []string{"state-1"}}
			asked = true
		})
		return asked
	})
	if r := b.take("the save", linked); r.Outcome == checkpoint.Done {
		t.Errorf("another's file %s was saved: %+v", secret, r)
	}
}
