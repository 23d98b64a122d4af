// This file implements what the checks share: checkpoints that are written, read and compared in one call.

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
type file struct{ name, data string }

// sample returns a checkpoint of two parts that differs for each number.
func sample(number int64) []file {
	return []file{
		{"weights", fmt.Sprintf("weights of %d", number)},
		{"optimizer/state", fmt.Sprintf("the state of number %d", number)},
	}
}

// manifestOf returns the manifest that a store must make of files, with sums that no store has computed; the digests need not
// be there.
func manifestOf(job string, number int64, files []file) store.Manifest {
	m := store.Manifest{Job: job, Number: number}
	for _, f := range files {
		var sums strings.Builder
		for chunk := range slices.Chunk([]byte(f.data), store.ChunkBytes) {
			fmt.Fprintf(&sums, "%08x", crc32.Checksum(chunk, crc32.MakeTable(crc32.Castagnoli)))
		}
		m.Parts = append(m.Parts, store.Part{
			Name: f.name, Bytes: int64(len(f.data)), CRC32C: store.Sums(sums.String()), SHA256: sha256.Sum256([]byte(f.data)),
		})
	}
	return m
}

// sameManifest compares manifests: part lists may be nil or empty, digests may be there or not.
func sameManifest(a, b store.Manifest) bool {
	return a.Job == b.Job && a.Number == b.Number && store.SameParts(a.Parts, b.Parts) &&
		slices.EqualFunc(a.Parts, b.Parts, func(x, y store.Part) bool { return x.CRC32C == y.CRC32C })
}

// write writes files as a checkpoint that is not committed. The writer is nil if the store began none.
func write(ctx context.Context, s store.Store, job string, number int64, files []file) (store.Writer, error) {
	w, err := s.Begin(ctx, job, number)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := writePart(w, f); err != nil {
			return w, err
		}
	}
	return w, nil
}

func writePart(w store.Writer, f file) error {
	part, err := w.Part(f.name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(part, f.data)
	return errors.Join(err, part.Close())
}

// save writes and commits files, and gives up what could not be committed.
func save(ctx context.Context, s store.Store, job string, number int64, files []file) (m store.Manifest, err error) {
	w, err := write(ctx, s, job, number, files)
	if err == nil {
		m, err = w.Commit()
	}
	if w != nil {
		_ = w.Abort() // behind a fence it may complain about what it no longer finds
	}
	return m, err
}

// readPart reads a part to its end, up to which damage may show, and closes it.
func readPart(part io.ReadCloser, err error) (string, error) {
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(part)
	return string(data), errors.Join(err, part.Close())
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
		data, err := readPart(r.Part(listed.Name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{listed.Name, data})
	}
	if want := manifestOf(job, number, files); !sameManifest(r.Manifest(), want) {
		return nil, fmt.Errorf("the manifest of %s/%d is\n%+v, the contents are\n%+v", job, number, r.Manifest(), want)
	}
	return files, nil
}

// Write begins checkpoint number of job and writes data as its only part, which is called "part". The writer is the caller's,
// to commit or abort, also beside an error; it is nil if the store began none.
func Write(ctx context.Context, s store.Store, job string, number int64, data string) (store.Writer, error) {
	return write(ctx, s, job, number, []file{{"part", data}})
}

// Read returns the content of a checkpoint that [Write] wrote. The error wraps store.ErrNotFound if there is no such checkpoint
// or part, and store.ErrCorrupt if the bytes are not the committed ones.
func Read(ctx context.Context, s store.Store, job string, number int64) (string, error) {
	return readOne(ctx, s, job, number, "part")
}

func readOne(ctx context.Context, s store.Store, job string, number int64, name string) (string, error) {
	r, err := s.Open(ctx, job, number)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return readPart(r.Part(name))
}

// check is a test with a store; its methods fail the test where the store does not do what they say.
type check struct {
	*testing.T
	store.Store
}

// ok demands that there is no error.
func (c check) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// is demands an error that wraps target.
func (c check) is(what string, err, target error) {
	c.Helper()
	if !errors.Is(err, target) {
		c.Fatalf("%s: error %v, want one that wraps %q", what, err, target)
	}
}

// refused demands an error, whichever.
func (c check) refused(what string, err error) {
	c.Helper()
	if err == nil {
		c.Errorf("%s succeeded", what)
	}
}

func (c check) write(job string, number int64, files ...file) store.Writer {
	c.Helper()
	w, err := write(c.Context(), c, job, number, files)
	c.ok(err)
	return w
}

func (c check) commits(w store.Writer, job string, number int64, files ...file) store.Manifest {
	c.Helper()
	m, err := w.Commit()
	c.ok(err)
	if want := manifestOf(job, number, files); !sameManifest(m, want) {
		c.Fatalf("Commit of %s/%d returned\n%.500v, want\n%.500v", job, number, m, want)
	}
	return m
}

func (c check) save(job string, number int64, files ...file) store.Manifest {
	c.Helper()
	return c.commits(c.write(job, number, files...), job, number, files...)
}

func (c check) open(job string, number int64) store.Reader {
	c.Helper()
	r, err := c.Open(c.Context(), job, number)
	c.ok(err)
	c.Cleanup(func() { _ = r.Close() })
	return r
}

func (c check) part(r store.Reader, name string) io.ReadCloser {
	c.Helper()
	part, err := r.Part(name)
	c.ok(err)
	c.Cleanup(func() { _ = part.Close() })
	return part
}

func (c check) remove(job string, numbers ...int64) {
	c.Helper()
	for _, number := range numbers {
		c.ok(c.Delete(c.Context(), job, number))
	}
}

func (c check) list(job string) []int64 {
	c.Helper()
	list, err := c.List(c.Context(), job)
	c.ok(err)
	return numbersOf(list)
}

func numbersOf(list []store.Manifest) []int64 {
	numbers := make([]int64, len(list))
	for i, m := range list {
		numbers[i] = m.Number
	}
	return numbers
}

// holds demands that a checkpoint is committed with exactly these files in their order, and listed so.
func (c check) holds(job string, number int64, files ...file) {
	c.Helper()
	got, err := read(c.Context(), c, job, number)
	c.ok(err)
	if !slices.Equal(got, files) {
		c.Fatalf("%s/%d holds %.200q, want %.200q", job, number, got, files)
	}
	list, err := c.List(c.Context(), job)
	c.ok(err)
	want := manifestOf(job, number, files)
	if !slices.ContainsFunc(list, func(m store.Manifest) bool { return sameManifest(m, want) }) {
		c.Fatalf("%s/%d is not listed", job, number)
	}
}

// absent demands that a checkpoint is not visible: that Open says ErrNotFound, upon which a caller goes on to an older one.
func (c check) absent(job string, number int64) {
	c.Helper()
	_, err := c.Open(c.Context(), job, number)
	c.is(fmt.Sprintf("Open of %s/%d, which is not committed", job, number), err, store.ErrNotFound)
	if slices.Contains(c.list(job), number) {
		c.Fatalf("%s/%d is listed and not committed", job, number)
	}
}

func (c check) ended() context.Context {
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	return ctx
}

// restarted returns the check of the store as the next process sees it, after a collection; of a store that is no Restarter
// it is the same one.
func (c check) restarted() check {
	c.Helper()
	restarter, ok := c.Store.(Restarter)
	if !ok {
		return c
	}
	next := restarter.Restart(c)
	if s, ok := next.(interface{ Collect(context.Context) error }); ok {
		c.ok(s.Collect(c.Context()))
	}
	return check{c.T, next}
}
