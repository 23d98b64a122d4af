// This file implements what a runner that is root hands over to the user whom a job runs as, and what it takes back.

package command

import (
	"os"
	"os/exec"

	"github.com/apportion/apportion/checkpoint/internal/owner"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// handOver gives the user of the job what its processes write and read: the run's own folder, its directory for checkpoints, and the
// copy of the one that it begins from. The folders above are passed and not listed. The run's folder itself, with the records by which
// the runner knows whom to end, lets the user's group pass alone. Nothing is done where processes run as the runner does.
func (a *Runner) handOver(run *runner.Run, folder runFolder) error {
	u := a.options.User
	if u == nil {
		return nil
	}
	// A path that is given to a process can be opened only if all folders on the way let its user pass.
	for _, dir := range []string{a.commands.Work, string(a.folder(run.Job))} {
		if err := owner.Pass(dir); err != nil {
			return err
		}
	}
	// The group changes first, so that the new mode never lets another one pass.
	if err := os.Chown(string(folder), -1, int(u.GID)); err != nil {
		return err
	}
	if err := os.Chmod(string(folder), 0o710); err != nil {
		return err
	}
	for _, dir := range []string{folder.own(), run.Dir} {
		if err := owner.Folder(dir, u.UID, u.GID); err != nil {
			return err
		}
	}
	if run.Restore == "" {
		return nil
	}
	return owner.Tree(run.Restore, u.UID, u.GID)
}

// launch starts a process: as the job's user, without a way to become anybody else, unless it has a guard, which does that itself.
// The attributes of cmd must be there, see ownGroup.
func (a *Runner) launch(cmd *exec.Cmd) error {
	u := a.options.User
	if u == nil || len(a.options.Guard) > 0 {
		return cmd.Start()
	}
	owner.Attributes(cmd.SysProcAttr, u.UID, u.GID, u.Groups)
	return owner.Start(cmd.Start)
}

// readable replaces a file that the processes of a job read.
// It is not durable, since whoever reads the file ends with the machine.
func (a *Runner) readable(name string, data []byte) error {
	if u := a.options.User; u != nil {
		return owner.ReplaceFile(name, data, u.UID, u.GID)
	}
	return vfs.ReplaceFile(name, data)
}

// owned refuses files of a checkpoint that are not the job's own. Its user may have given another's file a name in the directory, which
// the runner could read and the job could not, and would get it back with the checkpoint.
func (s *saving) owned(files []string) error {
	if s.options.User == nil {
		return nil
	}
	return owner.Owns(s.run.Dir, files, s.options.User.UID)
}
