// This file implements giving files to the user whom a job runs as.

// Package owner hands processes and files over to the user whom a job runs as, for those that start jobs as root.
//
// # Contract
//
// Numbers are those of the system; what stands for everybody and for nobody, root and -1, is refused by those who call. No link
// is ever followed to something that is not the job's own: a job may have put one anywhere it can write.
//
// A job keeps no way back: its processes have no groups but those that were named, and no program makes them more than they are
// (PR_SET_NO_NEW_PRIVS). Linux only; elsewhere nothing can be handed over.
package owner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/durable"
)

// Passed is the mode of directories on the way to what is a job's: whoever knows a name may pass, and nobody can list them.
const Passed = 0o711

// Pass makes a directory, with those above it that are missing, and lets jobs pass through it. The directories above are passed
// only as far as they let one: they are the caller's who made them.
func Pass(dir string) error {
	if err := os.MkdirAll(dir, Passed); err != nil {
		return err
	}
	// The process' mask may have taken the rights away, and a directory from before may never have had them.
	return os.Chmod(dir, Passed)
}

// Folder makes a directory that a user owns and nobody else can read, or hands one over that is there. Its parent must not be
// the user's: a link there would be handed over in its place.
func Folder(dir string, uid, gid uint32) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Lchown(dir, int(uid), int(gid))
}

// Tree hands a directory over with all that is in it, links themselves and not what they name. O(entries).
func Tree(dir string, uid, gid uint32) error {
	// Whoever owns the tree may change it while it is walked. A root opens nothing outside of it, whatever a link names by then.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return root.Lchown(filepath.FromSlash(name), int(uid), int(gid))
	})
}

// ReplaceFile is durable.ReplaceFile for a file that a user is to read: it is the user's before it has its name, so that no
// reader ever finds one that it may not open.
func ReplaceFile(name string, data []byte, uid, gid uint32) error {
	disk, err := vfs.NewOS(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(durable.Replace(&given{disk, int(uid), int(gid)}, filepath.Base(name), data), disk.Close())
}

// given is a directory in which all new files belong to a user.
type given struct {
	*vfs.OS
	uid, gid int
}

// Create implements vfs.FS. The open file is handed over and not its name, which could be another's by now.
func (g *given) Create(name string) (vfs.File, error) {
	f, err := g.OS.Create(name)
	if err != nil {
		return nil, err
	}
	// The interface of a file system has no owners, and every file of the operating system has this method.
	if file, ok := f.(interface{ Chown(uid, gid int) error }); ok {
		err = file.Chown(g.uid, g.gid)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
