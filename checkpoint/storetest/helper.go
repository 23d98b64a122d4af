// This file implements what the tests of the suite share: checkpoints that are written and compared in
// one call.

package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// file is a part with its content.
type file struct {
	name string
	// data is a string and not bytes, so that two files compare with ==.
	data string
}

// sample returns a checkpoint of two parts that differs for each number.
func sample(number int64) []file {
	// Both contents contain the number, so a checkpoint that stands under a wrong one is recognized by its
	// bytes; the second name has a slash, as most frameworks' have.
	return []file{
		{"weights", fmt.Sprintf("weights of %d", number)},
		{"optimizer/state", fmt.Sprintf("the state of number %d", number)},
	}
}

// manifestOf returns the manifest that a store must make of files; it may have digests besides.
func manifestOf(job string, number int64, files []file) store.Manifest {
	m := store.Manifest{Job: job, Number: number}
	// The sums are computed here from what was written and never taken from the store: a store cannot agree
	// with itself by mistake.
	for _, f := range files {
		m.Parts = append(m.Parts, store.Part{
			Name: f.name, Bytes: int64(len(f.data)), CRC32C: sumsOf(f.data), SHA256: sha256.Sum256([]byte(f.data)),
		})
	}
	return m
}

// sumsOf returns the sums of a content, chunk by chunk.
func sumsOf(data string) store.Sums {
	var sums strings.Builder
	for chunk := range slices.Chunk([]byte(data), store.ChunkBytes) {
		fmt.Fprintf(&sums, "%08x", crc32.Checksum(chunk, crc32.MakeTable(crc32.Castagnoli)))
	}
	return store.Sums(sums.String())
}

// sameManifest compares manifests, of which a part list may be nil or empty, and digests may be there or not. The sums
// of chunks must be.
func sameManifest(a, b store.Manifest) bool {
	return a.Job == b.Job && a.Number == b.Number && store.SameParts(a.Parts, b.Parts) &&
		slices.EqualFunc(a.Parts, b.Parts, func(x, y store.Part) bool { return x.CRC32C == y.CRC32C })
}

// write writes files as checkpoint number of job and leaves the writer open.
func write(ctx context.Context, s store.Store, job string, number int64, files []file) (store.Writer, error) {
	w, err := s.Begin(ctx, job, number)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := writePart(w, f); err != nil {
			// The writer is returned beside the error, so that the caller can abort what was begun.
			return w, err
		}
	}
	return w, nil
}

// writePart writes one part.
func writePart(w store.Writer, f file) error {
	part, err := w.Part(f.name)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(part, f.data); err != nil {
		// The part is closed even after a failed write, otherwise the writer would refuse the next for
		// another reason.
		return errors.Join(err, part.Close())
	}
	return part.Close()
}

// mustWrite returns a writer that has written all parts and committed nothing.
func mustWrite(t testing.TB, s store.Store, job string, number int64, files []file) store.Writer {
	t.Helper()
	w, err := write(t.Context(), s, job, number, files)
	if err != nil {
		t.Fatalf("writing %s/%d: %v", job, number, err)
	}
	return w
}

// mustCommit writes and commits files, and compares the manifest.
func mustCommit(t testing.TB, s store.Store, job string, number int64, files []file) store.Manifest {
	t.Helper()
	m, err := mustWrite(t, s, job, number, files).Commit()
	if err != nil {
		t.Fatalf("Commit of %s/%d: %v", job, number, err)
	}
	if want := manifestOf(job, number, files); !sameManifest(m, want) {
		t.Fatalf("Commit of %s/%d returned\n%+v, want\n%+v", job, number, m, want)
	}
	return m
}

// read returns the content of a committed checkpoint. The manifest must agree with the contents.
func read(ctx context.Context, s store.Store, job string, number int64) ([]file, error) {
	r, err := s.Open(ctx, job, number)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var files []file
	for _, listed := range r.Manifest().Parts {
		data, err := readPart(r, listed.Name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{listed.Name, data})
	}
	// The digests of what was read must be those of the manifest: a store that verified against other sums
	// would pass otherwise.
	if want := manifestOf(job, number, files); !sameManifest(r.Manifest(), want) {
		return nil, fmt.Errorf("the manifest of %s/%d is\n%+v, the contents are\n%+v", job, number, r.Manifest(), want)
	}
	return files, nil
}

// readPart reads a part to its end.
func readPart(r store.Reader, name string) (string, error) {
	part, err := r.Part(name)
	if err != nil {
		return "", err
	}
	// Only a read to the end counts: stores verify a part's digest when its last byte is read.
	data, err := io.ReadAll(part)
	// The error of Close counts as well: a store may verify as late as there.
	return string(data), errors.Join(err, part.Close())
}

// wantFiles fails unless the checkpoint is committed with exactly these files, and listed so.
// Open and List are two ways to the same checkpoint, often over different objects of the medium, so both are
// asked.
func wantFiles(t testing.TB, s store.Store, job string, number int64, files []file) {
	t.Helper()
	got, err := read(t.Context(), s, job, number)
	if err != nil {
		t.Fatalf("reading %s/%d: %v", job, number, err)
	}
	// The parts must be in the order in which they were written, by which frameworks restore them.
	if !slices.Equal(got, files) {
		t.Fatalf("%s/%d holds %.200q, want %.200q", job, number, got, files)
	}
	list, err := s.List(t.Context(), job)
	if err != nil {
		t.Fatalf("List of %q: %v", job, err)
	}
	if want := manifestOf(job, number, files); !slices.ContainsFunc(list, func(m store.Manifest) bool { return sameManifest(m, want) }) {
		t.Fatalf("%s/%d is not listed", job, number)
	}
}

// wantAbsent fails if the checkpoint is visible.
// The error of Open must be ErrNotFound: a caller that restores goes on to an older checkpoint only then.
func wantAbsent(t testing.TB, s store.Store, job string, number int64) {
	t.Helper()
	if r, err := s.Open(t.Context(), job, number); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("Open of %s/%d, which is not committed, returned %v and error %v, want ErrNotFound", job, number, r, err)
	}
	list, err := s.List(t.Context(), job)
	if err != nil {
		t.Fatalf("List of %q: %v", job, err)
	}
	// A number in List that Open does not know would be chosen for a restore that cannot work.
	if slices.ContainsFunc(list, func(m store.Manifest) bool { return m.Number == number }) {
		t.Fatalf("%s/%d is listed and not committed", job, number)
	}
}

// wantError fails unless err wraps target.
func wantError(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("%s: error %v, want one that wraps %q", what, err, target)
	}
}
