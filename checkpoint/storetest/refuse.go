// This file tests what a store refuses, and what its errors say: bad names and numbers, and whatever
// comes after the end of the context.

package storetest

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
)

// badTexts are refused as jobs and as parts.
// Each stands for a class that some medium cannot hold or that would forge lines in a log.
var badTexts = map[string]string{
	"nothing": "",
	"NUL":     "a\x00b",
	"newline": "a\nb",
	// DEL and the C1 controls lie outside of the first 32, where a check that compares with a space stops.
	"delete":     "a\x7f",
	"C1 control": "a\u0085",
	// A name that is not UTF-8 does not survive JSON: two names would become one.
	"not UTF-8": "a\xff",
}

// badPaths are refused as parts.
// A job may be called so, since FolderOf escapes it; a part may not, since its name becomes a path where it is loaded.
var badPaths = map[string]string{
	"this directory": ".",
	"traversal":      "..",
	"long traversal": "../../etc/passwd",
	// The path stays inside after cleaning, and is refused all the same: one part has one name.
	"traversal inside": "a/../b",
	"absolute":         "/etc/passwd",
	"slash at the end": "a/",
	"two slashes":      "a//b",
	"backslash":        `..\a`,
	// One byte more than the contract allows, at which a check with the wrong comparison differs.
	"long":         strings.Repeat("x", store.MaxPartBytes+1),
	"long element": strings.Repeat("x", 256),
}

// testPartNames: Names "pass CheckPart", and one that is refused leaves the writer as it was.
// A part's name becomes a path when it is loaded, on whatever machine that is.
func testPartNames(t *testing.T, s store.Store) {
	// One writer meets all bad names: a refusal that harmed it would show at the end.
	w, err := s.Begin(t.Context(), "job", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []map[string]string{badTexts, badPaths} {
		for what, name := range bad {
			_, err := w.Part(name)
			wantError(t, "part called "+what, err, store.ErrName)
		}
	}
	// A refusal is an answer about the name alone, and the writer can be used on.
	if err := writePart(w, file{"good", "content"}); err != nil {
		t.Fatalf("after names that were refused: %v", err)
	}
	if _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, s, "job", 1, []file{{"good", "content"}})
}

// testJobNames: Every method refuses what CheckJob refuses.
// A name that one method takes and another refuses would make checkpoints that can be written and not be deleted.
func testJobNames(t *testing.T, s store.Store) {
	for what, name := range badTexts {
		// A name of a job comes from users, so every method meets bad ones and not only Begin.
		for method, err := range errorsOf(t, s, name, 1) {
			wantError(t, method+" of a job called "+what, err, store.ErrName)
		}
	}
}

// testNumbers: "Numbers are positive"; the largest is one.
// Numbers come from a journal and are positive there; another one is a bug of the caller.
func testNumbers(t *testing.T, s store.Store) {
	// Zero is what a caller passes that forgot the number; the smallest int64 has no positive counterpart.
	for _, number := range []int64{0, -1, math.MinInt64} {
		// Which error it is the contract leaves open; that the call does nothing it does not.
		for method, err := range errorsOf(t, s, "job", number) {
			// List takes no number, so it cannot refuse one.
			if err == nil && method != "List" {
				t.Errorf("%s of number %d succeeded", method, number)
			}
		}
	}
	// The largest number has no successor: a store that computes number + 1 would overflow here.
	mustCommit(t, s, "job", math.MaxInt64, sample(1))
	wantFiles(t, s, "job", math.MaxInt64, sample(1))
}

// testErrors: "Every error wraps the job and number that it is about."
// A log line that says "no such file" and not of which job costs an hour of somebody's night.
func testErrors(t *testing.T, s store.Store) {
	mustCommit(t, s, "some-job", 4711, sample(1))
	// The name and the number are such that no other word of a message contains them by chance.
	other := mustWrite(t, s, "some-job", 4711, sample(2))
	// The writers of this test are left as they are: what they hold is collected with the store.
	// Each of these errors has another way through a store: a conflict, a bad name, an ended context,
	// nothing there.
	_, exists := other.Commit()
	_, name := mustWrite(t, s, "some-job", 4711, nil).Part("..")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, begin := s.Begin(ctx, "some-job", 4711)
	_, opened := s.Open(ctx, "some-job", 4711)
	_, absent := s.Open(t.Context(), "another-some-job", 4711)
	for method, err := range map[string]error{
		"Commit": exists, "Part": name, "Begin": begin, "Open": opened, "Open of nothing": absent,
		"Delete": s.Delete(ctx, "some-job", 4711),
	} {
		if err == nil || !strings.Contains(err.Error(), "some-job") || !strings.Contains(err.Error(), "4711") {
			t.Errorf("the error of %s does not name job some-job and number 4711: %v", method, err)
		}
	}
	// List is about a job and no number, so only the name can be asked for.
	if _, err := s.List(ctx, "some-job"); err == nil || !strings.Contains(err.Error(), "some-job") {
		t.Errorf("the error of List does not name job some-job: %v", err)
	}
}

// testEndedBefore: "Each method returns promptly with the context's error when the context ends": here it has ended before.
// A store that begins its work all the same would keep a master busy that has given up its lease.
func testEndedBefore(t *testing.T, s store.Store) {
	mustCommit(t, s, "job", 1, sample(1))
	// An ended context has two causes, and a store must pass on which one it was.
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	// A deadline in 1970 has passed whatever the clock of the machine says.
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for want, ctx := range map[error]context.Context{context.Canceled: cancelled, context.DeadlineExceeded: late} {
		_, err := s.Begin(ctx, "job", 2)
		wantError(t, "Begin", err, want)
		_, err = s.Open(ctx, "job", 1)
		wantError(t, "Open", err, want)
		_, err = s.List(ctx, "job")
		wantError(t, "List", err, want)
		wantError(t, "Delete", s.Delete(ctx, "job", 1), want)
	}
	// A Delete that works first and looks at its context later would have taken it.
	wantFiles(t, s, "job", 1, sample(1))
	wantAbsent(t, s, "job", 2)
}

// testEndsWriting ends the context before each step of a writer.
func testEndsWriting(t *testing.T, s store.Store) {
	// The context ends before the step last, and the steps before it succeed.
	for _, last := range []string{"Part", "Write", "Close", "Commit"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		// Two parts are complete before the end, so that a store has something that it might commit by
		// mistake.
		w, err := write(ctx, s, "job", 1, sample(1))
		if err != nil {
			t.Fatal(err)
		}
		var part io.WriteCloser
		for _, step := range []struct {
			name string
			take func() error
		}{
			{"Part", func() (err error) { part, err = w.Part("more"); return err }},
			{"Write", func() error { _, err := io.WriteString(part, "content"); return err }},
			{"Close", func() error { return part.Close() }},
			{"Commit", func() error { _, err := w.Commit(); return err }},
		} {
			if step.name == last {
				cancel()
				wantError(t, step.name+" after the context", step.take(), context.Canceled)
				break
			}
			if err := step.take(); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
		}
		// A part with a failed write must not close with success, or its loss would go unnoticed.
		if last == "Write" {
			wantError(t, "Close after a Write that failed", part.Close(), context.Canceled)
		}
		_, err = w.Commit()
		// Whatever the step was, nothing is committed after the end: the scheduler may have given the number
		// up.
		wantError(t, "Commit after the context", err, context.Canceled)
		if err := w.Abort(); err != nil {
			t.Errorf("Abort after the context: %v", err)
		}
		wantAbsent(t, s, "job", 1)
	}
}

// testEndsReading: The context of Open ends its reader, in the middle of a part as well; closing still works.
func testEndsReading(t *testing.T, s store.Store) {
	// 1 MiB exceeds every buffer between store and reader, so the part cannot have been read ahead to its
	// end.
	files := []file{{"large", strings.Repeat("x", 1<<20)}, {"small", "y"}}
	mustCommit(t, s, "job", 1, files)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := s.Open(ctx, "job", 1)
	if err != nil {
		t.Fatal(err)
	}
	// The part is open when the context ends: a stream that was opened in time must notice the end, too.
	part, err := r.Part("large")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, part, 1000); err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = io.Copy(io.Discard, part)
	wantError(t, "Read after the context", err, context.Canceled)
	_, err = r.Part("small")
	wantError(t, "Part after the context", err, context.Canceled)
	// Close must not need the context: otherwise every interrupted restore would leak a file.
	if err := errors.Join(part.Close(), r.Close()); err != nil {
		t.Errorf("Close after the context: %v", err)
	}
	wantFiles(t, s, "job", 1, files)
}
