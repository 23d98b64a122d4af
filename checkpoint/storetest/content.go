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
// A job that starts for the first time asks exactly this, and must not be told of a fault: it would wait for a repair.
func testEmpty(t *testing.T, s store.Store) {
	// A job that nobody has heard of is like one without checkpoints, so that a scheduler needs no list of
	// jobs.
	wantAbsent(t, s, "job", 1)
	if err := s.Delete(t.Context(), "job", 1); err != nil {
		t.Errorf("Delete of what never was: %v", err)
	}
}

// testVisible: "Before, it is not visible: neither List nor Open know it." Looked at after every step of a writer.
func testVisible(t *testing.T, s store.Store) {
	// Numbers are the caller's choice, and the first need not be 1.
	w, err := s.Begin(t.Context(), "job", 7)
	if err != nil {
		t.Fatal(err)
	}
	// Begin alone must show nothing: a reader in this moment would restore an empty model.
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
	// The neighbours stay absent: a store that chooses the number itself would have taken one of them.
	wantAbsent(t, s, "job", 6)
	wantAbsent(t, s, "job", 8)
}

// testContents tries shapes that a store could mistake: nothing at all, parts without bytes, names that
// prefix one another or are those of the store's own files, bytes of every value.
func testContents(t *testing.T, s store.Store) {
	// The block has every value of a byte and is longer than the buffers that copying uses, so it arrives in
	// several pieces.
	block := make([]byte, 300_000)
	_, _ = rand.Read(block) // never fails
	// 300 parts have indexes of one, two and three digits: a store that sorts its objects as text returns
	// them in another order.
	many := make([]file, 300)
	for i := range many {
		many[i] = file{fmt.Sprintf("shard-%d", i), fmt.Sprint("content ", i)}
	}
	// A shape that a store cannot hold must be refused by CheckPart, for every store alike, and not by one of them.
	for i, files := range [][]file{
		nil,
		{{"empty", ""}},
		// An empty part is a part: frameworks write empty files as markers.
		{{"empty", ""}, {"full", "x"}, {"also empty", ""}},
		// The name a is a file and a folder at the same time, which no file system can hold: names of parts
		// must not become names of files.
		{{"a", "1"}, {"a/b", "2"}, {"a/b/c", "3"}, {"ab", "4"}},
		// These are the names that the stores of this module give to their own files and folders.
		{{"manifest", "mine"}, {"0", "zero"}, {"1", "one"}, {"parts/0", "deep"}, {".tmp-1", "t"}},
		// The names differ only in letter case, which some file systems do not keep apart.
		{{"Model", "upper"}, {"model", "lower"}, {"MODEL", "loud"}},
		// These are legal names that some media escape; the manifest must have them as they were given.
		{{"größe/模型 1.ckpt", "unicode"}, {" ", "space"}, {"a%2Fb", "percent"}, {"~a:b*c?\"<>|&", "odd"}},
		// The path has 1,023 bytes and the element 255: one more level and one more byte, and CheckPart refuses them.
		{{strings.Repeat("d/", 511) + "d", "deep"}, {strings.Repeat("n", 255), "wide"}},
		// Two parts of equal bytes: a store that files its objects by their digest may share them, and
		// must list both.
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
	// 50,000 bytes take several reads, one byte takes one, and none must end at once.
	files := []file{{"a", strings.Repeat("0123456789", 5000)}, {"b", "b"}, {"none", ""}}
	mustCommit(t, s, "job", 1, files)
	r, err := s.Open(t.Context(), "job", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range files {
		// TestReader reads byte by byte, in odd pieces and past the end; ReadFull stops at the length and
		// never sees EOF, which is how frameworks read.
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
	// Two streams of one part advance in turn. Each has a position of its own, or p and q would show
	// alternating pieces. A process may load a part's header while another goroutine loads its arrays.
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
// A job resumes on several processes, each with parts of its own from one reader.
func testReader(t *testing.T, s store.Store) {
	mustCommit(t, s, "job", 1, sample(1))
	r, err := s.Open(t.Context(), "job", 1)
	if err != nil {
		t.Fatal(err)
	}
	// A refused name must not close the reader, which is used on below.
	_, err = r.Part("no such part")
	wantError(t, "Part of an unknown name", err, store.ErrNotFound)
	// A name that would be found as a path is unknown as well: only the manifest says which parts there are.
	_, err = r.Part("../1/weights")
	wantError(t, "Part of a path", err, store.ErrNotFound)

	// The manifest is changed like a caller's own value; another caller of the same reader must not see
	// that.
	m := r.Manifest()
	m.Parts[0].Name = "changed by the caller"
	if got := r.Manifest().Parts[0].Name; got != "weights" {
		t.Errorf("the manifest belongs to the caller and changed that of the reader to %q", got)
	}
	part, err := r.Part("weights")
	if err != nil {
		t.Fatal(err)
	}
	// A job hands parts to goroutines and closes the reader; the parts must live on until each is closed.
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
// The last of the list is what a scheduler resumes from, so that its order is part of the contract.
func testList(t *testing.T, s store.Store) {
	// 9 and 10, 2 and 100 are ascending as numbers and descending as text; the largest int64 has as many
	// digits as numbers can have.
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
	// The names long, long + "j" and long + "k" have the same first MaxFolderBytes bytes: a store that cuts
	// long names without a digest mixes them.
	long := strings.Repeat("j", store.MaxFolderBytes)
	// "job/a" and "job%2Fa", "job%252Fa" are what escaping makes of one another when it is done twice, or
	// undone once too often.
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
	// The name a begins many of the others, so Delete by prefix would take more than it should.
	if err := s.Delete(t.Context(), "a", 1); err != nil {
		t.Fatal(err)
	}
	wantAbsent(t, s, "a", 1)
	for i, job := range jobs[1:] {
		wantFiles(t, s, job, int64(i+2), sample(int64(i+1)))
	}
}
