// This file implements what a fleet hands over to the user of a run before it starts: folders, and what its guards sign with.

package managed

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/internal/owner"
	"github.com/apportion/apportion/checkpoint/store"
)

// What lies in the shared folder, and the file in the folder of a run with the credential of its guards.
const (
	runsFolder     = "runs"
	restoredFolder = "restored"
	credentialName = "guard.credential"
)

// fetch fetches the checkpoint that a run begins from, once for all its servers.
func (f *Fleet) fetch(ctx context.Context, s store.Store, job string, number int64, dir string) error {
	r := f.runOf(job, dir)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fetched {
		return nil
	}
	_, err := store.Load(ctx, s, job, number, dir)
	r.fetched = err == nil
	return err
}

// handOver gives the user of a run its folders and the credential of its guards. Nothing of the run is started before, and what was
// handed over once stays the user's: a server that is asked for later changes nothing. The caller holds the run's lock.
func (f *Fleet) handOver(t *Task) error {
	u := ownerOf(t.User)
	if t.User != nil {
		// Root by name is nobody's user, also where this program is root.
		if err := u.Validate(); err != nil {
			return err
		}
	}
	credential, err := json.Marshal(f.config.Secret.Credential(guard.Party(t.Job, t.Attempt)))
	if err != nil {
		return err
	}
	if t.User != nil && u.UID != uint32(os.Geteuid()) {
		if err := errors.Join(u.Possible(), f.giveFolders(t, u)); err != nil {
			return err
		}
	}
	return owner.ReplaceFile(t.Credential, credential, u.UID, u.GID)
}

// giveFolders gives a user the folders of a run; those above are passed and not listed.
func (f *Fleet) giveFolders(t *Task, u command.User) error {
	for _, name := range []string{runsFolder, restoredFolder} {
		if err := owner.Pass(filepath.Join(f.config.Shared, name)); err != nil {
			return err
		}
	}
	if err := owner.Folder(t.Dir, u.UID, u.GID); err != nil || t.Restore == "" {
		return err
	}
	return owner.Tree(t.Restore, u.UID, u.GID)
}
