// This file checks that a store may be used by many at the same time, and that a part may be larger than memory.

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

// together runs use for 0 to n-1 at the same time and returns the errors in that order.
func together(n int, use func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			<-start
			errs[i] = use(i)
		})
	}
	close(start)
	group.Wait()
	return errs
}

// testOneNumber lets all writers commit different content under one number: exactly one wins.
func testOneNumber(c check) {
	for number := int64(1); number <= 5; number++ {
		errs := together(writers, func(i int) error {
			_, err := save(c.Context(), c, "job", number, sample(int64(i)))
			return err
		})
		winner := slices.Index(errs, nil)
		if winner < 0 {
			c.Fatalf("no writer won: %v", errors.Join(errs...))
		}
		for i, err := range errs {
			if i != winner {
				c.is(fmt.Sprintf("writer %d beside %d, which won", i, winner), err, store.ErrExists)
			}
		}
		c.holds("job", number, sample(int64(winner))...)
	}
}

// testSameParts lets all writers commit the same, as retries of one save do: all succeed.
func testSameParts(c check) {
	for number := int64(1); number <= 5; number++ {
		c.ok(errors.Join(together(writers, func(int) error {
			m, err := save(c.Context(), c, "job", number, sample(number))
			if err == nil && !sameManifest(m, manifestOf("job", number, sample(number))) {
				err = fmt.Errorf("another manifest: %+v", m)
			}
			return err
		})...))
		c.holds("job", number, sample(number)...)
	}
}

// testWritersReaders lets every goroutine write, list, read and delete in jobs that they share. Even numbers are deleted at
// once, by the goroutine that wrote them.
func testWritersReaders(c check) {
	const each = 6
	at := func(i, k int) (string, int64) { return []string{"a", "b", "c"}[k%3], int64(1 + i*each + k) }
	c.ok(errors.Join(together(writers, func(i int) error {
		for k := range each {
			job, number := at(i, k)
			_, err := save(c.Context(), c, job, number, sample(number))
			if err == nil {
				err = readAll(c.Context(), c, job)
			}
			if err == nil && number%2 == 0 {
				err = c.Delete(c.Context(), job, number)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})...))
	for i := range writers * each {
		if job, number := at(i/each, i%each); number%2 == 0 {
			c.absent(job, number)
		} else {
			c.holds(job, number, sample(number)...)
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
		if m.Number%2 == 0 && errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err == nil && !slices.Equal(files, sample(m.Number)) {
			err = fmt.Errorf("%s/%d holds %q", job, m.Number, files)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// testStreaming passes a large part through a store, in and out, and counts what is allocated meanwhile.
func testStreaming(c check) {
	size := int64(64 << 20)
	if testing.Short() {
		size = 8 << 20
	}
	// The structs hide ReadFrom and WriteTo, which would bypass the block and with it what is measured.
	block := make([]byte, 64<<10)
	w := c.write("job", 1)
	c.measure("writing", size, func() {
		part, err := w.Part("large")
		c.ok(err)
		// The bytes do not compress and do not repeat.
		_, err = io.CopyBuffer(struct{ io.Writer }{part}, io.LimitReader(rand.NewChaCha8([32]byte{1}), size), block)
		c.ok(errors.Join(err, part.Close()))
		m, err := w.Commit()
		c.ok(err)
		if m.Parts[0].Bytes != size {
			c.Fatalf("the manifest says %d bytes", m.Parts[0].Bytes)
		}
	})
	r := c.open("job", 1)
	c.measure("reading", size, func() {
		part := c.part(r, "large")
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{part}, block)
		if err != nil || n != size {
			c.Fatalf("%d bytes were read: %v", n, err)
		}
	})
	c.remove("job", 1)
}

// measure fails if use allocates more than a quarter of size bytes, also if they are freed again. A store in memory is only
// watched.
func (c check) measure(what string, size int64, use func()) {
	c.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	use()
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	c.Logf("%s %d bytes allocated %d", what, size, allocated)
	if _, inMemory := c.Store.(interface{ InMemory() }); !inMemory && allocated > uint64(size)/4 {
		c.Errorf("%s %d bytes allocated %d, more than a quarter", what, size, allocated)
	}
}
