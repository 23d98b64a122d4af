// This file implements the writer: a directory, or a file, that nobody sees gets its number in one step.

package filestore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/medium"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// draft is the directory of a checkpoint that is not committed. It implements medium.Sharer.
type draft struct {
	s   *Store
	ctx context.Context
	// folder and number say where the checkpoint will be, once it is committed.
	folder store.Folder
	number int64
	// It is in the name of the directory, so no two writers share one, whatever process they are in.
	place medium.Place
}

// dir is the directory that the writer fills.
func (d *draft) dir() string {
	return path.Join(string(d.folder), leftover{tmpPrefix, d.number, d.place}.name())
}

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context, job string, number int64) (store.Writer, error) {
	if err := enter(ctx, job, number); err != nil {
		return nil, medium.Wrap(job, number, err)
	}
	d := &draft{s, ctx, store.FolderOf(job), number, medium.NewPlace(s.now())}
	// The place is live before its directory exists: a collection that runs beside must never see it as a
	// stranger's.
	s.setLive(d.place, true)
	if err := s.makeIn(d.folder, d.dir()); err != nil {
		s.setLive(d.place, false)
		return nil, medium.Wrap(job, number, err)
	}
	// The fence is looked for behind the directory, see Fence.
	if err := d.s.fenced(d.folder, d.number, nil); err != nil {
		return nil, medium.Wrap(job, number, errors.Join(err, d.Abort()))
	}
	return medium.NewWriter(ctx, job, number, s.options.Form, d), nil
}

// object is the file of a part. It implements medium.Object. While a long part is written, the disk gets what is there
// already, so that it works at the same time as whoever makes the bytes.
type object struct {
	vfs.File
	// loose counts the bytes since the system was last told to begin writing.
	loose int
}

// flushBytes is how many bytes are written before the disk gets them: enough for a few requests of the largest size.
const flushBytes = 8 << 20

// Write implements io.Writer.
func (o *object) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	if o.loose += n; o.loose >= flushBytes {
		o.loose = 0
		o.Flush()
	}
	return n, err
}

// Close makes the file durable. After a sync that failed, another tells nothing.
func (o *object) Close() error { return errors.Join(o.Sync(), o.File.Close()) }

// Discard closes the file as it is.
func (o *object) Discard() error { return o.File.Close() }

// Create implements medium.Medium.
func (d *draft) Create(index int) (medium.Object, error) {
	return d.create(strconv.Itoa(index))
}

// Share implements medium.Sharer: a file on the same disk becomes a part by a reflink or, if it was given away, by a link.
func (d *draft) Share(index int, file fs.File, given bool) (medium.Object, io.ReadCloser, bool, error) {
	sharer, can := d.s.fs.(vfs.Sharer)
	// What comes from an archive or the like has no bytes on a disk of their own.
	from, lies := file.(*os.File)
	if !can || !lies {
		return nil, nil, false, errors.ErrUnsupported
	}
	// The name is that which Create would give it: how a part got there is not to be seen in a checkpoint.
	name, moved := path.Join(d.dir(), strconv.Itoa(index)), false
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

// create makes a file in the directory of the draft.
func (d *draft) create(name string) (medium.Object, error) {
	// Create is exclusive, and the directory is the writer's own: no file is ever there before.
	f, err := d.s.fs.Create(path.Join(d.dir(), name))
	if err != nil {
		return nil, d.s.fenced(d.folder, d.number, err)
	}
	return &object{File: f}, nil
}

// Commit implements medium.Medium. What becomes visible is whole, for it is durable before; the new name is durable
// before Commit returns, and before retention deletes anything.
func (d *draft) Commit(r medium.Stored) (store.Manifest, error) {
	r.Place = d.place
	// The manifest is written after the parts are durable: where it is whole, so is everything that it
	// lists.
	if err := d.writeManifest(r); err != nil {
		return store.Manifest{}, err
	}
	if err := d.publish(len(r.Inline) == len(r.Parts)); err != nil {
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

// publish gives the checkpoint its number, in one step that fails if the number is taken. slim says that all of it is
// in the file of the manifest.
func (d *draft) publish(slim bool) error {
	// Up to here the caller may still change its mind; the step cannot be taken back.
	if err := d.ctx.Err(); err != nil {
		return err
	}
	// One file needs no directory: its second name is the number, and the first goes. Nothing of the directory need be
	// durable then. On a file system without links the directory is renamed as any other.
	if slim && d.s.fs.Link(path.Join(d.dir(), manifestName), at(d.folder, d.number)) == nil {
		_ = d.s.removeAll(d.dir()) // what is left of it will be collected
		return nil
	}
	// The names of parts and manifest must be durable before the directory has its number: a crash would
	// otherwise leave a committed checkpoint without them.
	if err := d.s.fs.SyncDir(d.dir()); err != nil {
		return err
	}
	if err := d.ctx.Err(); err != nil {
		return err
	}
	// A rename onto a file, and onto a directory that is not empty, fails on every system, and a committed one has a
	// manifest at least.
	return d.s.fs.Rename(d.dir(), at(d.folder, d.number))
}

// writeManifest makes the manifest durable: the last file of the directory.
func (d *draft) writeManifest(r medium.Stored) error {
	head, err := medium.Head(r)
	if err != nil {
		return err
	}
	o, err := d.create(manifestName)
	if err != nil {
		return err
	}
	// The contents follow one behind the other, from where they are: together they may be some megabytes.
	for _, data := range append([][]byte{head}, r.Contents...) {
		if _, err := o.Write(data); err != nil {
			return errors.Join(err, o.Discard())
		}
	}
	return o.Close()
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
	// Its error is no fault of the commit.
	_ = d.Abort() // what is left of it will be collected
	return first.Manifest, nil
}

// syncParents makes the rename durable, and the directory of the job, which this or another writer may
// have made.
func (d *draft) syncParents() error {
	if err := d.s.fs.SyncDir(string(d.folder)); err != nil {
		return err
	}
	// From the inside out: the entry of the checkpoint first, then that of the job.
	return d.s.fs.SyncDir(".")
}

// Abort implements medium.Medium. Where it fails, the rest is collected later.
func (d *draft) Abort() error {
	// The directory has its number now, and no leftover has this place.
	d.s.setLive(d.place, false)
	return d.s.remove(d.folder, d.dir())
}
