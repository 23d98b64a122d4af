// This file tests what becomes visible and when, and that it is what was written.

package storetest

import (
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apportion/apportion/checkpoint/store"
)

// testEmpty: Of what never was: Open says ErrNotFound, List lists nothing, Delete is no error.
func testEmpty(t *testing.T, s store.Store) {
	wantAbsent(t, s, "job", 1)
	if err := s.Delete(t.Context(), "job", 1); err != nil {
		t.Errorf("Delete of what never was: %v", err)
	}
}

// testVisible: "Before, it is not visible: neither List nor Open know it." Looked at after every step of a writer.
func testVisible(t *testing.T, s store.Store) {
	w, err := s.Begin(t.Context(), "job", 7)
	if err != nil {
		t.Fatal(err)
	}
	wantAbsent(t, s, "job", 7)
	for _, f := range sample(7) {
		if err := writePart(w, f); err != nil {
			t.Fatal(err)
		}
		wantAbsent(t, s, "job", 7)
	}
	m, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	if want := manifestOf("job", 7, sample(7)); !sameManifest(m, want) {
		t.Fatalf("Commit returned %+v, want %+v", m, want)
	}
	wantFiles(t, s, "job", 7, sample(7))
	wantAbsent(t, s, "job", 6)
	wantAbsent(t, s, "job", 8)
}

// testContents tries shapes that a store could mistake: nothing at all, parts without bytes, names that
// prefix one another or are those of the store's own files, bytes of every value.
func testContents(t *testing.T, s store.Store) {
	block := make([]byte, 300_000)
	_, _ = rand.Read(block) // never fails
	many := make([]file, 300)
	for i := range many {
		many[i] = file{fmt.Sprintf("shard-%d", i), fmt.Sprint("content ", i)}
	}
	for i, files := range [][]file{
		nil,
		{{"empty", ""}},
		{{"empty", ""}, {"full", "x"}, {"also empty", ""}},
		{{"a", "1"}, {"a/b", "2"}, {"a/b/c", "3"}, {"ab", "4"}},
		{{"manifest", "mine"}, {"0", "zero"}, {"1", "one"}, {"parts/0", "deep"}, {".tmp-1", "t"}},
		{{"Model", "upper"}, {"model", "lower"}, {"MODEL", "loud"}},
		{{"größe/模型 1.ckpt", "unicode"}, {" ", "space"}, {"a%2Fb", "percent"}, {"~a:b*c?\"<>|&", "odd"}},
		{{strings.Repeat("d/", 511) + "d", "deep"}, {strings.Repeat("n", 255), "wide"}},
		{{"bytes", string(block)}, {"copy", string(block)}},
		many,
	} {
		number := int64(i + 1)
		mustCommit(t, s, "job", number, files)
		wantFiles(t, s, "job", number, files)
	}
}

// testPieces reads in all the ways in which readers are used: exactly to the length without ever asking
// for more, byte by byte, two parts in turn, one part twice.
func testPieces(t *testing.T, s store.Store) {
	files := []file{{"a", strings.Repeat("0123456789", 5000)}, {"b", "b"}, {"none", ""}}
	mustCommit(t, s, "job", 1, files)
	r, err := s.Open(t.Context(), "job", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range files {
		for name, use := range map[string]func(part io.Reader) error{
			"TestReader": func(part io.Reader) error { return iotest.TestReader(part, []byte(f.data)) },
			"ReadFull": func(part io.Reader) error {
				data := make([]byte, len(f.data))
				_, err := io.ReadFull(part, data)
				if err == nil && string(data) != f.data {
					err = fmt.Errorf("read other bytes")
				}
				return err
			},
		} {
			part, err := r.Part(f.name)
			if err != nil {
				t.Fatal(err)
			}
			if err := use(part); err != nil {
				t.Errorf("%s of %q: %v", name, f.name, err)
			}
			if err := part.Close(); err != nil {
				t.Errorf("Close of %q: %v", f.name, err)
			}
		}
	}
	first, err1 := r.Part("a")
	second, err2 := r.Part("a")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	defer first.Close()
	defer second.Close()
	for range 100 {
		var p, q [10]byte
		_, err1 := io.ReadFull(first, p[:])
		_, err2 := io.ReadFull(second, q[:])
		if err1 != nil || err2 != nil || p != q || string(p[:]) != "0123456789" {
			t.Fatalf("one part twice: %q and %q, %v, %v", p, q, err1, err2)
		}
	}
}

// testReader: "ErrNotFound for a name that the manifest does not have"; Close releases "not the parts that are open".
// The manifest is a copy.
func testReader(t *testing.T, s store.Store) {
	mustCommit(t, s, "job", 1, sample(1))
	r, err := s.Open(t.Context(), "job", 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Part("no such part")
	wantError(t, "Part of an unknown name", err, store.ErrNotFound)
	_, err = r.Part("../1/weights")
	wantError(t, "Part of a path", err, store.ErrNotFound)

	m := r.Manifest()
	m.Parts[0].Name = "changed by the caller"
	if got := r.Manifest().Parts[0].Name; got != "weights" {
		t.Errorf("the manifest belongs to the caller and changed that of the reader to %q", got)
	}
	part, err := r.Part("weights")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(part)
	if err != nil || string(data) != sample(1)[0].data {
		t.Errorf("a part that was open when the reader was closed: %q, %v", data, err)
	}
	if err := part.Close(); err != nil {
		t.Error(err)
	}
}

// testList: "Ascending by number": committed in another order, with numbers that sort otherwise as text.
func testList(t *testing.T, s store.Store) {
	numbers := []int64{10, 9, 100, 1, 2, 1<<63 - 1, 20}
	for _, number := range numbers {
		mustCommit(t, s, "job", number, sample(number))
	}
	list, err := s.List(t.Context(), "job")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(numbers)
	if len(list) != len(numbers) {
		t.Fatalf("List has %d checkpoints, want %d", len(list), len(numbers))
	}
	for i, number := range numbers {
		if want := manifestOf("job", number, sample(number)); !sameManifest(list[i], want) {
			t.Errorf("List has %+v in place %d, want %+v", list[i], i, want)
		}
	}
}

// testJobs uses names that begin or end alike, in each other's order, and names that would lead elsewhere
// if they were paths.
func testJobs(t *testing.T, s store.Store) {
	long := strings.Repeat("j", store.MaxFolderBytes)
	jobs := []string{"a", "ab", "a.b", "a-1", "1", ".a", "a 1", "ä", "job%2Fa", "job/a", "job%252Fa", "100%", `job\a`,
		".", "..", "../../etc/passwd", "/etc/passwd", "a/", "a//b", "a/../b", "[", "*", "a,b", long, long + "j", long + "k",
		strings.Repeat("team/", 1000)}
	for i, job := range jobs {
		mustCommit(t, s, job, int64(i+1), sample(int64(i)))
	}
	for i, job := range jobs {
		list, err := s.List(t.Context(), job)
		if err != nil || len(list) != 1 {
			t.Fatalf("List of %q: %v, %v; want one checkpoint", job, list, err)
		}
		wantFiles(t, s, job, int64(i+1), sample(int64(i)))
	}
	if err := s.Delete(t.Context(), "a", 1); err != nil {
		t.Fatal(err)
	}
	wantAbsent(t, s, "a", 1)
	for i, job := range jobs[1:] {
		wantFiles(t, s, job, int64(i+2), sample(int64(i+1)))
	}
}
