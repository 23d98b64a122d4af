// This file adds stores that are wrong about damage and about writers that died, for TestFlaws.

package storetest_test

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
)

// deathFlaws break one sentence each of what damage and deaths may do.
var deathFlaws = []flaw{
	{"changes the parts beside one that is damaged", []string{"DamagedPart"}, func(f *flawed) {
		f.reads(func(r *reader) {
			r.part = func(name string) (io.ReadCloser, error) {
				part, err := r.Reader.Part(name)
				if err == nil && damaged(r.Reader) && !damagedPart(r.Reader, name) {
					part = io.NopCloser(strings.NewReader("something else"))
				}
				return part, err
			}
		})
	}},
	{"refuses to delete what is damaged", []string{"DamagedPart", "DamagedManifest"}, func(f *flawed) {
		f.deletesDamaged(func(context.Context, string, int64) error { return store.ErrCorrupt })
	}},
	{"says that it has deleted what is damaged", []string{"DamagedPart", "DamagedManifest"}, func(f *flawed) {
		f.deletesDamaged(func(context.Context, string, int64) error { return nil })
	}},
	{"complains of damage when it deletes", []string{"DamagedPart", "DamagedManifest"}, func(f *flawed) {
		f.deletesDamaged(func(ctx context.Context, job string, number int64) error {
			return errors.Join(f.mem.Delete(ctx, job, number), store.ErrCorrupt)
		})
	}},
	{"takes a damaged manifest for none", []string{"DamagedManifest"}, func(f *flawed) {
		f.open = func(ctx context.Context, job string, number int64) (store.Reader, error) {
			r, err := f.mem.Open(ctx, job, number)
			if errors.Is(err, store.ErrCorrupt) {
				err = store.ErrNotFound
			}
			return r, err
		}
	}},
	{"does not say which manifest is damaged", []string{"DamagedManifest"}, func(f *flawed) {
		f.list = func(ctx context.Context, job string) ([]store.Manifest, error) {
			list, err := f.mem.List(ctx, job)
			return list, nameless(err)
		}
	}},
	{"hides that a manifest is damaged", []string{"DamagedManifest"}, func(f *flawed) {
		f.list = func(ctx context.Context, job string) ([]store.Manifest, error) {
			list, err := f.mem.List(ctx, job)
			return list, opaque(err)
		}
	}},
	{"shows after a death what was begun", []string{"Leftovers"}, func(f *flawed) { f.showsBegun("job", 2) }},
	{"shows after a death a job that had nothing", []string{"Leftovers"}, func(f *flawed) { f.showsBegun("another", 1) }},
	{"cannot collect", []string{"Leftovers"}, func(f *flawed) {
		f.collects(func() error { return errors.New("there is nothing to collect with") })
	}},
	{"collects what stands", []string{"Leftovers"}, func(f *flawed) {
		f.collects(func() error { return f.mem.Delete(context.Background(), "job", 1) })
	}},
	{"lets the dead say that they commit", []string{"Leftovers"}, func(f *flawed) {
		f.late(func(string, int64) error { return nil }, nil)
	}},
	{"shows what the dead may not commit", []string{"Leftovers"}, func(f *flawed) {
		f.late(func(job string, number int64) error {
			return errors.Join(f.showEmpty(job, number), storetest.ErrCrashed)
		}, nil)
	}},
	{"lets the dead abort what others commit", []string{"Leftovers"}, func(f *flawed) { f.late(nil, f.mem.Delete) }},
	{"lets the dead abort other numbers", []string{"Leftovers"}, func(f *flawed) {
		f.late(nil, func(ctx context.Context, job string, _ int64) error { return f.mem.Delete(ctx, job, 1) })
	}},
	{"keeps the numbers of the dead", []string{"Leftovers"}, func(f *flawed) {
		died := false
		f.restart = func() store.Store { died = true; f.mem.Crash(); return f }
		var begun numbers
		f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
			if died && begun.count(number) > 0 {
				return nil, store.ErrExists
			}
			begun.add(number)
			return f.mem.Begin(ctx, job, number)
		}
	}},
}

// damagedPart says whether a part cannot be read to its end.
func damagedPart(r store.Reader, name string) bool {
	part, err := r.Part(name)
	if err != nil {
		return true
	}
	defer part.Close()
	_, err = io.Copy(io.Discard, part)
	return err != nil
}

// damaged says whether any part cannot be read to its end.
func damaged(r store.Reader) bool {
	for _, p := range r.Manifest().Parts {
		if damagedPart(r, p.Name) {
			return true
		}
	}
	return false
}

// deletesDamaged has Delete of a damaged checkpoint do something else.
func (f *flawed) deletesDamaged(instead func(ctx context.Context, job string, number int64) error) {
	f.delete = func(ctx context.Context, job string, number int64) error {
		r, fault := f.mem.Open(ctx, job, number)
		if errors.Is(fault, store.ErrCorrupt) || fault == nil && damaged(r) {
			return instead(ctx, job, number)
		}
		return f.mem.Delete(ctx, job, number)
	}
}

// showEmpty commits a checkpoint without parts.
func (f *flawed) showEmpty(job string, number int64) error {
	w, err := f.mem.Begin(context.Background(), job, number)
	if err == nil {
		_, err = w.Commit()
	}
	return err
}

// showsBegun has a restart show one number of a job, which a dead writer had begun.
func (f *flawed) showsBegun(job string, number int64) {
	f.restart = func() store.Store {
		f.mem.Crash()
		_ = f.showEmpty(job, number) // what was committed stands in the way
		return f
	}
}

// collector is a store that collects when it is told to.
type collector struct {
	*flawed
	collect func() error
}

func (c collector) Collect(context.Context) error { return c.collect() }

// collects has the store of the next process collect in this way.
func (f *flawed) collects(collect func() error) {
	f.restart = func() store.Store {
		f.mem.Crash()
		return collector{f, collect}
	}
}

// late changes what writers do that have outlived their process; nil: what they did.
func (f *flawed) late(commit func(job string, number int64) error, abort func(ctx context.Context, job string, number int64) error) {
	f.writes(func(w *writer, job string, number int64) {
		dead := false
		w.commit = func() (store.Manifest, error) {
			m, err := w.Writer.Commit()
			dead = errors.Is(err, storetest.ErrCrashed)
			if dead && commit != nil {
				err = commit(job, number)
			}
			return m, err
		}
		w.abort = func() error {
			err := w.Writer.Abort()
			if dead && abort != nil {
				err = abort(context.Background(), job, number)
			}
			return err
		}
	})
}
