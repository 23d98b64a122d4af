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
// Eight exceed the cores of small machines, so goroutines also meet in the middle of a call.
const writers = 8

// together runs use for 0 to writers-1 at the same time and returns the errors in that order.
func together(use func(i int) error) []error {
	// Every goroutine has a place of its own in errs, so that no lock is needed to collect them.
	errs := make([]error, writers)
	// All goroutines wait for start: without it the first would have ended before the last is created, and
	// nothing would be concurrent.
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
// Two attempts of one job save under one number when an agent was taken for dead too early.
// The loser's save is lost, which costs some steps; a mixture of both would cost the job.
func testOneNumber(t *testing.T, s store.Store) {
	// Each round is another race under a fresh number; five of them are enough to meet a store that checks
	// and then writes without a lock.
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
		// Exactly one may win. Two winners would each believe that a restore gives what they wrote.
		winner := slices.Index(errs, nil)
		if winner < 0 {
			t.Fatalf("nobody won: %v", errors.Join(errs...))
		}
		for i, err := range errs {
			if i != winner {
				// Losers must learn that the number is taken, not that the medium failed: they give up
				// instead of repeating.
				wantError(t, fmt.Sprintf("writer %d beside %d, which won", i, winner), err, store.ErrExists)
			}
		}
		wantFiles(t, s, "job", number, sample(int64(winner)))
	}
}

// testSameParts lets all writers commit the same: all succeed.
// Two masters, or an agent that repeats a call while the first is still under way, write the same under one number.
func testSameParts(t *testing.T, s store.Store) {
	for number := range int64(5) {
		number++
		// The writers are retries of one save, all of which have the same bytes: none of them may be told
		// that it failed.
		errs := together(func(int) error {
			w, err := write(t.Context(), s, "job", number, sample(number))
			if err != nil {
				return err
			}
			m, err := w.Commit()
			if err == nil && !sameManifest(m, manifestOf("job", number, sample(number))) {
				// A retry compares the manifest with what it wrote; another one would make it report a
				// failure.
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
// One store serves all jobs of an agent, which save and resume when they like.
func testWritersReaders(t *testing.T, s store.Store) {
	jobs := []string{"a", "b", "c"}
	// The goroutines share jobs and not numbers: 8 times 6 checkpoints in 3 jobs, of which the even numbers
	// are deleted at once.
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
			// Reading goes on beside writes of others: what is committed must be whole at any moment.
			if err := readAll(t.Context(), s, job); err != nil {
				return err
			}
			// Only the goroutine that wrote a number deletes it, so at the end every odd number must stand.
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
	// When all is quiet the outcome is determined, whatever the order was: this is where a lost update of a
	// job's list shows.
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
// The parity of a number says who may take it: only even ones are deleted while others read.
func readAll(ctx context.Context, s store.Store, job string) error {
	list, err := s.List(ctx, job)
	if err != nil {
		return err
	}
	for _, m := range list {
		files, err := read(ctx, s, job, m.Number)
		// Between List and Open an even number may be deleted by its writer; an odd one that vanishes is a
		// loss.
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
	// 64 MiB exceed every buffer that a store might take by right.
	largeBytes = 64 << 20
	// 8 MiB suffice to tell a store that keeps all from one that streams.
	largeBytesShort = 8 << 20
)

// testStreaming passes a large part through a store, in and out, and counts what is allocated meanwhile.
// A checkpoint of a large model does not fit into the memory of the agent that stores it.
func testStreaming(t *testing.T, s store.Store) {
	size := int64(largeBytes)
	if testing.Short() {
		size = largeBytesShort
	}
	// The block is allocated before measuring and passed to CopyBuffer, so the copying itself allocates
	// nothing.
	block := make([]byte, 64<<10)
	measure(t, s, "writing", size, func() error { return writeLarge(t.Context(), s, size, block) })
	measure(t, s, "reading", size, func() error { return readLarge(t.Context(), s, size, block) })
	// The medium gets its 64 MiB back before the next test asks for a store.
	if err := s.Delete(t.Context(), "job", 1); err != nil {
		t.Error(err)
	}
}

// measure fails if use allocates more than a quarter of size bytes, also if they are freed again. A store
// that is InMemory is only watched.
func measure(t *testing.T, s store.Store, what string, size int64, use func() error) {
	t.Helper()
	var before, after runtime.MemStats
	// TotalAlloc only grows: it counts what was freed meanwhile too, so the measure does not depend on
	// when the collector runs.
	runtime.ReadMemStats(&before)
	if err := use(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	t.Logf("%s %d bytes allocated %d", what, size, allocated)
	// A quarter leaves room for buffers and tables of 2 MiB with -short; a store that holds the part
	// needs at least all of it.
	if _, inMemory := s.(InMemory); !inMemory && allocated > uint64(size)/4 {
		t.Errorf("%s %d bytes allocated %d, more than a quarter", what, size, allocated)
	}
}

// writeLarge commits a part of size bytes that is never in memory as a whole.
// It leaves its writer as it is after an error: the test has failed then, and the store goes with it.
func writeLarge(ctx context.Context, s store.Store, size int64, block []byte) error {
	w, err := s.Begin(ctx, "job", 1)
	if err != nil {
		return err
	}
	part, err := w.Part("large")
	if err != nil {
		return err
	}
	// The anonymous struct hides ReadFrom of the part: the part has to take blocks as a framework writes
	// them.
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
}

// readLarge reads what writeLarge has written, block by block.
// What the bytes are is for the store to compare with its sums; the length is compared here.
func readLarge(ctx context.Context, s store.Store, size int64, block []byte) error {
	r, err := s.Open(ctx, "job", 1)
	if err != nil {
		return err
	}
	defer r.Close()
	part, err := r.Part("large")
	if err != nil {
		return err
	}
	// The structs hide ReadFrom and WriteTo, which would bypass the block and with it what is measured.
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{part}, block)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes were read", n)
	}
	return errors.Join(err, part.Close())
}

// pseudoRandom returns size bytes that are made while they are read.
func pseudoRandom(size int64) io.Reader {
	// The bytes do not compress and do not repeat, so a store that packs what it keeps has no advantage; the
	// seed is fixed, so every run is alike.
	return io.LimitReader(rand.NewChaCha8([32]byte{1}), size)
}
