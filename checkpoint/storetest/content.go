// This file checks what becomes visible and when, and that it is what was written.

package storetest

import (
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing/iotest"

	"github.com/apportion/apportion/checkpoint/store"
)

// testEmpty: a job that starts for the first time asks for what never was, and is told of no fault.
func testEmpty(c check) {
	c.absent("job", 1)
	c.remove("job", 1)
}

// testVisible: "Before, it is not visible: neither List nor Open know it." Looked at after every step of a writer.
func testVisible(c check) {
	w := c.write("job", 7)
	c.absent("job", 7)
	for _, f := range sample(7) {
		c.ok(writePart(w, f))
		c.absent("job", 7)
	}
	c.commits(w, "job", 7, sample(7)...)
	c.holds("job", 7, sample(7)...)
	// A store that chooses the number itself would have taken a neighbour.
	c.absent("job", 6)
	c.absent("job", 8)
}

func testContents(c check) {
	// Longer than the buffers that copying uses.
	block := make([]byte, 300_000)
	_, _ = rand.Read(block) // never fails
	// Indexes of one, two and three digits, which sort otherwise as text.
	many := make([]file, 300)
	for i := range many {
		many[i] = file{fmt.Sprintf("shard-%d", i), fmt.Sprint("content ", i)}
	}
	for i, files := range [][]file{
		nil,
		{{"empty", ""}},
		{{"empty", ""}, {"full", "x"}, {"also empty", ""}},
		// A file and a folder of one name, which no file system holds.
		{{"a", "1"}, {"a/b", "2"}, {"a/b/c", "3"}, {"ab", "4"}},
		// The names of the stores' own files and folders.
		{{"manifest", "mine"}, {"0", "zero"}, {"1", "one"}, {"parts/0", "deep"}, {".tmp-1", "t"}},
		// Names that some file systems do not keep apart.
		{{"Model", "upper"}, {"model", "lower"}, {"MODEL", "loud"}},
		// Names that some media escape.
		{{"größe/模型 1.ckpt", "unicode"}, {" ", "space"}, {"a%2Fb", "percent"}, {"~a:b*c?\"<>|&", "odd"}},
		// The longest path, and the longest element.
		{{strings.Repeat("d/", 511) + "d", "deep"}, {strings.Repeat("n", 255), "wide"}},
		// Equal bytes, which a store may share.
		{{"bytes", string(block)}, {"copy", string(block)}},
		many,
	} {
		c.save("job", int64(i+1), files...)
		c.holds("job", int64(i+1), files...)
	}
}

// testPieces reads in all the ways in which readers are used: exactly to the length without ever asking for more, byte by byte
// and past the end, one part twice in turn.
func testPieces(c check) {
	files := []file{{"a", strings.Repeat("0123456789", 5000)}, {"b", "b"}, {"none", ""}}
	c.save("job", 1, files...)
	r := c.open("job", 1)
	for _, f := range files {
		if err := iotest.TestReader(c.part(r, f.name), []byte(f.data)); err != nil {
			c.Errorf("%q: %v", f.name, err)
		}
		data := make([]byte, len(f.data))
		if _, err := io.ReadFull(c.part(r, f.name), data); err != nil || string(data) != f.data {
			c.Errorf("ReadFull of %q: %v, or other bytes", f.name, err)
		}
	}
	first, second := c.part(r, "a"), c.part(r, "a")
	for range 100 {
		var p, q [10]byte
		_, err1 := io.ReadFull(first, p[:])
		_, err2 := io.ReadFull(second, q[:])
		if err1 != nil || err2 != nil || p != q || string(p[:]) != "0123456789" {
			c.Fatalf("one part twice: %q and %q, %v, %v", p, q, err1, err2)
		}
	}
}

// testReader: "ErrNotFound for a name that the manifest does not have"; Close releases "not the parts that are open". The
// manifest is a copy.
func testReader(c check) {
	c.save("job", 1, sample(1)...)
	r := c.open("job", 1)
	for _, name := range []string{"no such part", "../1/weights"} {
		_, err := r.Part(name)
		c.is("part "+name, err, store.ErrNotFound)
	}
	r.Manifest().Parts[0].Name = "changed by the caller"
	if got := r.Manifest().Parts[0].Name; got != "weights" {
		c.Errorf("the manifest belongs to the caller and changed the reader's to %q", got)
	}
	part := c.part(r, "weights")
	c.ok(r.Close())
	if data, err := readPart(part, nil); err != nil || data != sample(1)[0].data {
		c.Errorf("a part that was open when the reader was closed: %q, %v", data, err)
	}
}

// testList: "Ascending by number": committed in another order, with numbers that sort otherwise as text.
func testList(c check) {
	numbers := []int64{10, 9, 100, 1, 2, 1<<63 - 1, 20}
	for _, number := range numbers {
		c.save("job", number, sample(number)...)
	}
	slices.Sort(numbers)
	if got := c.list("job"); !slices.Equal(got, numbers) {
		c.Fatalf("List has %d, want %d", got, numbers)
	}
	for _, number := range numbers {
		c.holds("job", number, sample(number)...)
	}
}

// testJobs uses names that begin or end alike, that escaping makes of one another, that are equal in their first bytes, and
// that would lead elsewhere if they were paths.
func testJobs(c check) {
	long := strings.Repeat("j", store.MaxFolderBytes)
	jobs := []string{"a", "ab", "a.b", "a-1", "1", ".a", "a 1", "ä", "job%2Fa", "job/a", "job%252Fa", "100%", `job\a`,
		".", "..", "../../etc/passwd", "/etc/passwd", "a/", "a//b", "a/../b", "[", "*", "a,b", long, long + "j", long + "k",
		strings.Repeat("team/", 1000)}
	for i, job := range jobs {
		c.save(job, int64(i+1), sample(int64(i))...)
	}
	for i, job := range jobs {
		if got := c.list(job); len(got) != 1 {
			c.Fatalf("List of %q: %d, want one checkpoint", job, got)
		}
		c.holds(job, int64(i+1), sample(int64(i))...)
	}
	// A Delete by prefix would take more.
	c.remove("a", 1)
	c.absent("a", 1)
	for i, job := range jobs[1:] {
		c.holds(job, int64(i+2), sample(int64(i+1))...)
	}
}

// testIdentity: "It is the same for all stores on one medium, also after a restart", whatever is committed and deleted
// meanwhile, by jobs that are called as it is as well.
func testIdentity(c check) {
	_, err := c.Identity(c.ended())
	c.is("Identity after the context", err, c.ended().Err())
	first, err := c.Identity(c.Context())
	c.ok(err)
	if !first.Valid() {
		c.Fatalf("%q is no identity", first)
	}
	same := func(c check, behind string) {
		c.Helper()
		if again, err := c.Identity(c.Context()); err != nil || again != first {
			c.Fatalf("the identity was %s and is %s behind %s: %v", first, again, behind, err)
		}
	}
	for i, job := range []string{"identity", "%identity", string(first), "job"} {
		number := int64(i + 1)
		c.save(job, number, sample(number)...)
		same(c, "a commit of job "+job)
		c.holds(job, number, sample(number)...)
		c.remove(job, number)
	}
	same(c.restarted(), "a restart")
}
