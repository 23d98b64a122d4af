// This file measures the store against the client library alone: the same bytes in the same objects.

package blobstore

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/memblob"
)

// block is what all benchmarks write, again and again.
var block = bytes.Repeat([]byte("a block of bytes"), (1<<20)/16)

// BenchmarkSave writes one part and reads it back, in turn by the client library and by the store, so that
// both meet the same load; it reports their rates and the store's in percent of the library's.
func BenchmarkSave(b *testing.B) {
	for medium, url := range map[string]func(b *testing.B) string{
		"mem":  func(*testing.B) string { return "mem://" },
		"file": func(b *testing.B) string { return "file://" + b.TempDir() + "?no_tmp_dir=1&metadata=skip" },
		"s3":   func(b *testing.B) string { return s3URL(b, nil) },
	} {
		for _, mebibytes := range []int{1, 64} {
			b.Run(fmt.Sprintf("medium=%s/mib=%d", medium, mebibytes), func(b *testing.B) {
				b.ReportAllocs()
				s := openURL(b, url(b))
				defer s.Close()
				var plain, store time.Duration
				for b.Loop() {
					plain += timed(b, func() error { return savePlain(b, s.on.Bucket, mebibytes) })
					store += timed(b, func() error { return saveStore(b, s, mebibytes) })
				}
				report(b, mebibytes, plain, store)
			})
		}
	}
}

func timed(b *testing.B, use func() error) time.Duration {
	start := time.Now()
	noError(b, use())
	return time.Since(start)
}

func report(b *testing.B, mebibytes int, plain, store time.Duration) {
	rate := func(d time.Duration) float64 { return float64(mebibytes*b.N) / d.Seconds() }
	b.ReportMetric(rate(plain), "plain-MiB/s")
	b.ReportMetric(rate(store), "store-MiB/s")
	b.ReportMetric(100*rate(store)/rate(plain), "%-of-plain")
}

// savePlain is what a user of the client library would do.
func savePlain(b *testing.B, bucket *blob.Bucket, mebibytes int) error {
	w, err := bucket.NewWriter(b.Context(), "plain", &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return err
	}
	if err := fill(w, mebibytes); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	r, err := bucket.NewReader(b.Context(), "plain", nil)
	if err != nil {
		return err
	}
	if err := drain(r); err != nil {
		return err
	}
	return bucket.Delete(b.Context(), "plain")
}

func saveStore(b *testing.B, s *Store, mebibytes int) error {
	w, err := s.Begin(b.Context(), "job", 1)
	if err != nil {
		return err
	}
	part, err := w.Part("part")
	if err != nil {
		return err
	}
	if err := fill(part, mebibytes); err != nil {
		return err
	}
	if err := part.Close(); err != nil {
		return err
	}
	if _, err := w.Commit(); err != nil {
		return err
	}
	r, err := s.Open(b.Context(), "job", 1)
	if err != nil {
		return err
	}
	defer r.Close()
	read, err := r.Part("part")
	if err != nil {
		return err
	}
	if err := drain(read); err != nil {
		return err
	}
	return s.Delete(b.Context(), "job", 1)
}

func fill(w io.Writer, mebibytes int) error {
	for range mebibytes {
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	return nil
}

func drain(r io.ReadCloser) error {
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, make([]byte, 1<<20)); err != nil {
		return err
	}
	return r.Close()
}
