// This file implements Load, and the copying of contents.

package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

// Permissions of what Load creates: checkpoints hold what a model has learnt.
const (
	// Nobody but the job's own user reads or lists them.
	filePerm = 0o600
	dirPerm  = 0o700
)

// blockBytes is the size of the buffer that contents stream through.
const blockBytes = 1 << 20

// Load writes a stored checkpoint into the new directory dir, whose parent exists. If dir exists, it is
// replaced. What loads into directories beside it have left whose processes have died is removed, where the file system has locks.
// O(bytes).
func Load(ctx context.Context, s Store, job string, number int64, dir string) (Manifest, error) {
	manifest, err := load(ctx, s, job, number, dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("load job %q, checkpoint %d: %w", job, number, err)
	}
	return manifest, nil
}

// load fills a new directory beside dir and renames it at the end: who finds dir finds all of it. Nothing is
// synced, for what a crash of the machine destroys is loaded again before any job begins from it.
func load(ctx context.Context, s Store, job string, number int64, dir string) (Manifest, error) {
	// It lies beside dir, on the same file system, so that the rename is one step.
	temporary, lock, err := beginLoading(filepath.Dir(dir))
	if err != nil {
		return Manifest{}, err
	}
	defer lock.Close()
	defer os.RemoveAll(temporary)
	root, err := os.OpenRoot(temporary)
	if err != nil {
		return Manifest{}, err
	}
	defer root.Close()
	manifest, err := each(ctx, s, job, number, func(name string, part io.Reader) error {
		return loadFile(ctx, root, name, part)
	})
	if err != nil {
		return Manifest{}, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return Manifest{}, err
	}
	return manifest, os.Rename(temporary, dir)
}

// loadFile streams one part into a new file, and makes the directories above it.
func loadFile(ctx context.Context, root *os.Root, name string, part io.Reader) error {
	if err := CheckPart(name); err != nil { // a store of somebody else's
		return err
	}
	if folder := path.Dir(name); folder != "." {
		if err := root.MkdirAll(filepath.FromSlash(folder), dirPerm); err != nil {
			return err
		}
	}
	// EXCL: two parts of one name, or a link that somebody has put there, are an error and not a file that
	// is written twice.
	file, err := root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	return errors.Join(copyTo(ctx, file, part), file.Close())
}

// each opens a checkpoint and gives its parts, in their order, to use.
func each(ctx context.Context, s Store, job string, number int64, use func(name string, part io.Reader) error) (Manifest, error) {
	reader, err := s.Open(ctx, job, number)
	if err != nil {
		return Manifest{}, err
	}
	defer reader.Close()
	manifest := reader.Manifest()
	for _, listed := range manifest.Parts {
		part, err := reader.Part(listed.Name)
		if err != nil {
			return Manifest{}, fmt.Errorf("part %q: %w", listed.Name, err)
		}
		if err := errors.Join(use(listed.Name, part), part.Close()); err != nil {
			return Manifest{}, fmt.Errorf("part %q: %w", listed.Name, err)
		}
	}
	return manifest, nil
}

// copyTo copies to the end of from and stops when the context ends.
func copyTo(ctx context.Context, to io.Writer, from io.Reader) error {
	buffer := make([]byte, blockBytes)
	// The struct hides ReadFrom, which would bypass the buffer and with it the look at the context.
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, untilDone{ctx, from}, buffer)
	return err
}

// untilDone is a reader that ends with its context.
type untilDone struct {
	ctx  context.Context
	from io.Reader
}

// Read implements io.Reader. It looks at the context before each block.
func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.from.Read(p)
}
