// This file implements Sharer by reflinks, and by links to files that a lease keeps from being written.

package vfs

import (
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

var _ Sharer = (*OS)(nil)

// Numbers of ioctl(2), fcntl(2) and linkat(2) that package syscall lacks. That of FICLONE is _IOW(0x94, 9, int), which the
// architectures write in two ways.
const (
	ficlone         = 0x40049409
	atFollowSymlink = 0x400
)

var errReadOnly = errors.New("the file is another's, and not written here")

// Clone implements Sharer.
func (o *OS) Clone(from *os.File, name string) (File, error) {
	switch runtime.GOARCH {
	case "amd64", "arm64", "386", "arm", "riscv64", "loong64", "s390x":
	default:
		return nil, unshared(errors.New("the number of FICLONE is another"))
	}
	to, err := o.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return nil, unshared(err)
	}
	err = with(from, func(source uintptr) error {
		return with(to, func(target uintptr) error { return call(syscall.SYS_IOCTL, target, ficlone, source) })
	})
	if err != nil {
		// The file is empty, and nobody else knows of it.
		return nil, unshared(errors.Join(err, to.Close(), o.root.Remove(name)))
	}
	return osFile{to}, nil
}

// Adopt implements Sharer.
func (o *OS) Adopt(from *os.File, name string) (File, error) {
	if err := lonely(from, 1); err != nil {
		return nil, unshared(err)
	}
	// The lease is had only while nobody has the file open for writing, by whatever name, and whoever opens it so waits
	// until the lease is gone.
	if err := with(from, func(fd uintptr) error { return call(syscall.SYS_FCNTL, fd, syscall.F_SETLEASE, syscall.F_RDLCK) }); err != nil {
		return nil, unshared(err)
	}
	adopted, err := o.link(from, name)
	if err != nil {
		return nil, unshared(errors.Join(err, release(from)))
	}
	return adopted, nil
}

// link gives a file that is leased its second name.
func (o *OS) link(from *os.File, name string) (File, error) {
	dir, err := o.root.Open(path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	base, err := syscall.BytePtrFromString(path.Base(name))
	if err != nil {
		return nil, err
	}
	// Files of Go close on exec and are not handed on, so that the number means this file in this process alone.
	err = with(from, func(source uintptr) error {
		// The descriptor and not the name is linked: what was looked at is what gets the name.
		of, err := syscall.BytePtrFromString("/proc/self/fd/" + strconv.FormatUint(uint64(source), 10))
		if err != nil {
			return err
		}
		return with(dir, func(target uintptr) error {
			// The path is absolute, so it does not matter of which directory the first argument is.
			_, _, errno := syscall.Syscall6(syscall.SYS_LINKAT, target, uintptr(unsafe.Pointer(of)), target, uintptr(unsafe.Pointer(base)), atFollowSymlink, 0)
			if errno != 0 {
				return errno
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	// Somebody may have given it a third name before there was a second. The mode is that of all files here.
	file, err := o.root.Open(name)
	if err == nil {
		if err = errors.Join(lonely(from, 2), file.Chmod(filePerm)); err == nil {
			return adoptedFile{file, from}, nil
		}
		err = errors.Join(err, file.Close())
	}
	return nil, errors.Join(err, o.root.Remove(name))
}

// lonely returns an error unless a file is regular, of the user of this process, and has so many names.
func lonely(file *os.File, names uint64) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", file.Name())
	// Its owner could open it again whenever he likes.
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%s is user %d's", file.Name(), stat.Uid)
	case uint64(stat.Nlink) != names:
		return fmt.Errorf("%s has %d names, not %d", file.Name(), stat.Nlink, names)
	}
	return nil
}

// release gives the lease of a file back.
func release(file *os.File) error {
	return with(file, func(fd uintptr) error { return call(syscall.SYS_FCNTL, fd, syscall.F_SETLEASE, syscall.F_UNLCK) })
}

// adoptedFile is a file of two names. It implements File.
type adoptedFile struct {
	*os.File
	// from holds the lease.
	from *os.File
}

func (adoptedFile) Write([]byte) (int, error) { return 0, errReadOnly }

func (f adoptedFile) Flush() { flush(f.File) }

// Sync implements File. It looks at the lease when the bytes are durable: what was read until then is what is there.
func (f adoptedFile) Sync() error {
	if err := f.File.Sync(); err != nil {
		return err
	}
	return with(f.from, func(fd uintptr) error {
		lease, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETLEASE, 0)
		if errno != 0 {
			return errno
		}
		if lease != syscall.F_RDLCK {
			return ErrTouched
		}
		return nil
	})
}

// with calls use with the descriptor of a file, which stays open meanwhile.
func with(file *os.File, use func(fd uintptr) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var used error
	err = conn.Control(func(fd uintptr) { used = use(fd) })
	return errors.Join(err, used)
}

// call is a call of the system that answers with an error or not.
func call(number, a, b, c uintptr) error {
	if _, _, errno := syscall.Syscall(number, a, b, c); errno != 0 {
		return errno
	}
	return nil
}
