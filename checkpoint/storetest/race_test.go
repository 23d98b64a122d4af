// This file adds stores that are wrong when many use them, or when a part is large, for TestFlaws.

package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/apportion/apportion/checkpoint/store"
)

// large is what the flaws below take for a large part: more than any but the largest of the suite.
const large = 1 << 20

// raceFlaws break one sentence each of what many users and large parts may expect. Each has a lock of its own, so
// that it is wrong in the same way in every run.
var raceFlaws = []flaw{
	{"hides why it refuses a commit", []string{"WritersOfOneNumber"}, func(f *flawed) {
		f.commits(func(_ string, _ int64, _ bool, m store.Manifest, err error) (store.Manifest, error) {
			return m, opaque(err)
		})
	}},
	{"empties what stands when it refuses", []string{"WritersOfOneNumber"}, func(f *flawed) {
		f.commits(func(job string, number int64, _ bool, m store.Manifest, err error) (store.Manifest, error) {
			if err != nil {
				f.empty(job, number)
			}
			return m, err
		})
	}},
	{"has no manifest for what stands", []string{"WritersOfTheSame", "CommitAgain"}, func(f *flawed) {
		f.commits(func(_ string, _ int64, stood bool, m store.Manifest, err error) (store.Manifest, error) {
			if stood {
				m = store.Manifest{}
			}
			return m, err
		})
	}},
	{"empties what is committed by eight", []string{"WritersOfTheSame"}, func(f *flawed) {
		times := map[int64]int{}
		f.commits(func(job string, number int64, _ bool, m store.Manifest, err error) (store.Manifest, error) {
			if times[number]++; times[number] == 8 {
				f.empty(job, number)
			}
			return m, err
		})
	}},
	{"does not find what it lists at first", []string{"WritersAndReaders"}, func(f *flawed) {
		first := firsts()
		f.open = func(ctx context.Context, job string, number int64) (store.Reader, error) {
			if number%2 == 1 && first(job, number) {
				return nil, store.ErrNotFound
			}
			return f.mem.Open(ctx, job, number)
		}
	}},
	{"reads something else at first", []string{"WritersAndReaders"}, func(f *flawed) {
		first := firsts()
		f.reads(func(r *reader) {
			r.part = func(name string) (io.ReadCloser, error) {
				part, err := r.Reader.Part(name)
				if m := r.Reader.Manifest(); err == nil && first(m.Job, m.Number) {
					part = io.NopCloser(strings.NewReader("something else"))
				}
				return part, err
			}
		})
	}},
	{"cannot list at first", []string{"WritersAndReaders"}, func(f *flawed) {
		first := firsts()
		f.list = func(ctx context.Context, job string) ([]store.Manifest, error) {
			if first(job, 0) {
				return nil, errors.New("busy")
			}
			return f.mem.List(ctx, job)
		}
	}},
	{"cannot begin at first", []string{"WritersAndReaders", "WritersOfTheSame"}, func(f *flawed) {
		first := firsts()
		f.begin = func(ctx context.Context, job string, number int64) (store.Writer, error) {
			if first(job, 0) {
				return nil, errors.New("busy")
			}
			return f.mem.Begin(ctx, job, number)
		}
	}},
	{"complains of what it deletes", []string{"WritersAndReaders"}, func(f *flawed) {
		f.delete = func(ctx context.Context, job string, number int64) error {
			return errors.Join(f.mem.Delete(ctx, job, number), errors.New("it is gone"))
		}
	}},
	{"miscounts what is large", []string{"LargerThanMemory"}, func(f *flawed) {
		f.commits(func(_ string, _ int64, _ bool, m store.Manifest, err error) (store.Manifest, error) {
			if err == nil && len(m.Parts) > 0 && m.Parts[0].Bytes > large {
				m.Parts[0].Bytes--
			}
			return m, err
		})
	}},
	{"cuts what is large", []string{"LargerThanMemory"}, func(f *flawed) {
		f.reads(func(r *reader) {
			r.part = func(name string) (io.ReadCloser, error) {
				part, err := r.Reader.Part(name)
				if err != nil {
					return nil, err
				}
				return struct {
					io.Reader
					io.Closer
				}{io.LimitReader(part, large), part}, nil
			}
		})
	}},
	{"cannot delete what is large", []string{"LargerThanMemory"}, func(f *flawed) {
		f.delete = func(ctx context.Context, job string, number int64) error {
			if r, err := f.mem.Open(ctx, job, number); err == nil {
				for _, p := range r.Manifest().Parts {
					if p.Bytes > large {
						return errors.New("it is too large")
					}
				}
			}
			return f.mem.Delete(ctx, job, number)
		}
	}},
}

// commits changes the answers of Commit, one at a time; stood says that there was a checkpoint before.
func (f *flawed) commits(change func(job string, number int64, stood bool, m store.Manifest, err error) (store.Manifest, error)) {
	var lock sync.Mutex
	f.writes(func(w *writer, job string, number int64) {
		w.commit = func() (store.Manifest, error) {
			lock.Lock()
			defer lock.Unlock()
			_, before := f.mem.Open(context.Background(), job, number)
			m, err := w.Writer.Commit()
			return change(job, number, before == nil, m, err)
		}
	})
}

// empty replaces a checkpoint by one without parts.
func (f *flawed) empty(job string, number int64) {
	_ = f.mem.Delete(context.Background(), job, number) // what is not there is empty, too
	_ = f.showEmpty(job, number)
}

// firsts returns a function that says whether it is asked for the first time about a checkpoint.
func firsts() func(job string, number int64) bool {
	var asked sync.Map
	return func(job string, number int64) bool {
		_, before := asked.LoadOrStore(fmt.Sprint(job, "/", number), true)
		return !before
	}
}

// numbers counts checkpoints by their number. The suite uses one store from many goroutines, and a map of its own
// would end the process of a flaw instead of breaking the one sentence that the flaw is about.
type numbers struct {
	lock  sync.Mutex
	times map[int64]int
}

// add counts number once more and returns how often it was counted.
func (n *numbers) add(number int64) int {
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.times == nil {
		n.times = map[int64]int{}
	}
	n.times[number]++
	return n.times[number]
}

// count is how often number was counted.
func (n *numbers) count(number int64) int {
	n.lock.Lock()
	defer n.lock.Unlock()
	return n.times[number]
}
