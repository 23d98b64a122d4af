// This file measures the store against writing the same bytes into a file and syncing it.

package filestore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
)

// block is what all benchmarks write, again and again.
var block = bytes.Repeat([]byte("a block of bytes"), (1<<20)/16)

// BenchmarkCommit writes one part and commits it, in turn with a plain file that is written and synced, so
// that both meet the same load of the disk; it reports their rates and the store's in percent of the
// file's. A GiB is left out with -short.
func BenchmarkCommit(b *testing.B) {
	for _, mebibytes := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("mib=%d", mebibytes), func(b *testing.B) {
			if mebibytes > 64 && testing.Short() {
				b.Skip("writes a GiB")
			}
			b.ReportAllocs()
			dir := b.TempDir()
			s := open(b, dir, nil)
			file := filepath.Join(dir, "plain")
			var plain, store time.Duration
			for b.Loop() {
				plain += timed(b, func() error { return writePlain(file, mebibytes) })
				store += timed(b, func() error { return commitMebibytes(b, s, mebibytes) })
				if err := errors.Join(os.Remove(file), s.Delete(b.Context(), "job", 1)); err != nil {
					b.Fatal(err)
				}
			}
			rate := func(d time.Duration) float64 { return float64(mebibytes*b.N) / d.Seconds() }
			b.ReportMetric(rate(plain), "plain-MiB/s")
			b.ReportMetric(rate(store), "store-MiB/s")
			b.ReportMetric(100*rate(store)/rate(plain), "%-of-plain")
		})
	}
}

func timed(b *testing.B, use func() error) time.Duration {
	start := time.Now()
	if err := use(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func writePlain(name string, mebibytes int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(fill(f, mebibytes), f.Sync(), f.Close())
}

func commitMebibytes(b *testing.B, s *Store, mebibytes int) error {
	w, err := s.Begin(b.Context(), "job", 1)
	if err != nil {
		return err
	}
	part, err := w.Part("part")
	if err != nil {
		return err
	}
	if err := errors.Join(fill(part, mebibytes), part.Close()); err != nil {
		return err
	}
	_, err = w.Commit()
	return err
}

func fill(w io.Writer, mebibytes int) error {
	for range mebibytes {
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkRead reads a committed part to its end, which compares its digest, in turn with the plain file.
func BenchmarkRead(b *testing.B) {
	const mebibytes = 64
	dir := b.TempDir()
	s := open(b, dir, nil)
	if err := commitMebibytes(b, s, mebibytes); err != nil {
		b.Fatal(err)
	}
	name := filepath.Join(dir, "plain")
	if err := writePlain(name, mebibytes); err != nil {
		b.Fatal(err)
	}
	buffer := make([]byte, 1<<20)
	drain := func(r io.ReadCloser, err error) error {
		if err != nil {
			return err
		}
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, buffer)
		return errors.Join(err, r.Close())
	}
	var plain, store time.Duration
	b.ReportAllocs()
	for b.Loop() {
		plain += timed(b, func() error { return drain(os.Open(name)) })
		store += timed(b, func() error {
			r, err := s.Open(b.Context(), "job", 1)
			if err != nil {
				return err
			}
			return errors.Join(drain(r.Part("part")), r.Close())
		})
	}
	b.ReportMetric(mebibytes*float64(b.N)/plain.Seconds(), "plain-MiB/s")
	b.ReportMetric(mebibytes*float64(b.N)/store.Seconds(), "store-MiB/s")
}

// BenchmarkEmptyCommit is the cost of the protocol of a commit without content, and of Open and List.
func BenchmarkEmptyCommit(b *testing.B) {
	s := open(b, b.TempDir(), nil)
	b.ReportAllocs()
	number := int64(0)
	for b.Loop() {
		number++
		w, err := s.Begin(b.Context(), "job", number)
		if err == nil {
			_, err = w.Commit()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList reads the manifests of a hundred checkpoints.
func BenchmarkList(b *testing.B) {
	s := open(b, b.TempDir(), nil)
	for number := range int64(100) {
		commit(b, s, "job", number+1, "content")
	}
	b.ReportAllocs()
	var list []store.Manifest
	var err error
	for b.Loop() {
		if list, err = s.List(b.Context(), "job"); err != nil {
			b.Fatal(err)
		}
	}
	if len(list) != 100 {
		b.Fatalf("%d are listed", len(list))
	}
}
