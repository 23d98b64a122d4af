// This file measures the store against writing the same bytes into a file and syncing it.

package files

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

// block is what all benchmarks write, again and again.
var block = bytes.Repeat([]byte("a block of bytes"), (1<<20)/16)

// BenchmarkCommit writes one part and commits it, beside a plain file that is written and synced, and one that gets its name
// by a rename behind that, both of which are durable, as a file that a crash cannot cut must be. It reports the
// lower quartile of each, for disks stall now and then for seconds, and what the store reaches of both rates, in percent. The three take turns in being first,
// and begin each with nothing that waits to be written or freed. The job has another checkpoint, as a job that runs. Take
// at least nine rounds; a GiB is left out with -short.
func BenchmarkCommit(b *testing.B) {
	for _, mebibytes := range []int{1, 8, 64, 1024} {
		b.Run(fmt.Sprintf("mib=%d", mebibytes), func(b *testing.B) {
			if mebibytes > 64 && testing.Short() {
				b.Skip("writes a GiB")
			}
			benchmarkCommit(b, mebibytes)
		})
	}
}

func benchmarkCommit(b *testing.B, mebibytes int) {
	b.ReportAllocs()
	dir := b.TempDir()
	s := open(b, dir, &Options{})
	commit(b, s, "job", 2, "what the job has saved before")
	file := filepath.Join(dir, "plain")
	ways := []func() error{
		func() error { return writePlain(file, mebibytes) },
		func() error { return writeRenamed(file, mebibytes) },
		func() error { return commitMebibytes(b, s, mebibytes) },
	}
	took := make([][]time.Duration, len(ways))
	for round := 0; b.Loop(); round++ {
		for i := range ways {
			way := (i + round) % len(ways)
			settle()
			took[way] = append(took[way], timed(b, ways[way]))
			// Each leaves one of the two.
			must.Do(b, errors.Join(os.RemoveAll(file), s.Delete(b.Context(), "job", 1)))
		}
	}
	plain, renamed, store := quartile(took[0]), quartile(took[1]), quartile(took[2])
	b.ReportMetric(float64(mebibytes)/plain.Seconds(), "plain-MiB/s")
	b.ReportMetric(float64(mebibytes)/store.Seconds(), "store-MiB/s")
	b.ReportMetric(100*plain.Seconds()/store.Seconds(), "%-of-plain")
	b.ReportMetric(100*renamed.Seconds()/store.Seconds(), "%-of-renamed")
}

// settle has the system write and free all that waits for it, so that nobody pays for what was there before. The disk itself
// goes on for a moment.
func settle() {
	_ = exec.Command("sync").Run() // a system without it is measured as it is
	time.Sleep(50 * time.Millisecond)
}

// quartile returns the duration that a quarter of them are not longer than.
func quartile(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/4]
}

func timed(b *testing.B, use func() error) time.Duration {
	start := time.Now()
	must.Do(b, use())
	return time.Since(start)
}

func writePlain(name string, mebibytes int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(fill(f, mebibytes), f.Sync(), f.Close())
}

// writeRenamed writes a file under another name, and gives it its own when it is durable.
func writeRenamed(name string, mebibytes int) error {
	if err := errors.Join(writePlain(name+".new", mebibytes), os.Rename(name+".new", name)); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
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

// BenchmarkTake has the store take a file that its owner has given away: what lies on one disk is read for the sums and not
// written again. It reports how long that takes, how long the reading alone, and whether the file was moved or shares
// its bytes. The file was written a moment ago, so that it is read from memory. A GiB is left out with -short.
func BenchmarkTake(b *testing.B) {
	for _, mebibytes := range []int{64, 1024} {
		b.Run(fmt.Sprintf("mib=%d", mebibytes), func(b *testing.B) {
			if mebibytes > 64 && testing.Short() {
				b.Skip("writes a GiB")
			}
			dir := b.TempDir()
			s := open(b, dir, &Options{})
			commit(b, s, "job", 2, "what the job has saved before")
			name := filepath.Join(dir, "plain")
			var reading, taking []time.Duration
			shared := 0.0
			for b.Loop() {
				must.Do(b, writePlain(name, mebibytes))
				settle()
				reading = append(reading, timed(b, func() error { return readSums(name) }))
				taking = append(taking, timed(b, func() error {
					moved, err := takeFile(b, s, name)
					if !moved {
						shared++
					}
					return err
				}))
				must.Do(b, errors.Join(os.RemoveAll(name), s.Delete(b.Context(), "job", 1)))
			}
			b.ReportMetric(quartile(taking).Seconds()*1e3, "ms-taken")
			b.ReportMetric(quartile(reading).Seconds()*1e3, "ms-read")
			b.ReportMetric(100*shared/float64(b.N), "%-shared")
		})
	}
}

// takeFile commits a checkpoint of a file, and takes away the name of one that was moved.
func takeFile(b *testing.B, s *Store, name string) (moved bool, err error) {
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	w, err := s.Begin(b.Context(), "job", 1)
	if err != nil {
		return false, err
	}
	if moved, err = w.(store.Taker).Take("part", file, true); err != nil {
		return false, err
	}
	if _, err := w.Commit(); err != nil || !moved {
		return moved, err
	}
	return true, os.Remove(name)
}

// readSums reads a file for the sums of its chunks.
func readSums(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	_, err = io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{file}, make([]byte, 256<<10))
	return err
}

// BenchmarkRead reads a committed part to its end, which compares its digest, in turn with the plain file.
func BenchmarkRead(b *testing.B) {
	const mebibytes = 64
	dir := b.TempDir()
	s := open(b, dir, &Options{})
	must.Do(b, commitMebibytes(b, s, mebibytes))
	name := filepath.Join(dir, "plain")
	must.Do(b, writePlain(name, mebibytes))
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
	s := open(b, b.TempDir(), &Options{})
	b.ReportAllocs()
	number := int64(0)
	for b.Loop() {
		number++
		w, err := s.Begin(b.Context(), "job", number)
		if err == nil {
			_, err = w.Commit()
		}
		must.Do(b, err)
	}
}

// BenchmarkList reads the manifests of a hundred checkpoints.
func BenchmarkList(b *testing.B) {
	s := open(b, b.TempDir(), &Options{})
	for number := range int64(100) {
		commit(b, s, "job", number+1, "content")
	}
	b.ReportAllocs()
	var list []store.Manifest
	for b.Loop() {
		list = must.Have(s.List(b.Context(), "job"))(b)
	}
	must.Equal(b, len(list), 100, "are listed")
}
