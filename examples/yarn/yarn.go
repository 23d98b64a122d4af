//go:build unix

// This file declares the cluster as the controller remembers it between two looks.

package yarn

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
)

// yarn is a YARN cluster as the controller sees it. It implements daemon.Cluster.
// Nothing of a run is remembered here alone: the holder and the numbers that YARN keeps with containers say what was asked for, so
// that a controller that is killed is followed by one that knows as much.
//
// What the next one finds, jobs and folder being those below:
//
//	jobs/NAME.json    what a user wants; the file's owner is who, its time tells submissions of one name apart
//	jobs/over/        the files of jobs that have ended
//	folder/instance   the tag of this controller's applications
//	folder/tokens/    what a holder registers with, for the next holder
//	masters/ID/       orders to the master of a user's own application, and what it answers
type yarn struct {
	// conf is Hadoop's configuration, manager answers reads by the web services, and guard says how the processes of a run are guarded.
	conf    conf
	kinds   apportion.Kinds
	manager *manager
	guard   daemon.Guarded
	// jobs is the folder of the jobs, and folder that of what must be remembered.
	jobs, folder string
	// holder holds the applications, all of which have the tag instance, and masters are those of users that follow; nil: a
	// dry run.
	holder   *holder
	instance string
	masters  *masters

	// mu guards the rest, which a look writes and the agents' calls read.
	mu sync.Mutex
	// stamps are those of the jobs that were submitted, by name.
	stamps map[string]string
	// followed are the applications of jobs whose masters follow, by name.
	followed map[string]string
	// least is what YARN's grants are multiples of; nil: it was not asked yet.
	least apportion.Resources
}

var _ daemon.Cluster = (*yarn)(nil)

// newYARN returns a cluster that can be read and not changed: without a holder nothing is asked of YARN.
func newYARN(c conf, g daemon.Guarded) *yarn {
	return &yarn{conf: c, kinds: c.kinds(), manager: newManager(c.addresses()), guard: g, stamps: map[string]string{}, followed: map[string]string{}}
}

// keep keeps what must be remembered in a folder, and has a holder started by a command when one is needed.
// It makes the folders and reads the tag, and starts nothing yet. The folder of the masters is one
// that all nodes see.
func (y *yarn) keep(folder, command string) error {
	y.folder = folder
	y.masters = &masters{folder: filepath.Join(y.guard.Shared, "masters")}
	if err := errors.Join(makeJobs(y.jobs), os.MkdirAll(y.masters.folder, 0o755)); err != nil {
		return err
	}
	instance, err := instanceIn(filepath.Join(folder, "instance"))
	if err != nil {
		return err
	}
	// It is for a cluster whose client is where Hadoop puts it.
	command = cmp.Or(command, holderCommand)
	y.instance, y.holder = instance, newHolder(command, instance, filepath.Join(folder, "tokens"))
	return nil
}

// makeJobs makes the folder of the jobs, into which everybody may put files and nobody change those of others, and in it the
// folder for those that have ended. A folder that is there keeps its mode: it may be for a group alone.
func makeJobs(folder string) error {
	err := os.Mkdir(folder, 0o700)
	switch {
	case err == nil:
		// The sticky bit is what keeps users apart. No mask of this program's takes a bit away.
		err = errors.Join(os.Mkdir(filepath.Join(folder, over), 0o755), os.Chmod(folder, 0o777|os.ModeSticky))
	case errors.Is(err, fs.ErrExist):
		err = os.MkdirAll(filepath.Join(folder, over), 0o755)
	}
	if err != nil {
		return err
	}
	// A user who was first would have the files of all others.
	info, err := os.Lstat(filepath.Join(folder, over))
	if err != nil {
		return err
	}
	if stat, isStat := info.Sys().(*syscall.Stat_t); isStat && (!info.IsDir() || int(stat.Uid) != os.Geteuid()) {
		return fmt.Errorf("%s is not this program's: remove it", filepath.Join(folder, over))
	}
	return nil
}
