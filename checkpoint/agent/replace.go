package agent

import (
	"errors"
	"io/fs"

	"github.com/apportion/apportion/checkpoint/vfs"
)

// replace is to become internal/durable.
func replace(fsys vfs.FS, name string, data []byte) error {
	temporary := name + ".new"
	if err := fsys.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := fsys.Create(temporary)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := fsys.Rename(temporary, name); err != nil {
		return err
	}
	return fsys.SyncDir(".")
}
