// This file adds stores that break one sentence of the contract each, for TestFlaws.

package storetest_test

import (
	"context"
	"errors"
	"io"
	"math"
	"path"
	"strings"
	"sync/atomic"

	"github.com/apportion/apportion/checkpoint/store"
)

// moreFlaws break what single sentences of the contract promise, so that one assertion of a check alone sees them.
var moreFlaws = []flaw{
	{"shows an empty checkpoint until the first part", []string{"VisibleAfterCommitOnly"}, func(f *flawed) {
		f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
			inner, err := f.mem.Begin(ctx, job, number)
			if err != nil {
				return nil, err
			}
			shown, err := f.mem.Begin(ctx, job, number)
			if err == nil {
				_, err = shown.Commit()
			}
			w := &writer{Writer: inner}
			w.part = func(name string) (io.WriteCloser, error) {
				return second(f.mem.Delete(ctx, job, number), inner, name)
			}
			return w, err
		}
	}},
	{"says that it has committed and has not", []string{"VisibleAfterCommitOnly", "CommitAgain"}, func(f *flawed) {
		f.writes(func(w *writer, job string, number int64) {
			w.commit = func() (store.Manifest, error) {
				m, err := w.Writer.Commit()
				return m, errors.Join(err, f.mem.Delete(context.Background(), job, number))
			}
		})
	}},
	{"commits the number before as well", []string{"VisibleAfterCommitOnly"}, func(f *flawed) { f.alsoCommits(-1) }},
	{"commits the number behind as well", []string{"VisibleAfterCommitOnly"}, func(f *flawed) { f.alsoCommits(1) }},
	{"finds parts in letters of another case", []string{"Contents"}, func(f *flawed) {
		f.reads(func(r *reader) {
			r.part = func(name string) (io.ReadCloser, error) {
				for _, p := range r.Reader.Manifest().Parts {
					if strings.EqualFold(p.Name, name) {
						return r.Reader.Part(p.Name)
					}
				}
				return nil, store.ErrNotFound
			}
		})
	}},
	{"begins anew behind the end of a part", []string{"ReadInPieces"}, func(f *flawed) {
		f.reads(func(r *reader) {
			r.part = func(name string) (io.ReadCloser, error) {
				part, err := r.Reader.Part(name)
				return &circularPart{ReadCloser: part, again: func() (io.ReadCloser, error) { return r.Reader.Part(name) }}, err
			}
		})
	}},
	{"complains when a part is closed", []string{"ReadInPieces", "ReaderEnds"}, func(f *flawed) {
		f.reads(func(r *reader) {
			r.part = func(name string) (io.ReadCloser, error) {
				part, err := r.Reader.Part(name)
				return stubbornPart{part}, err
			}
		})
	}},
	{"has a part for every name", []string{"ReaderEnds"}, func(f *flawed) {
		f.reads(func(r *reader) {
			r.part = func(name string) (io.ReadCloser, error) {
				part, err := r.Reader.Part(name)
				if errors.Is(err, store.ErrNotFound) && !strings.Contains(name, "/") {
					return io.NopCloser(strings.NewReader("")), nil
				}
				return part, err
			}
		})
	}},
	{"finds parts by the end of their path", []string{"ReaderEnds"}, func(f *flawed) {
		f.reads(func(r *reader) {
			r.part = func(name string) (io.ReadCloser, error) {
				part, err := r.Reader.Part(name)
				if errors.Is(err, store.ErrNotFound) && strings.Contains(name, "/") {
					return r.Reader.Part(path.Base(name))
				}
				return part, err
			}
		})
	}},
	{"opens jobs by their clean path", []string{"JobsApart"}, func(f *flawed) {
		f.open = func(ctx context.Context, job string, number int64) (store.Reader, error) {
			return f.mem.Open(ctx, path.Clean(job), number)
		}
	}},
	{"deletes of the job whose name goes on", []string{"JobsApart"}, func(f *flawed) {
		f.delete = func(ctx context.Context, job string, number int64) error {
			return errors.Join(f.mem.Delete(ctx, job, number), f.mem.Delete(ctx, job+"b", number+1))
		}
	}},
	{"forgets to delete", []string{"JobsApart", "Delete"}, func(f *flawed) {
		f.delete = func(ctx context.Context, job string, number int64) error {
			_, err := f.mem.List(ctx, job)
			return err
		}
	}},
	{"complains when what is committed is aborted", []string{"CommitAgain", "Abort"}, func(f *flawed) {
		f.writes(func(w *writer, _ string, _ int64) {
			committed := false
			w.commit = func() (store.Manifest, error) {
				m, err := w.Writer.Commit()
				committed = committed || err == nil
				return m, err
			}
			w.abort = func() error {
				if committed {
					return errors.New("there is nothing to abort")
				}
				return w.Writer.Abort()
			}
		})
	}},
	{"keeps nothing where there are no parts", []string{"CommitAgain", "Contents"}, func(f *flawed) {
		f.writes(func(w *writer, job string, number int64) {
			w.commit = func() (store.Manifest, error) {
				m, err := w.Writer.Commit()
				if err == nil && len(m.Parts) == 0 {
					err = f.mem.Delete(context.Background(), job, number)
				}
				return m, err
			}
		})
	}},
	{"complains when what was refused is aborted", []string{"CommitOtherContent", "LateWriter"}, func(f *flawed) {
		f.refused(func(string, int64) error { return errors.New("it was refused") })
	}},
	{"aborts what stands under the number", []string{"CommitOtherContent", "LateWriter"}, func(f *flawed) {
		f.refused(func(job string, number int64) error { return f.mem.Delete(context.Background(), job, number) })
	}},
	{"spoils readers that are open by what it refuses", []string{"CommitOtherContent"}, func(f *flawed) {
		var refusals atomic.Int64
		f.writes(func(w *writer, _ string, _ int64) {
			w.commit = func() (store.Manifest, error) {
				m, err := w.Writer.Commit()
				if err != nil {
					refusals.Add(1)
				}
				return m, err
			}
		})
		f.reads(func(r *reader) {
			before := refusals.Load()
			r.part = func(name string) (io.ReadCloser, error) {
				if refusals.Load() > before {
					return io.NopCloser(strings.NewReader("spoilt")), nil
				}
				return r.Reader.Part(name)
			}
		})
	}},
	{"loses what stands when it refuses", []string{"LateWriter", "CommitOtherContent"}, func(f *flawed) {
		f.writes(func(w *writer, job string, number int64) {
			w.commit = func() (store.Manifest, error) {
				m, err := w.Writer.Commit()
				if err != nil {
					_ = f.mem.Delete(context.Background(), job, number)
				}
				return m, err
			}
		})
	}},
	{"aborts the number behind", []string{"LateWriter"}, func(f *flawed) {
		f.refused(func(job string, number int64) error { return f.mem.Delete(context.Background(), job, number+1) })
	}},
	{"shows what was aborted until it is aborted again", []string{"Abort"}, func(f *flawed) {
		f.writes(func(w *writer, job string, number int64) {
			aborted := 0
			w.abort = func() error {
				if aborted++; aborted > 1 {
					return f.mem.Delete(context.Background(), job, number)
				}
				shown, err := f.mem.Begin(context.Background(), job, number)
				if err == nil {
					_, err = shown.Commit()
				}
				return errors.Join(err, w.Writer.Abort())
			}
		})
	}},
	{"takes bytes after it was aborted", []string{"Abort", "WriterOrder"}, func(f *flawed) {
		f.writes(func(w *writer, _ string, _ int64) {
			w.part = func(name string) (io.WriteCloser, error) {
				part, err := w.Writer.Part(name)
				return deafPart{part}, err
			}
		})
	}},
	{"opens parts after it was aborted", []string{"Abort"}, func(f *flawed) {
		f.afterAbort(func(w *writer, _ string, _ int64) {
			w.part = func(string) (io.WriteCloser, error) { return nopPart{}, nil }
		})
	}},
	{"commits with success after it was aborted", []string{"Abort"}, func(f *flawed) {
		f.afterAbort(func(w *writer, _ string, _ int64) {
			w.commit = func() (store.Manifest, error) { return store.Manifest{}, nil }
		})
	}},
	{"commits with an error after it was aborted", []string{"Abort"}, func(f *flawed) {
		f.afterAbort(func(w *writer, job string, number int64) {
			w.commit = func() (store.Manifest, error) {
				again, err := f.mem.Begin(context.Background(), job, number)
				if err == nil {
					_, err = again.Commit()
				}
				return store.Manifest{}, errors.Join(err, errors.New("it was aborted"))
			}
		})
	}},
	{"opens parts after it has committed", []string{"Abort"}, func(f *flawed) {
		f.writes(func(w *writer, _ string, _ int64) {
			w.commit = func() (store.Manifest, error) {
				m, err := w.Writer.Commit()
				if err == nil {
					w.part = func(string) (io.WriteCloser, error) { return nopPart{}, nil }
				}
				return m, err
			}
		})
	}},
	{"opens a part beside one that is open", []string{"WriterOrder"}, func(f *flawed) {
		f.opened(func(w *writer, open bool, name string) (io.WriteCloser, error) {
			if open {
				return nopPart{}, nil
			}
			return w.Writer.Part(name)
		}, nil)
	}},
	{"says that it commits with a part open", []string{"WriterOrder"}, func(f *flawed) {
		f.opened(nil, func(string, int64) (store.Manifest, error) { return store.Manifest{}, nil })
	}},
	{"commits with a part open and says no", []string{"WriterOrder"}, func(f *flawed) {
		f.opened(nil, func(job string, number int64) (store.Manifest, error) {
			shown, err := f.mem.Begin(context.Background(), job, number)
			if err == nil {
				_, err = shown.Commit()
			}
			return store.Manifest{}, errors.Join(err, errors.New("a part is open"))
		})
	}},
	{"opens a part of a name twice", []string{"WriterOrder"}, func(f *flawed) {
		f.writes(func(w *writer, _ string, _ int64) {
			taken := map[string]bool{}
			w.part = func(name string) (io.WriteCloser, error) {
				part, err := w.Writer.Part(name)
				if err != nil && taken[name] {
					return nopPart{}, nil
				}
				taken[name] = true
				return part, err
			}
		})
	}},
	{"drops the parts behind a refusal", []string{"WriterOrder", "PartNames"}, func(f *flawed) {
		f.writes(func(w *writer, _ string, _ int64) {
			refused := false
			w.part = func(name string) (io.WriteCloser, error) {
				if refused && store.CheckPart(name) == nil && name != "a" {
					return nopPart{}, nil
				}
				part, err := w.Writer.Part(name)
				refused = refused || err != nil
				return part, err
			}
		})
	}},
	{"hides that the name of a part was refused", []string{"PartNames"}, func(f *flawed) {
		f.writes(func(w *writer, _ string, _ int64) {
			w.part = func(name string) (io.WriteCloser, error) {
				part, err := w.Writer.Part(name)
				return part, opaque(err)
			}
		})
	}},
	{"deletes at the third time", []string{"Delete"}, func(f *flawed) {
		var asked numbers
		f.delete = func(ctx context.Context, job string, number int64) error {
			if asked.add(number) < 3 && number == 2 {
				return nil
			}
			return f.mem.Delete(ctx, job, number)
		}
	}},
	{"deletes what is being written", []string{"Delete"}, func(f *flawed) {
		var deleted numbers
		f.delete = func(ctx context.Context, job string, number int64) error {
			deleted.add(number)
			return f.mem.Delete(ctx, job, number)
		}
		f.writes(func(w *writer, job string, number int64) {
			before := deleted.count(number) > 0
			w.commit = func() (store.Manifest, error) {
				m, err := w.Writer.Commit()
				if err == nil && !before && deleted.count(number) > 0 {
					err = f.mem.Delete(context.Background(), job, number)
				}
				return m, err
			}
		})
	}},
	{"cannot list a job whose last was deleted", []string{"Delete"}, func(f *flawed) {
		var deleted atomic.Int64
		f.delete = func(ctx context.Context, job string, number int64) error {
			deleted.Add(1)
			return f.mem.Delete(ctx, job, number)
		}
		f.list = func(ctx context.Context, job string) ([]store.Manifest, error) {
			list, err := f.mem.List(ctx, job)
			if err == nil && len(list) == 0 && deleted.Load() > 3 {
				err = errors.New("the folder is gone")
			}
			return list, err
		}
	}},
}

// second opens a part if there was no error before.
func second(err error, w store.Writer, name string) (io.WriteCloser, error) {
	if err != nil {
		return nil, err
	}
	return w.Part(name)
}

// alsoCommits has every commit appear under another number as well, off by so much.
func (f *flawed) alsoCommits(off int64) {
	f.writes(func(w *writer, job string, number int64) {
		w.commit = func() (store.Manifest, error) {
			m, err := w.Writer.Commit()
			if err != nil || number+off < 1 || number > math.MaxInt64-1 {
				return m, err
			}
			other, err := f.mem.Begin(context.Background(), job, number+off)
			if err == nil {
				_, err = other.Commit()
			}
			if errors.Is(err, store.ErrExists) {
				err = nil
			}
			return m, err
		}
	})
}

// refused has Abort of a writer whose Commit was refused do something else.
func (f *flawed) refused(abort func(job string, number int64) error) {
	f.writes(func(w *writer, job string, number int64) {
		refused := false
		w.commit = func() (store.Manifest, error) {
			m, err := w.Writer.Commit()
			refused = errors.Is(err, store.ErrExists)
			return m, err
		}
		w.abort = func() error {
			if refused {
				return abort(job, number)
			}
			return w.Writer.Abort()
		}
	})
}

// circularPart begins anew when it is read behind its end.
type circularPart struct {
	io.ReadCloser
	again func() (io.ReadCloser, error)
	ended bool
}

func (p *circularPart) Read(data []byte) (int, error) {
	if p.ended {
		p.ReadCloser.Close()
		part, err := p.again()
		if err != nil {
			return 0, err
		}
		p.ReadCloser, p.ended = part, false
	}
	n, err := p.ReadCloser.Read(data)
	p.ended = err == io.EOF
	return n, err
}

// stubbornPart cannot be closed.
type stubbornPart struct{ io.ReadCloser }

func (p stubbornPart) Close() error { return errors.New("it does not close") }

// afterAbort changes a writer when it is aborted before it has committed.
func (f *flawed) afterAbort(change func(w *writer, job string, number int64)) {
	f.writes(func(w *writer, job string, number int64) {
		w.commit = func() (store.Manifest, error) {
			m, err := w.Writer.Commit()
			if err == nil {
				w.abort = nil
			}
			return m, err
		}
		w.abort = func() error {
			err := w.Writer.Abort()
			change(w, job, number)
			return err
		}
	})
}

// deafPart takes every byte, whatever becomes of it.
type deafPart struct{ io.WriteCloser }

func (p deafPart) Write(data []byte) (int, error) {
	_, _ = p.WriteCloser.Write(data)
	return len(data), nil
}

// nopPart takes everything and keeps nothing.
type nopPart struct{}

func (nopPart) Write(data []byte) (int, error) { return len(data), nil }
func (nopPart) Close() error                   { return nil }

// opened changes what a writer does while a part of it is open; nil: what it did.
func (f *flawed) opened(part func(w *writer, open bool, name string) (io.WriteCloser, error), commit func(job string, number int64) (store.Manifest, error)) {
	f.writes(func(w *writer, job string, number int64) {
		open := false
		w.part = func(name string) (io.WriteCloser, error) {
			var p io.WriteCloser
			var err error
			if part != nil {
				p, err = part(w, open, name)
			} else {
				p, err = w.Writer.Part(name)
			}
			if err == nil && p != (nopPart{}) {
				open = true
				p = closingPart{p, &open}
			}
			return p, err
		}
		if commit != nil {
			w.commit = func() (store.Manifest, error) {
				if open {
					return commit(job, number)
				}
				return w.Writer.Commit()
			}
		}
	})
}

// closingPart notes when it is closed.
type closingPart struct {
	io.WriteCloser
	open *bool
}

func (p closingPart) Close() error {
	*p.open = false
	return p.WriteCloser.Close()
}
