// This file tests that a store may be used by many at the same time, and that a part may be larger than
// memory.

package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// writers is how many goroutines write at the same time.
const writers = 8

// together runs use for 0 to writers-1 at the same time and returns the errors in that order.
func together(use func(i int) error) []error {
	errs := make([]error, writers)
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			<-start
			errs[i] = use(i)
		})
	}
	close(start)
	group.Wait()
	return errs
}

// testOneNumber lets all writers commit different content under one number: one wins.
func testOneNumber(t *testing.T, s store.Store) {
	for number := range int64(5) {
		number++
		errs := together(func(i int) error {
			w, err := write(t.Context(), s, "job", number, sample(int64(i)))
			if err != nil {
				return err
			}
			_, err = w.Commit()
			return errors.Join(err, w.Abort())
		})
		winner := slices.Index(errs, nil)
		if winner < 0 {
			t.Fatalf("nobody won: %v", errors.Join(errs...))
		}
		for i, err := range errs {
			if i != winner {
				wantError(t, fmt.Sprintf("writer %d beside %d, which won", i, winner), err, store.ErrExists)
			}
		}
		wantFiles(t, s, "job", number, sample(int64(winner)))
	}
}

// testSameParts lets all writers commit the same: all succeed.
func testSameParts(t *testing.T, s store.Store) {
	for number := range int64(5) {
		number++
		errs := together(func(int) error {
			w, err := write(t.Context(), s, "job", number, sample(number))
			if err != nil {
				return err
			}
			m, err := w.Commit()
			if err == nil && !sameManifest(m, manifestOf("job", number, sample(number))) {
				err = fmt.Errorf("another manifest: %+v", m)
			}
			return errors.Join(err, w.Abort())
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, s, "job", number, sample(number))
	}
}

// testWritersReaders lets every goroutine write, list, read and delete in jobs that they share.
func testWritersReaders(t *testing.T, s store.Store) {
	jobs := []string{"a", "b", "c"}
	const each = 6
	errs := together(func(i int) error {
		for k := range each {
			job, number := jobs[k%len(jobs)], int64(1+i*each+k)
			w, err := write(t.Context(), s, job, number, sample(number))
			if err != nil {
				return err
			}
			if _, err := w.Commit(); err != nil {
				return err
			}
			if err := readAll(t.Context(), s, job); err != nil {
				return err
			}
			if number%2 == 0 {
				if err := s.Delete(t.Context(), job, number); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i := range writers * each {
		job, number := jobs[i%each%len(jobs)], int64(1+i)
		if number%2 == 0 {
			wantAbsent(t, s, job, number)
		} else {
			wantFiles(t, s, job, number, sample(number))
		}
	}
}

// readAll reads what is listed. Even numbers may vanish meanwhile.
func readAll(ctx context.Context, s store.Store, job string) error {
	list, err := s.List(ctx, job)
	if err != nil {
		return err
	}
	for _, m := range list {
		files, err := read(ctx, s, job, m.Number)
		gone := m.Number%2 == 0 && errors.Is(err, store.ErrNotFound)
		if err != nil && !gone {
			return err
		}
		if err == nil && !slices.Equal(files, sample(m.Number)) {
			return fmt.Errorf("%s/%d holds %q", job, m.Number, files)
		}
	}
	return nil
}

// Sizes of the part that is not to be held in memory.
const (
	largeBytes      = 64 << 20
	largeBytesShort = 8 << 20
)

// testStreaming passes a large part through a store and counts all memory that is allocated meanwhile,
// also what is freed again: a quarter of the part may be.
func testStreaming(t *testing.T, s store.Store) {
	size := int64(largeBytes)
	if testing.Short() {
		size = largeBytesShort
	}
	block := make([]byte, 64<<10)
	measure := func(what string, use func() error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := use(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s %d bytes allocated %d", what, size, allocated)
		if _, inMemory := s.(InMemory); !inMemory && allocated > uint64(size)/4 {
			t.Errorf("%s %d bytes allocated %d, more than a quarter", what, size, allocated)
		}
	}
	measure("writing", func() error {
		w, err := s.Begin(t.Context(), "job", 1)
		if err != nil {
			return err
		}
		part, err := w.Part("large")
		if err != nil {
			return err
		}
		if _, err := io.CopyBuffer(struct{ io.Writer }{part}, pseudoRandom(size), block); err != nil {
			return err
		}
		if err := part.Close(); err != nil {
			return err
		}
		m, err := w.Commit()
		if err == nil && m.Parts[0].Bytes != size {
			err = fmt.Errorf("the manifest says %d bytes", m.Parts[0].Bytes)
		}
		return err
	})
	measure("reading", func() error {
		r, err := s.Open(t.Context(), "job", 1)
		if err != nil {
			return err
		}
		defer r.Close()
		part, err := r.Part("large")
		if err != nil {
			return err
		}
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{part}, block)
		if err == nil && n != size {
			err = fmt.Errorf("%d bytes were read", n)
		}
		return errors.Join(err, part.Close())
	})
	if err := s.Delete(t.Context(), "job", 1); err != nil {
		t.Error(err)
	}
}

// pseudoRandom returns size bytes that are made while they are read.
func pseudoRandom(size int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte{1}), size)
}
