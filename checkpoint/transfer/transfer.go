// This file implements the transfers that copy: Save and Load.

package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/regular"
)

// Permissions of what Load creates: checkpoints hold what a model has learnt.
const (
	// Nobody but the job's own user reads or lists them.
	filePerm = 0o600
	dirPerm  = 0o700
)

// blockBytes is the size of the buffer that contents stream through.
const blockBytes = 1 << 20

// Save copies the files of a saved state into the store as checkpoint number of job and commits it. Each
// file becomes the part of its name. O(bytes).
func Save(ctx context.Context, s store.Store, job string, number int64, saved runner.Saved) (store.Manifest, error) {
	// The words are put around the error in one place, so each names job and checkpoint once.
	manifest, err := save(ctx, s, job, number, saved)
	if err != nil {
		return store.Manifest{}, fmt.Errorf("save job %q, checkpoint %d: %w", job, number, err)
	}
	return manifest, nil
}

// save writes part after part, each file as it is found, and commits them together. What goes wrong before
// the commit leaves nothing visible.
func save(ctx context.Context, s store.Store, job string, number int64, saved runner.Saved) (store.Manifest, error) {
	// The root keeps the names, which a job may have chosen, inside of its directory.
	root, err := os.OpenRoot(saved.Dir)
	if err != nil {
		return store.Manifest{}, err
	}
	defer root.Close()
	writer, err := s.Begin(ctx, job, number)
	if err != nil {
		return store.Manifest{}, err
	}
	// In the order of the list: the same files give the same manifest, which makes a repeated Save succeed.
	for _, name := range saved.Files {
		if err := saveFile(ctx, root, writer, name); err != nil {
			return store.Manifest{}, errors.Join(err, writer.Abort())
		}
	}
	manifest, err := writer.Commit()
	if err != nil {
		return store.Manifest{}, errors.Join(err, writer.Abort())
	}
	return manifest, nil
}

// saveFile streams one file into a part of its name.
func saveFile(ctx context.Context, root *os.Root, writer store.Writer, name string) error {
	// The file is opened first: a name that is missing must not leave a part that is open.
	// The job may have swapped it since it was acknowledged, for a pipe that nobody writes to.
	file, err := regular.OpenIn(root, filepath.FromSlash(name))
	if err != nil {
		return err
	}
	defer file.Close()
	part, err := writer.Part(name)
	if err != nil {
		return err
	}
	if err := stream(ctx, part, file); err != nil {
		return fmt.Errorf("part %q: %w", name, errors.Join(err, part.Close()))
	}
	// The error of Close counts: it is where a store makes the part durable.
	return part.Close()
}

// Load writes a stored checkpoint into the new directory dir, whose parent exists. If dir exists, it is
// replaced. O(bytes).
func Load(ctx context.Context, s store.Store, job string, number int64, dir string) (store.Manifest, error) {
	manifest, err := load(ctx, s, job, number, dir)
	if err != nil {
		return store.Manifest{}, fmt.Errorf("load job %q, checkpoint %d: %w", job, number, err)
	}
	return manifest, nil
}

// load fills a new directory beside dir and renames it at the end: who finds dir finds all of it. Nothing is
// synced, for what a crash of the machine destroys is loaded again before any job begins from it.
func load(ctx context.Context, s store.Store, job string, number int64, dir string) (store.Manifest, error) {
	// It lies beside dir, on the same file system, so that the rename is one step.
	temporary, err := os.MkdirTemp(filepath.Dir(dir), ".loading-")
	if err != nil {
		return store.Manifest{}, err
	}
	// After the rename there is nothing of that name, and this removes nothing.
	defer os.RemoveAll(temporary)
	root, err := os.OpenRoot(temporary)
	if err != nil {
		return store.Manifest{}, err
	}
	defer root.Close()
	manifest, err := each(ctx, s, job, number, func(name string, part io.Reader) error {
		return loadFile(ctx, root, name, part)
	})
	if err != nil {
		return store.Manifest{}, err
	}
	// What an interrupted Load left, or an earlier attempt, goes.
	if err := os.RemoveAll(dir); err != nil {
		return store.Manifest{}, err
	}
	// The rename is the last step, and the one that makes the directory count.
	return manifest, os.Rename(temporary, dir)
}

// loadFile streams one part into a new file, and makes the directories above it.
func loadFile(ctx context.Context, root *os.Root, name string, part io.Reader) error {
	if err := store.CheckPart(name); err != nil { // a store of somebody else's
		return err
	}
	if folder := path.Dir(name); folder != "." {
		// Names of parts have slashes on every system; files have what the system wants.
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
	return errors.Join(stream(ctx, file, part), file.Close())
}

// each opens a checkpoint and gives its parts, in their order, to use.
func each(ctx context.Context, s store.Store, job string, number int64, use func(name string, part io.Reader) error) (store.Manifest, error) {
	// The store has checked the manifest by now; what is left to compare are the bytes.
	reader, err := s.Open(ctx, job, number)
	if err != nil {
		return store.Manifest{}, err
	}
	// What Close says does not matter: every part has been read to its end and compared.
	defer reader.Close()
	// The order of the manifest is that of writing, in which a medium reads fastest.
	manifest := reader.Manifest()
	for _, listed := range manifest.Parts {
		part, err := reader.Part(listed.Name)
		if err != nil {
			return store.Manifest{}, fmt.Errorf("part %q: %w", listed.Name, err)
		}
		// The part is closed in any case, also where use has failed.
		if err := errors.Join(use(listed.Name, part), part.Close()); err != nil {
			return store.Manifest{}, fmt.Errorf("part %q: %w", listed.Name, err)
		}
	}
	return manifest, nil
}

// stream copies to the end of from and stops when the context ends.
func stream(ctx context.Context, to io.Writer, from io.Reader) error {
	// One buffer for each file: a part is copied by one goroutine.
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
