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
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/apportion/apportion/checkpoint/vfs"
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

// Tree hands a directory over with all that is in it, links themselves and not what they name, and itself last: nobody else can
// change what is in it until all of it is handed over. One that is the user's already is left as it is. O(entries).
func Tree(dir string, uid, gid uint32) error {
	// Whoever owns the tree may change it while it is walked. A root opens nothing outside of it, whatever a link names by then.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	top, err := root.Lstat(".")
	if err != nil {
		return err
	}
	if owner, known := Of(top); known && owner == uid {
		return nil
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		return root.Lchown(filepath.FromSlash(name), int(uid), int(gid))
	})
	if err != nil {
		return err
	}
	return root.Lchown(".", int(uid), int(gid))
}

// Owns refuses files below a directory that are not a user's own. The user may have given another's file a name there, which
// whoever is root could read and the user could not.
func Owns(dir string, files []string, uid uint32) error {
	// Below an open root no link leads out of the directory, whatever the user does meanwhile.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range files {
		info, err := root.Stat(name)
		if err != nil {
			return err
		}
		if owner, known := Of(info); !known || owner != uid {
			return fmt.Errorf("%s belongs to another user than the job runs as: %w", name, os.ErrPermission)
		}
	}
	return nil
}

// ReplaceFile is vfs.ReplaceFile for a file that a user is to read: it is the user's before it has its name, so that no
// reader ever finds one that it may not open. No link in its place is followed, also in a folder of the user's.
func ReplaceFile(name string, data []byte, uid, gid uint32) error {
	return replace(name, data, func(f file) error { return f.Chown(int(uid), int(gid)) })
}

// ReplaceScript is ReplaceFile for one that the user may run as well.
func ReplaceScript(name string, data []byte, uid, gid uint32) error {
	return replace(name, data, func(f file) error { return errors.Join(f.Chown(int(uid), int(gid)), f.Chmod(0o700)) })
}

// replace replaces a file with one that was handed over by give.
func replace(name string, data []byte, give func(file) error) error {
	disk, err := vfs.NewOS(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(vfs.Replace(&given{disk, give}, filepath.Base(name), data), disk.Close())
}

// file is what every file of the operating system is; the interface of a file system has no owners.
type file interface {
	Chown(uid, gid int) error
	Chmod(mode fs.FileMode) error
}

// given is a directory in which all new files are handed over.
type given struct {
	*vfs.OS
	give func(file) error
}

// Create implements vfs.FS. The open file is handed over and not its name, which could be another's by now.
func (g *given) Create(name string) (vfs.File, error) {
	f, err := g.OS.Create(name)
	if err != nil {
		return nil, err
	}
	if err := g.give(f.(file)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
