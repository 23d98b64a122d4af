// This file tests the suite itself: of every check there is a store that breaks its promise and is found out.

package storetest_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// flawed is a MemStore whose methods a flaw may replace. A nil function is the method of the MemStore.
type flawed struct {
	mem
	begin  func(ctx context.Context, job string, number int64) (store.Writer, error)
	open   func(ctx context.Context, job string, number int64) (store.Reader, error)
	list   func(ctx context.Context, job string) ([]store.Manifest, error)
	delete func(ctx context.Context, job string, number int64) error
	fence  func(ctx context.Context, job string, number int64) error
	// identity is what the flaw takes for its medium's.
	identity func() store.Identity
	// restart is what a flaw does beside the crash of the MemStore.
	restart func() store.Store
	// leftovers is what the medium claims to hold of dead writers.
	leftovers int
}

func (f *flawed) Begin(ctx context.Context, job string, number int64) (store.Writer, error) {
	if f.begin != nil {
		return f.begin(ctx, job, number)
	}
	return f.mem.Begin(ctx, job, number)
}

func (f *flawed) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	if f.open != nil {
		return f.open(ctx, job, number)
	}
	return f.mem.Open(ctx, job, number)
}

func (f *flawed) List(ctx context.Context, job string) ([]store.Manifest, error) {
	if f.list != nil {
		return f.list(ctx, job)
	}
	return f.mem.List(ctx, job)
}

func (f *flawed) Delete(ctx context.Context, job string, number int64) error {
	if f.delete != nil {
		return f.delete(ctx, job, number)
	}
	return f.mem.Delete(ctx, job, number)
}

func (f *flawed) Fence(ctx context.Context, job string, number int64) error {
	if f.fence != nil {
		return f.fence(ctx, job, number)
	}
	return f.mem.Fence(ctx, job, number)
}

func (f *flawed) Identity(ctx context.Context) (store.Identity, error) {
	if f.identity != nil {
		return f.identity(), ctx.Err()
	}
	return f.mem.Identity(ctx)
}

func (f *flawed) Restart(t testing.TB) store.Store {
	if f.restart != nil {
		return f.restart()
	}
	f.mem.Restart(t)
	return f
}

func (f *flawed) Leftovers(testing.TB) int { return f.leftovers }

// writer is a store.Writer whose methods a flaw may replace.
type writer struct {
	store.Writer
	part   func(name string) (io.WriteCloser, error)
	commit func() (store.Manifest, error)
	abort  func() error
}

func (w *writer) Part(name string) (io.WriteCloser, error) {
	if w.part != nil {
		return w.part(name)
	}
	return w.Writer.Part(name)
}

func (w *writer) Commit() (store.Manifest, error) {
	if w.commit != nil {
		return w.commit()
	}
	return w.Writer.Commit()
}

func (w *writer) Abort() error {
	if w.abort != nil {
		return w.abort()
	}
	return w.Writer.Abort()
}

// reader is a store.Reader whose methods a flaw may replace.
type reader struct {
	store.Reader
	manifest func() store.Manifest
	part     func(name string) (io.ReadCloser, error)
	ranges   func(name string, offset, bytes int64) (io.ReadCloser, error)
	close    func() error
}

func (r *reader) Manifest() store.Manifest {
	if r.manifest != nil {
		return r.manifest()
	}
	return r.Reader.Manifest()
}

func (r *reader) Part(name string) (io.ReadCloser, error) {
	if r.part != nil {
		return r.part(name)
	}
	return r.Reader.Part(name)
}

func (r *reader) Range(name string, offset, bytes int64) (io.ReadCloser, error) {
	if r.ranges != nil {
		return r.ranges(name, offset, bytes)
	}
	return r.Reader.Range(name, offset, bytes)
}

func (r *reader) Close() error {
	if r.close != nil {
		return r.close()
	}
	return r.Reader.Close()
}

// writes replaces the writers of a store by what change makes of them.
func (f *flawed) writes(change func(w *writer, job string, number int64)) *flawed {
	f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
		inner, err := f.mem.Begin(ctx, job, number)
		if err != nil {
			return nil, err
		}
		w := &writer{Writer: inner}
		change(w, job, number)
		return w, nil
	}
	return f
}

// reads replaces the readers of a store by what change makes of them.
func (f *flawed) reads(change func(r *reader)) *flawed {
	f.open = func(ctx context.Context, job string, number int64) (store.Reader, error) {
		inner, err := f.mem.Open(ctx, job, number)
		if err != nil {
			return nil, err
		}
		r := &reader{Reader: inner}
		change(r)
		return r, nil
	}
	return f
}

// opaque hides what an error wraps, and leaves its text.
func opaque(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(err.Error())
}

// nameless leaves of an error the sentinel that it wraps, without the words around it.
func nameless(err error) error {
	for _, target := range []error{store.ErrNotFound, store.ErrExists, store.ErrCorrupt, store.ErrName, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, target) {
			return target
		}
	}
	return err
}

// flaw is a store that breaks a promise, and the checks of the suite that must see it. Other checks may.
type flaw struct {
	name string
	seen []string
	make func(f *flawed)
}

// flaws are in the order of the contract: visibility, contents, listing, commits, refusals, contexts,
// concurrency, damage.
var flaws = []flaw{
	{"hides that nothing was found", []string{"Empty", "VisibleAfterCommitOnly"}, func(f *flawed) {
		f.open = func(ctx context.Context, job string, number int64) (store.Reader, error) {
			r, err := f.mem.Open(ctx, job, number)
			return r, opaque(err)
		}
	}},
	{"shows a checkpoint that was begun", []string{"VisibleAfterCommitOnly", "Abort", "WriterOrder"}, func(f *flawed) {
		f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
			w, err := f.mem.Begin(ctx, job, number)
			if err == nil {
				_, err = w.Commit()
			}
			return w, err
		}
	}},
	{"takes upper case for lower", []string{"Contents"}, func(f *flawed) {
		f.writes(func(w *writer, _ string, _ int64) {
			w.part = func(name string) (io.WriteCloser, error) { return w.Writer.Part(strings.ToLower(name)) }
		})
	}},
	{"has one stream for each part", []string{"ReadInPieces"}, func(f *flawed) {
		f.reads(func(r *reader) {
			streams := map[string]io.ReadCloser{}
			r.part = func(name string) (_ io.ReadCloser, err error) {
				if streams[name] == nil {
					streams[name], err = r.Reader.Part(name)
				}
				return streams[name], err
			}
		})
	}},
	{"rounds ranges to chunks", []string{"Ranges"}, func(f *flawed) {
		f.reads(func(r *reader) {
			r.ranges = func(name string, offset, bytes int64) (io.ReadCloser, error) {
				return r.Reader.Range(name, offset-offset%store.ChunkBytes, bytes)
			}
		})
	}},
	{"compares no ranges", []string{"DamagedRange"}, func(f *flawed) {
		f.reads(func(r *reader) {
			r.ranges = func(name string, offset, bytes int64) (io.ReadCloser, error) {
				part, err := r.Reader.Range(name, offset, bytes)
				return credulousPart{part}, err
			}
		})
	}},
	{"closes the parts with the reader", []string{"ReaderEnds"}, func(f *flawed) {
		f.reads(func(r *reader) {
			closed := false
			r.part = func(name string) (io.ReadCloser, error) {
				part, err := r.Reader.Part(name)
				return &endedPart{part, &closed}, err
			}
			r.close = func() error { closed = true; return r.Reader.Close() }
		})
	}},
	{"lists by text", []string{"ListAscending"}, func(f *flawed) {
		f.list = func(ctx context.Context, job string) ([]store.Manifest, error) {
			list, err := f.mem.List(ctx, job)
			slices.SortFunc(list, func(a, b store.Manifest) int {
				return strings.Compare(strconv.FormatInt(a.Number, 10), strconv.FormatInt(b.Number, 10))
			})
			return list, err
		}
	}},
	{"leaves the directory of a job out", []string{"JobsApart"}, func(f *flawed) {
		f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
			return f.mem.Begin(ctx, path.Base(job), number)
		}
	}},
	{"refuses every second commit", []string{"CommitAgain", "WritersOfTheSame"}, func(f *flawed) {
		f.writes(func(w *writer, job string, number int64) {
			w.commit = func() (store.Manifest, error) {
				if _, err := f.mem.Open(context.Background(), job, number); err == nil {
					return store.Manifest{}, store.ErrExists
				}
				return w.Writer.Commit()
			}
		})
	}},
	{"lets the last writer win", []string{"CommitOtherContent", "LateWriter", "WritersOfOneNumber"}, func(f *flawed) {
		f.writes(func(w *writer, job string, number int64) {
			w.commit = func() (store.Manifest, error) {
				if err := f.mem.Delete(context.Background(), job, number); err != nil {
					return store.Manifest{}, err
				}
				return w.Writer.Commit()
			}
		})
	}},
	{"looks at a fence only when a writer begins", []string{"Fence", "FenceBesideWriters"}, func(f *flawed) {
		fences := map[string]int64{}
		var mu sync.Mutex
		f.fence = func(_ context.Context, job string, number int64) error {
			mu.Lock()
			defer mu.Unlock()
			fences[job] = max(fences[job], number)
			return nil
		}
		f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
			mu.Lock()
			defer mu.Unlock()
			if number < fences[job] {
				return nil, store.ErrFenced
			}
			return f.mem.Begin(ctx, job, number)
		}
	}},
	{"commits what is aborted", []string{"Abort"}, func(f *flawed) {
		f.writes(func(w *writer, _ string, _ int64) {
			w.abort = func() error { _, err := w.Writer.Commit(); return err }
		})
	}},
	{"closes the part before by itself", []string{"WriterOrder"}, func(f *flawed) {
		f.writes(func(w *writer, _ string, _ int64) {
			var last io.Closer
			w.part = func(name string) (io.WriteCloser, error) {
				if last != nil {
					_ = last.Close() // it may have been closed
				}
				part, err := w.Writer.Part(name)
				last = part
				return part, err
			}
		})
	}},
	{"cleans the names of parts", []string{"PartNames"}, func(f *flawed) {
		f.writes(func(w *writer, _ string, _ int64) {
			w.part = func(name string) (io.WriteCloser, error) {
				return w.Writer.Part(strings.TrimPrefix(path.Clean("/"+name), "/"))
			}
		})
	}},
	{"hides that a name was refused", []string{"JobNames"}, func(f *flawed) {
		f.list = func(ctx context.Context, job string) ([]store.Manifest, error) {
			list, err := f.mem.List(ctx, job)
			return list, opaque(err)
		}
	}},
	{"knows 32 bits of a number", []string{"Numbers", "ListAscending"}, func(f *flawed) {
		f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
			return f.mem.Begin(ctx, job, min(number, math.MaxInt32))
		}
	}},
	{"deletes the next one too", []string{"Delete", "WritersAndReaders"}, func(f *flawed) {
		f.delete = func(ctx context.Context, job string, number int64) error {
			for n := number; n <= number+3 && n > 0; n++ { // jobs share a third of the numbers each
				_ = f.mem.Delete(ctx, job, n)
			}
			return f.mem.Delete(ctx, job, number)
		}
	}},
	{"says what went wrong and not where", []string{"ErrorsNameTheCheckpoint"}, func(f *flawed) {
		f.open = func(ctx context.Context, job string, number int64) (store.Reader, error) {
			r, err := f.mem.Open(ctx, job, number)
			return r, nameless(err)
		}
	}},
	{"lists without looking at the context", []string{"ContextEndedBefore"}, func(f *flawed) {
		f.list = func(ctx context.Context, job string) ([]store.Manifest, error) {
			return f.mem.List(context.WithoutCancel(ctx), job)
		}
	}},
	{"forgets the context of a writer", []string{"ContextEndsWhileWriting"}, func(f *flawed) {
		f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
			if err := ctx.Err(); err != nil {
				return f.mem.Begin(ctx, job, number)
			}
			return f.mem.Begin(context.WithoutCancel(ctx), job, number)
		}
	}},
	{"forgets the context of a reader", []string{"ContextEndsWhileReading"}, func(f *flawed) {
		f.open = func(ctx context.Context, job string, number int64) (store.Reader, error) {
			if err := ctx.Err(); err != nil {
				return f.mem.Open(ctx, job, number)
			}
			return f.mem.Open(context.WithoutCancel(ctx), job, number)
		}
	}},
	{"ends a damaged part like a whole one", []string{"DamagedPart"}, func(f *flawed) {
		f.reads(func(r *reader) {
			r.part = func(name string) (io.ReadCloser, error) {
				part, err := r.Reader.Part(name)
				return credulousPart{part}, err
			}
		})
	}},
	{"is silent about damage", []string{"DamagedManifest"}, func(f *flawed) {
		f.list = func(ctx context.Context, job string) ([]store.Manifest, error) {
			list, err := f.mem.List(ctx, job)
			if errors.Is(err, store.ErrCorrupt) {
				err = nil
			}
			return list, err
		}
	}},
	{"takes what was not given", []string{"TakenFiles"}, func(f *flawed) {
		f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
			w, err := f.mem.Begin(ctx, job, number)
			return greedy{w}, err
		}
	}},
	{"starts on an empty medium", []string{"Leftovers", "Identity"}, func(f *flawed) {
		f.restart = func() store.Store { return mem{new(storetest.MemStore)} }
	}},
}

// endedPart is a part that ends with its reader.
type endedPart struct {
	io.ReadCloser
	closed *bool
}

func (p *endedPart) Read(data []byte) (int, error) {
	if *p.closed {
		return 0, io.ErrClosedPipe
	}
	return p.ReadCloser.Read(data)
}

// greedy is a writer that copies a file that it is to take, and says that it has moved it, given or not.
type greedy struct{ store.Writer }

func (w greedy) Take(name string, file fs.File, _ bool) (bool, error) {
	_, err := file.(*os.File).Seek(0, io.SeekStart)
	part, err2 := w.Part(name)
	if err := errors.Join(err, err2); err != nil {
		return false, err
	}
	_, err = io.Copy(part, file)
	return true, errors.Join(err, part.Close())
}

// credulousPart is a part whose digest nobody compares.
type credulousPart struct{ io.ReadCloser }

func (p credulousPart) Read(data []byte) (int, error) {
	n, err := p.ReadCloser.Read(data)
	if errors.Is(err, store.ErrCorrupt) {
		err = io.EOF
	}
	return n, err
}

// flawVariable makes the test binary run the suite over the flawed stores, which fails.
const flawVariable = "APPORTION_STORETEST_FLAWS"

// TestFlawed is the suite over stores that must not pass. It runs in a child of TestFlaws only: a test that
// fails on purpose would fail this package.
func TestFlawed(t *testing.T) {
	if os.Getenv(flawVariable) == "" {
		t.Skip("it is run by TestFlaws")
	}
	for _, flaw := range flaws {
		t.Run(strings.ReplaceAll(flaw.name, " ", "_"), func(t *testing.T) {
			storetest.Run(t, func(*testing.T) store.Store {
				f := &flawed{mem: mem{new(storetest.MemStore)}}
				flaw.make(f)
				return f
			})
		})
	}
	for _, flaw := range shardFlaws {
		t.Run(strings.ReplaceAll(flaw.name, " ", "_"), func(t *testing.T) {
			storetest.RunSharded(t, func(*testing.T) store.Sharded {
				f := newFlawedShards()
				flaw.make(f)
				return f
			})
		})
	}
	// A MemStore that does not say that it keeps parts in memory is one that should not.
	t.Run("holds_parts_in_memory", func(t *testing.T) {
		storetest.Run(t, func(*testing.T) store.Store { return new(storetest.MemStore) })
	})
}

// TestFlaws: every flaw is seen by the checks that are about it, and every check sees a flaw.
func TestFlaws(t *testing.T) {
	program := must.Have(os.Executable())(t)
	child := exec.CommandContext(t.Context(), program, "-test.run=^TestFlawed$", "-test.v", "-test.short", "-test.timeout=300s")
	child.Env = append(os.Environ(), flawVariable+"=1")
	output, err := child.CombinedOutput()
	must.Err(t, err, must.ErrAny, "a suite over flawed stores passed")
	for _, end := range []string{"panic:", "fatal error:", "DATA RACE"} {
		if _, told, found := strings.Cut(string(output), end); found {
			t.Fatalf("the suite over flawed stores met %s%.2000s", end, told)
		}
	}
	// The flaws that each check saw; a check that passed is there without any.
	saw := map[string][]string{}
	for _, line := range regexp.MustCompile(`--- (\w+): TestFlawed/(\w+)/(\w+) `).FindAllStringSubmatch(string(output), -1) {
		result, flaw, check := line[1], line[2], line[3]
		saw[check] = append([]string{}, saw[check]...)
		if result == "FAIL" {
			saw[check] = append(saw[check], flaw)
		}
	}
	expected := append(slices.Clone(flaws), flaw{name: "holds parts in memory", seen: []string{"LargerThanMemory"}})
	for _, f := range shardFlaws {
		expected = append(expected, flaw{name: f.name, seen: f.seen})
	}
	for _, flaw := range expected {
		for _, check := range flaw.seen {
			if !slices.Contains(saw[check], strings.ReplaceAll(flaw.name, " ", "_")) {
				t.Errorf("%s does not see a store that %s", check, flaw.name)
			}
		}
	}
	for check, seen := range saw {
		if len(seen) == 0 {
			t.Errorf("nothing is planted for %s", check)
		}
	}
	if len(saw) < 43 {
		t.Errorf("%d checks ran", len(saw))
	}
}
