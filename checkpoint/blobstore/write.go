// This file implements the writer: objects that nobody knows of until a manifest names them.

package blobstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gocloud.dev/blob"

	"github.com/apportion/apportion/checkpoint/store"
)

var errLate = errors.New("the writer took longer than Options.Grace")

// draft is a checkpoint that is not committed. It implements store.Draft.
type draft struct {
	s     *bucket
	ctx   context.Context
	began time.Time
	// record is the checkpoint without its parts; created counts the objects of these.
	record  store.Record
	created int
	// Such a draft is never taken back by its own writer, for a manifest that names missing parts is
	// damage, and parts without a manifest are only waste.
	// doubtful says that the manifest may have been written, or may yet be.
	doubtful bool
}

// Begin implements store.Medium. It makes no request.
func (s *bucket) Begin(ctx context.Context, job string, number int64) (store.Draft, error) {
	// The time is in the place, so Collect can tell from a key alone how old a writer is.
	now := s.now()
	record := store.Record{Manifest: store.Manifest{Job: job, Number: number}, Place: store.NewPlace(now)}
	return &draft{s: s, ctx: ctx, began: now, record: record}, nil
}

// object is a part that is being uploaded. It implements store.Object.
type object struct {
	ctx    context.Context
	cancel context.CancelFunc
	w      *blob.Writer
}

func (d *draft) Create(index int) (store.Object, error) {
	// Each object has a context of its own: to end it is the only way to make an upload stop without
	// an object.
	ctx, cancel := context.WithCancel(d.ctx)
	w, err := d.s.NewWriter(ctx, partKey(store.FolderOf(d.record.Job), d.record.Number, d.record.Place, index), &blob.WriterOptions{
		BufferSize:  d.s.options.BlockBytes,
		ContentType: "application/octet-stream", // otherwise it would be guessed
	})
	if err != nil {
		cancel()
		return nil, explain(d.ctx, err)
	}
	d.created = index + 1
	return &object{d.ctx, cancel, w}, nil
}

func (o *object) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	return n, explain(o.ctx, err)
}

func (o *object) Close() error {
	defer o.cancel()
	return explain(o.ctx, o.w.Close())
}

// Discard implements store.Object. What Close of a writer says whose context has ended is no news.
func (o *object) Discard() error {
	o.cancel()
	_ = o.w.Close()
	return nil
}

func (d *draft) Commit(r store.Stored) (store.Manifest, error) {
	m := r.Manifest
	// 1. Collect deletes what began more than twice the Grace ago. A commit within one Grace leaves
	// another for clocks that differ and for the request itself.
	if took := d.s.now().Sub(d.began); took > d.s.options.Grace {
		return store.Manifest{}, fmt.Errorf("%w: %v", errLate, took)
	}
	r.Place, d.record.Inline = d.record.Place, r.Inline
	data, err := store.Encode(r)
	if err != nil {
		return store.Manifest{}, err
	}
	key := manifestKey(store.FolderOf(m.Job), m.Number)
	// 2. Not every driver can refuse a key that exists without a race, so writers of one process take
	// turns.
	unlock, err := d.s.lock(d.ctx, key)
	if err != nil {
		return store.Manifest{}, err
	}
	defer unlock()
	// 3. From here on only an answer that names the manifest tells whether it was written.
	d.doubtful = true
	// 4. This one request is the commit: an object is there as a whole or not at all, and the first
	// writer wins.
	err = d.s.WriteAll(d.ctx, key, data, &blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: true})
	if err != nil {
		m, err = d.compare(m, explain(d.ctx, err))
	}
	return d.fenced(m, err)
}

// fenced looks for a fence behind the manifest of this writer, or of an equal one that was first: below it, what the
// fence does not know is taken back.
func (d *draft) fenced(m store.Manifest, met error) (store.Manifest, error) {
	folder := store.FolderOf(d.record.Job)
	f, err := d.s.fence(d.ctx, folder)
	switch {
	case err != nil:
		return store.Manifest{}, errors.Join(met, err)
	case d.record.Number >= f.raised:
		return m, met
	case met != nil:
		return store.Manifest{}, fmt.Errorf("%w: %w", store.ErrFenced, met)
	}
	first, err := d.s.record(d.ctx, folder, d.record.Number)
	// It was there before the fence.
	if err == nil && d.record.Number < f.settled && !f.hides(d.record.Number, first.Place) {
		return m, nil
	}
	// What an earlier writer has committed is not this one's to take back.
	if err == nil && first.Place == d.record.Place {
		d.doubtful = false
		if err := d.s.deleteKey(d.ctx, manifestKey(folder, d.record.Number)); err != nil {
			d.doubtful = true
			return store.Manifest{}, fmt.Errorf("%w: %w", store.ErrFenced, err)
		}
	}
	return store.Manifest{}, store.ErrFenced
}

// compare answers a manifest that could not be written. It may have been written nevertheless: a client
// that does not get an answer tries again, and is then told that the manifest exists.
func (d *draft) compare(m store.Manifest, failed error) (store.Manifest, error) {
	first, err := d.s.record(d.ctx, store.FolderOf(m.Job), m.Number)
	switch {
	// No manifest is there now, and a request that is still under way may yet write one: so the draft
	// stays doubtful.
	case errors.Is(err, store.ErrNotFound):
		return store.Manifest{}, failed
	case err != nil:
		return store.Manifest{}, errors.Join(failed, err)
	case first.Place == d.record.Place:
		return m, nil
	}
	// Another writer's manifest is there for good, so this one's parts are not named by any.
	d.doubtful = false
	// Names, sizes and digests are compared: the same content committed twice is a success, whoever
	// was first.
	if !store.SameParts(first.Parts, m.Parts) {
		return store.Manifest{}, store.ErrExists
	}
	_ = d.Abort() // what is left of it will be collected
	return first.Manifest, nil
}

// abortTimeout bounds Abort, whose context has often ended.
const abortTimeout = time.Minute

// Abort implements store.Draft. It deletes nothing that a manifest names or may yet name.
func (d *draft) Abort() error {
	if d.doubtful {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), abortTimeout)
	defer cancel()
	return d.s.deleteParts(ctx, d.record, d.created)
}
