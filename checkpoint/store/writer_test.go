// This file tests the writer and the reader on a medium that tells what is asked of it and fails when it
// is told to.

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apportion/apportion/internal/must"
)

// apart has an object for each part, and digests.
var apart = Form{SHA256: true, InlineBytes: -1}

var errMedium = errors.New("the medium has failed")

// fake is a medium in memory. It logs what it does, and the call named fail fails.
type fake struct {
	log     []string
	fail    string
	objects []*bytes.Buffer
	stored  Stored
}

func (f *fake) do(call string) error {
	f.log = append(f.log, call)
	if call == f.fail {
		return errMedium
	}
	return nil
}

func (f *fake) Create(index int) (Object, error) {
	if err := f.do(fmt.Sprint("create ", index)); err != nil {
		return nil, err
	}
	f.objects = append(f.objects, new(bytes.Buffer))
	return &fakeObject{f, len(f.objects) - 1}, nil
}

func (f *fake) Commit(r Stored) (Manifest, error) {
	f.stored = r
	return r.Manifest, f.do("commit")
}

func (f *fake) Abort() error { return f.do("abort") }

type fakeObject struct {
	f     *fake
	index int
}

func (o *fakeObject) Write(p []byte) (int, error) {
	if err := o.f.do("write"); err != nil {
		return 0, err
	}
	if o.f.fail == "short write" {
		p = p[:len(p)/2]
	}
	return o.f.objects[o.index].Write(p)
}

func (o *fakeObject) Close() error   { return o.f.do("close") }
func (o *fakeObject) Discard() error { return o.f.do("discard") }

func use(w Writer) error {
	for _, name := range []string{"a", "b"} {
		part, err := w.Part(name)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(part, "content of "+name); err != nil {
			return errors.Join(err, part.Close())
		}
		if err := part.Close(); err != nil {
			return err
		}
	}
	_, err := w.Commit()
	return err
}

// TestWriterCalls pins what a medium is asked for: every object is closed or discarded once, nothing is
// committed after a failure, and nothing dropped after a commit.
func TestWriterCalls(t *testing.T) {
	for fail, want := range map[string]string{
		"":            "create 0, write, close, create 1, write, close, commit",
		"create 0":    "create 0, abort",
		"create 1":    "create 0, write, close, create 1, abort",
		"write":       "create 0, write, discard, abort",
		"short write": "create 0, write, discard, abort",
		"close":       "create 0, write, close, abort",
		"commit":      "create 0, write, close, create 1, write, close, commit, abort",
	} {
		f := &fake{fail: fail}
		w := newWriter(t.Context(), "job", 1, apart, f)
		err := use(w)
		if (err == nil) != (fail == "") || err != nil && !errors.Is(err, errMedium) && !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%q failing: error %v", fail, err)
		}
		if _, again := w.Commit(); (again == nil) != (fail == "") {
			t.Errorf("%q failing: Commit afterwards returned %v", fail, again)
		}
		must.Fail(w.Part("c"))(t, must.ErrAny, fail, "failing: Part afterwards succeeded")
		must.Do(t, w.Abort(), fail, "failing: Abort")
		must.Equal(t, strings.Join(f.log, ", "), want, fail, "failing: the medium was asked for")
	}
}

func TestWriterAbort(t *testing.T) {
	f := &fake{fail: "abort"}
	w := newWriter(t.Context(), "job", 1, apart, f)
	part := must.Have(w.Part("a"))(t)
	must.Err(t, w.Abort(), errMedium, "Abort")
	f.fail = ""
	must.Do(t, w.Abort(), "Abort again")
	must.Fail(io.WriteString(part, "x"))(t, must.ErrAny, "Write after Abort succeeded")
	must.Do(t, part.Close(), "Close after Abort")
	must.Same(t, f.log, []string{"create 0", "discard", "abort", "abort"}, "the medium was asked for")
}

func digestOf(data []byte) Digest {
	r := record(string(data))
	return r.Parts[0].SHA256
}

// readerOf returns a reader whose manifest says committed and whose object holds stored.
func readerOf(ctx context.Context, committed string, stored io.Reader) Reader {
	m := Manifest{Job: "job", Number: 1, Parts: []Part{
		{Name: "a", Bytes: int64(len(committed)), SHA256: digestOf([]byte(committed))},
	}}
	return newReader(ctx, Stored{Record: Record{Manifest: m}}, func(int, int64) (io.ReadCloser, error) { return io.NopCloser(stored), nil })
}

// TestReadDamaged: of a damaged part nobody gets as many bytes as the manifest says without an error, in
// whatever pieces it is read and whatever pieces the object comes in.
func TestReadDamaged(t *testing.T) {
	for name, test := range map[string]struct {
		committed, stored string
		intact            bool
	}{
		"intact":        {"0123456789", "0123456789", true},
		"empty":         {"", "", true},
		"flipped":       {"0123456789", "0123456788", false},
		"flipped first": {"0123456789", "1123456789", false},
		"short":         {"0123456789", "012345678", false},
		"gone":          {"0123456789", "", false},
		"long":          {"0123456789", "01234567890", false},
		"not empty":     {"", "x", false},
	} {
		for form, from := range map[string]func(io.Reader) io.Reader{
			"": func(r io.Reader) io.Reader { return r }, "one byte": iotest.OneByteReader, "half": iotest.HalfReader,
			"error with data": iotest.DataErrReader,
		} {
			read := func(use func(io.Reader) (string, error)) {
				t.Helper()
				part := must.Have(readerOf(t.Context(), test.committed, from(strings.NewReader(test.stored))).Part("a"))(t)
				switch data, err := use(part); {
				case test.intact && (err != nil || data != test.committed):
					t.Errorf("%s, %s: %q, %v", name, form, data, err)
				case !test.intact && !errors.Is(err, ErrCorrupt):
					t.Errorf("%s, %s: %q, %v, want ErrCorrupt", name, form, data, err)
				}
			}
			all := func(r io.Reader) (string, error) {
				data, err := io.ReadAll(r)
				return string(data), err
			}
			exactly := func(r io.Reader) (string, error) {
				data := make([]byte, len(test.committed))
				_, err := io.ReadFull(r, data)
				return string(data), err
			}
			read(all)
			read(func(r io.Reader) (string, error) { return all(iotest.OneByteReader(r)) })
			if test.committed != "" { // io.ReadFull of nothing reads nothing
				read(exactly)
			}
		}
	}
}

func TestReaderClosed(t *testing.T) {
	r := readerOf(t.Context(), "0123456789", strings.NewReader("0123456789"))
	part := must.Have(r.Part("a"))(t)
	must.Do(t, errors.Join(r.Close(), r.Close()))
	must.Fail(r.Part("a"))(t, must.ErrAny, "Part after Close succeeded")
	must.Do(t, part.Close())
	must.Fail(part.Read(make([]byte, 1)))(t, must.ErrAny, "Read after Close succeeded")
}

// A part is what was written, in whatever pieces, on both sides of the length from which on the digest is
// computed beside; and it is read back in whatever pieces.
func TestPiecesAgainstWhole(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 8))
		data := make([]byte, rng.IntN(4*aside))
		for i := range data {
			data[i] = byte(rng.IntN(256))
		}
		f := &fake{}
		w := newWriter(t.Context(), "job", 1, apart, f)
		part := must.Have(w.Part("a"))(t)
		for rest := data; len(rest) > 0; {
			piece := bytes.Clone(rest[:min(len(rest), 1+rng.IntN(2*aside))])
			must.Equal(t, must.Have(part.Write(piece))(t), len(piece), "Write")
			clear(piece) // it is the caller's again
			rest = rest[min(len(rest), len(piece)):]
		}
		must.Do(t, part.Close())
		m, err := w.Commit()
		want := Part{Name: "a", Bytes: int64(len(data)), CRC32C: sumsOf(data), SHA256: Digest(sha256.Sum256(data))}
		if err != nil || len(m.Parts) != 1 || m.Parts[0] != want || !bytes.Equal(f.objects[0].Bytes(), data) {
			t.Fatalf("seed %d: %+v, %v, want %+v", seed, m.Parts, err, want)
		}
		r := newReader(t.Context(), Stored{Record: Record{Manifest: m}}, func(int, int64) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(f.objects[0].Bytes())), nil
		})
		from := must.Have(r.Part("a"))(t)
		var got []byte
		for err == nil {
			var n int
			piece := make([]byte, rng.IntN(aside))
			n, err = from.Read(piece)
			got = append(got, piece[:n]...)
		}
		if err != io.EOF || !bytes.Equal(got, data) {
			t.Fatalf("seed %d: read %d of %d bytes, %v", seed, len(got), len(data), err)
		}
	}
}

// Manifests that a writer and a reader hand out are the caller's: changing one changes no other.
func TestManifestsAreCopies(t *testing.T) {
	w := newWriter(t.Context(), "job", 1, apart, &fake{})
	if part, err := w.Part("a"); err != nil || part.Close() != nil {
		t.Fatal(err)
	}
	first := must.Have(w.Commit())(t)
	kept := first
	kept.Parts = slices.Clone(first.Parts)
	r := newReader(t.Context(), Stored{Record: Record{Manifest: kept}}, nil)
	mine := r.Manifest()
	mine.Parts[0].Name = "mine"
	first.Parts[0].Name = "first"
	if again, err := w.Commit(); err != nil || again.Parts[0].Name != "a" || r.Manifest().Parts[0].Name != "a" {
		t.Errorf("%v and %v, %v", again, r.Manifest(), err)
	}
}
