// This file implements the writer: a file, or a directory, that nobody sees gets its number in one step.

package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// draft is a checkpoint that is not committed. It begins as an empty file, which becomes the manifest if that has the
// contents of all parts, and turns into a directory before the first part gets a file of its own: to make and remove a
// directory takes a third as long again as to write a MiB. It implements store.Sharer, and is used by one goroutine.
type draft struct {
	s   *disk
	ctx context.Context
	// folder and number say where the checkpoint will be, once it is committed.
	folder store.Folder
	number int64
	// It is in the name of the draft, so no two writers share one, whatever process they are in.
	place store.Place
	// file is open as long as the draft is a file, and nil from then on.
	file vfs.File
	// last is the part that was closed last, and not synced yet: it becomes durable at the same time as what follows it.
	last vfs.File
}

// path is the name of the file, or of the directory, that the writer fills.
func (d *draft) path() string {
	return path.Join(string(d.folder), leftover{tmpPrefix, d.number, d.place}.name())
}

// Begin implements store.Medium.
// It makes an empty file under a name that nobody lists, and syncs nothing. A read-only disk, and one without
// room for a name, say so here.
func (s *disk) Begin(ctx context.Context, job string, number int64) (store.Draft, error) {
	d := &draft{s: s, ctx: ctx, folder: store.FolderOf(job), number: number, place: store.NewPlace(s.now())}
	// The place is live before its file exists: a collection that runs beside must never see it as a
	// stranger's.
	s.setLive(d.place, true)
	err := s.makeIn(d.folder, func() (err error) {
		d.file, err = s.fs.Create(d.path())
		return err
	})
	if err != nil {
		s.setLive(d.place, false)
		return nil, err
	}
	// The fence is looked for behind the file, see Fence.
	if err := d.s.fenced(d.folder, d.number, nil); err != nil {
		return nil, errors.Join(err, d.Abort())
	}
	return d, nil
}

// spread turns the file into a directory, unless it is one. A file that is gone has been fenced off, or collected as what a
// dead writer has left: then there is no directory either.
// It is called before the first part that is too long to be kept with the manifest, and does nothing the second
// time.
func (d *draft) spread() error {
	if d.file == nil {
		return nil
	}
	// Nothing was written to the file yet: what is kept for the manifest is in memory.
	err := d.file.Close()
	d.file = nil
	if err == nil {
		err = d.s.fs.Remove(d.path())
	}
	if err == nil {
		err = d.s.makeIn(d.folder, func() error { return d.s.fs.Mkdir(d.path()) })
	}
	// Who has raised a fence between the two has seen neither, so it is looked for again.
	return d.s.fenced(d.folder, d.number, err)
}

// settle makes the part durable that was closed last.
func (d *draft) settle() error {
	last := d.last
	if d.last = nil; last == nil {
		return nil
	}
	// After a sync that failed, another tells nothing: the file is given up.
	return errors.Join(last.Sync(), last.Close())
}

// object is the file of a part. It implements store.Object. While a long part is written, the disk gets what is there
// already, so that it works at the same time as whoever makes the bytes.
type object struct {
	vfs.File
	// draft takes the file when it is complete; nil: the file is synced by Close, as one that is shared, for whose owner
	// Close is the moment from which on he may do with it what he likes.
	draft *draft
	// loose counts the bytes since the system was last told to begin writing.
	loose int
}

// flushBytes is how many bytes are written before the disk gets them: enough for a few requests of the largest size.
const flushBytes = 8 << 20

// Write implements io.Writer.
// Flush only asks the disk to begin and waits for nothing; its outcome shows in the sync at the end.
func (o *object) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	if o.loose += n; o.loose >= flushBytes {
		o.loose = 0
		o.Flush()
	}
	return n, err
}

// Close completes the file, and makes it durable or leaves that to the draft.
func (o *object) Close() error {
	if o.draft == nil {
		return errors.Join(o.Sync(), o.File.Close())
	}
	o.draft.last = o.File
	return nil
}

func (o *object) Discard() error { return o.File.Close() }

func (d *draft) Create(index int) (store.Object, error) {
	// At most one part is left to be synced, so that a writer has two files open at most, however many parts there are.
	if err := errors.Join(d.settle(), d.spread()); err != nil {
		return nil, err
	}
	f, err := d.create(strconv.Itoa(index))
	if err != nil {
		return nil, err
	}
	return &object{File: f, draft: d}, nil
}

// Share implements store.Sharer: a file on the same disk becomes a part by a reflink or, if it was given away, by a link.
func (d *draft) Share(index int, file fs.File, given bool) (store.Object, io.ReadCloser, bool, error) {
	sharer, can := d.s.fs.(vfs.Sharer)
	// What comes from an archive or the like has no bytes on a disk of their own.
	from, lies := file.(*os.File)
	if !can || !lies {
		return nil, nil, false, errors.ErrUnsupported
	}
	if err := errors.Join(d.settle(), d.spread()); err != nil {
		return nil, nil, false, err
	}
	name, moved := path.Join(d.path(), strconv.Itoa(index)), false
	f, err := sharer.Clone(from, name)
	// Whatever kept it from being cloned, a file that is adopted has a check of its own.
	if err != nil && given {
		f, err = sharer.Adopt(from, name)
		moved = true
	}
	if err != nil {
		return nil, nil, false, err
	}
	// It is read as what it is now, not by the descriptor that it came with.
	content, err := d.s.fs.Open(name)
	if err != nil {
		return nil, nil, false, errors.Join(d.s.fenced(d.folder, d.number, err), f.Close())
	}
	return &object{File: f}, content, moved, nil
}

func (d *draft) create(name string) (vfs.File, error) {
	// Create is exclusive, and the directory is the writer's own: no file is ever there before.
	f, err := d.s.fs.Create(path.Join(d.path(), name))
	if err != nil {
		return nil, d.s.fenced(d.folder, d.number, err)
	}
	return f, nil
}

// Commit implements store.Draft. What becomes visible is whole, for it is durable before; the new name is durable
// before Commit returns, and before retention deletes anything.
func (d *draft) Commit(r store.Stored) (store.Manifest, error) {
	r.Place = d.place
	head, err := store.Head(r)
	if err != nil {
		return store.Manifest{}, err
	}
	// The contents follow one behind the other, from where they are: together they may be some megabytes.
	text := append([][]byte{head}, r.Contents...)
	if d.file != nil {
		err = d.publishFile(text)
	} else {
		err = d.publishFolder(text)
	}
	if err != nil {
		if d.ctx.Err() != nil {
			return store.Manifest{}, err
		}
		m, err := d.compare(r.Manifest, err)
		if err != nil {
			err = d.s.fenced(d.folder, d.number, err)
		}
		return m, err
	}
	d.s.setLive(d.place, false)
	// The checkpoint is visible, and counts as committed only when a crash cannot undo that.
	if err := d.syncParents(); err != nil {
		return store.Manifest{}, err
	}
	// Only now may older ones go: a crash before would otherwise leave neither the new one nor the old.
	d.s.retain(d.ctx, r.Job, r.Number)
	return r.Manifest, nil
}

// publishFile gives a checkpoint that is one file its number, in one step that fails if the number is taken: the number
// becomes its second name, and the first goes.
func (d *draft) publishFile(text [][]byte) error {
	file := d.file
	d.file = nil
	err := write(file, text)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	// Up to here the caller may still change its mind; the step cannot be taken back.
	if err := d.ctx.Err(); err != nil {
		return err
	}
	err = d.s.fs.Link(d.path(), at(d.folder, d.number))
	switch {
	case err == nil:
		_ = d.s.fs.Remove(d.path()) // what is left of it will be collected
		return nil
	// The number is taken; or the file is gone, by a fence or as what a dead writer has left.
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return err
	}
	// A file system without second names gets a directory, as if some part had a file of its own. What the link has done,
	// if its answer was lost, is met by the rename.
	if err := d.s.removeAll(d.path()); err != nil {
		return err
	}
	err = d.s.makeIn(d.folder, func() error { return d.s.fs.Mkdir(d.path()) })
	if err := d.s.fenced(d.folder, d.number, err); err != nil {
		return err
	}
	return d.publishFolder(text)
}

// publishFolder gives a checkpoint that is a directory its number, in one step that fails if the number is taken.
func (d *draft) publishFolder(text [][]byte) error {
	manifest, err := d.create(manifestName)
	if err != nil {
		return err
	}
	files := []vfs.File{manifest}
	if d.last != nil {
		files = append(files, d.last)
	}
	d.last = nil
	err = write(manifest, text)
	if err == nil {
		// The last part, the manifest and the names of all must be durable before the directory has its number, in whatever
		// order: a crash would otherwise leave a committed checkpoint without them. Before, nobody believes the manifest.
		err = vfs.SyncAll(d.s.fs, []string{d.path()}, files...)
	}
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return err
	}
	// Up to here the caller may still change its mind; the step cannot be taken back.
	if err := d.ctx.Err(); err != nil {
		return err
	}
	// A rename onto a file, and onto a directory that is not empty, fails on every system, and a committed one has a
	// manifest at least.
	return d.s.fs.Rename(d.path(), at(d.folder, d.number))
}

func write(w io.Writer, texts [][]byte) error {
	for _, text := range texts {
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// compare answers a number that could not be given: if the number is taken by the same parts in the same order, as a
// success. It does not rely on the sort of error, in which systems differ.
func (d *draft) compare(m store.Manifest, failed error) (store.Manifest, error) {
	first, err := d.s.record(d.folder, d.number, at(d.folder, d.number))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return store.Manifest{}, failed
	// Neither the same nor another content can be told, so that the caller learns of both errors.
	case err != nil:
		return store.Manifest{}, errors.Join(failed, err)
	case !store.SameParts(first.Parts, m.Parts):
		return store.Manifest{}, store.ErrExists
	}
	// The writer that was first may have died before its rename was durable.
	if err := d.syncParents(); err != nil {
		return store.Manifest{}, err
	}
	_ = d.Abort() // what is left of it will be collected
	return first.Manifest, nil
}

// syncParents makes the rename durable, and the directory of the job, which this or another writer may
// have made.
func (d *draft) syncParents() error {
	if err := d.s.fs.SyncDir(string(d.folder)); err != nil {
		return err
	}
	return d.s.fs.SyncDir(".")
}

// Abort implements store.Draft. Where it fails, the rest is collected later.
func (d *draft) Abort() error {
	// What is open is given up, and needs no sync. Closing it twice is nothing that could be told.
	for _, open := range []vfs.File{d.file, d.last} {
		if open != nil {
			_ = open.Close() // it is removed
		}
	}
	d.file, d.last = nil, nil
	// The directory has its number now, and no leftover has this place.
	d.s.setLive(d.place, false)
	return d.s.remove(d.folder, d.path())
}
