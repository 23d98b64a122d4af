// This file tests that a committed checkpoint never changes, and the order in which a writer is used.

package storetest

import (
	"errors"
	"io"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// testCommitAgain: "A second Commit of the same number with the same parts returns the manifest of the first."
// A caller whose first answer was lost repeats the commit, so success must look the same both times.
// The writer that repeats may be another one, or the same: both happen, after a crash and after a
// time-out.
func testCommitAgain(t *testing.T, s store.Store) {
	first := mustCommit(t, s, "job", 3, sample(3))
	// The writer w has all parts written before it commits, as a process has that repeats a whole save.
	w := mustWrite(t, s, "job", 3, sample(3))
	// The second round repeats on a writer that has committed already: a store that released what the writer
	// held must still know its answer.
	for i := range 2 { // another writer, then the same writer again
		m, err := w.Commit()
		if err != nil || !sameManifest(m, first) {
			t.Fatalf("Commit %d of the same parts: %+v, %v; want the first manifest", i+2, m, err)
		}
	}
	if err := w.Abort(); err != nil {
		t.Errorf("Abort after Commit: %v", err)
	}
	wantFiles(t, s, "job", 3, sample(3))
	// Without a part as well.
	mustCommit(t, s, "job", 4, nil)
	mustCommit(t, s, "job", 4, nil)
	wantFiles(t, s, "job", 4, nil)
}

// testOtherContent: "With other parts it returns ErrExists and changes nothing", whichever way the parts differ.
// Each variant differs in one aspect, so that a store that compares only names, only lengths or only the
// count of parts is found out by its own case.
// A checkpoint that a job may have been resumed from must never become another one.
func testOtherContent(t *testing.T, s store.Store) {
	mustCommit(t, s, "job", 3, sample(3))
	// The reader r was opened before the attempts to overwrite: what it reads must not change under it
	// either.
	r, err := s.Open(t.Context(), "job", 3)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for name, files := range map[string][]file{
		// The letter W has the length of w: only the digest tells these bytes apart.
		"other bytes": {{"weights", "Weights of 3"}, sample(3)[1]},
		"other name":  {{"weightS", sample(3)[0].data}, sample(3)[1]},
		// A store that looks only for the parts which it is given would take a part less for the same.
		"a part less": sample(3)[:1],
		"a part more": append(sample(3), file{"more", ""}),
		// A checkpoint without parts is one, and differs from one that has some.
		"no part": nil,
	} {
		w := mustWrite(t, s, "job", 3, files)
		_, err := w.Commit()
		wantError(t, "Commit with "+name, err, store.ErrExists)
		if err := w.Abort(); err != nil {
			t.Errorf("Abort after a refused Commit: %v", err)
		}
		wantFiles(t, s, "job", 3, sample(3))
	}
	// The parts are read after all attempts, as a job does that restores while a late process writes.
	if data, err := readPart(r, "weights"); err != nil || data != sample(3)[0].data {
		t.Errorf("a reader that was open: %q, %v", data, err)
	}
}

// testLateWriter has a writer that began first and commits last: the slow process of an old attempt.
// It is the case for which fences alone do not suffice: its process may be on a machine that nobody
// reaches.
func testLateWriter(t *testing.T, s store.Store) {
	// The process of the old attempt has written every byte and has only Commit before it.
	late := mustWrite(t, s, "job", 3, sample(99))
	mustCommit(t, s, "job", 3, sample(3))
	mustCommit(t, s, "job", 4, sample(4))
	// The number is taken by now. Winning here would replace what the scheduler has been told to be safe.
	_, err := late.Commit()
	wantError(t, "late Commit", err, store.ErrExists)
	wantFiles(t, s, "job", 3, sample(3))
	// Abort after a refused Commit must take away what late wrote, not what stands under the number.
	if err := late.Abort(); err != nil {
		t.Error(err)
	}
	wantFiles(t, s, "job", 3, sample(3))
	wantFiles(t, s, "job", 4, sample(4))
}

// testAbort: "Drops what was written", also a part that is open. "After Commit it does nothing."
// A save is given up when its job is stopped in the middle of it, which happens every day.
func testAbort(t *testing.T, s store.Store) {
	w := mustWrite(t, s, "job", 1, sample(1))
	// The part stays open on purpose: the process that aborts may be in the middle of writing it.
	part, err := w.Part("open")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(part, "half"); err != nil {
		t.Fatal(err)
	}
	// Abort is repeated, since a deferred one often follows one that was called.
	for range 2 {
		if err := w.Abort(); err != nil {
			t.Fatalf("Abort: %v", err)
		}
		wantAbsent(t, s, "job", 1)
	}
	// An aborted writer stays dead: a goroutine that still copies into it must learn that, or it would
	// believe that its bytes count.
	if _, err := io.WriteString(part, "more"); err == nil {
		t.Error("Write after Abort succeeded")
	}
	_ = part.Close() // may fail or not
	if _, err := w.Part("another"); err == nil {
		t.Error("Part after Abort succeeded")
	}
	if _, err := w.Commit(); err == nil {
		t.Error("Commit after Abort succeeded")
	}
	wantAbsent(t, s, "job", 1)

	// The number is free, and Abort after Commit is no more than a defer.
	w = mustWrite(t, s, "job", 1, sample(2))
	if _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("Abort after Commit: %v", err)
	}
	wantFiles(t, s, "job", 1, sample(2))
	if _, err := w.Part("another"); err == nil {
		t.Error("Part after Commit succeeded")
	}
	wantFiles(t, s, "job", 1, sample(2))
}

// testOrder checks that one part is written after the other, and that a refused call leaves the writer
// as it was.
// Stores stream one part at a time; two that are open at once would mix their bytes on some media.
// A caller that breaks the order has a bug, and must learn of it at once and not by a checkpoint that is
// short.
func testOrder(t *testing.T, s store.Store) {
	w, err := s.Begin(t.Context(), "job", 1)
	if err != nil {
		t.Fatal(err)
	}
	// The first part is open from here until it is closed below, and each call between must be refused.
	part, err := w.Part("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Part("b"); err == nil {
		t.Error("Part with a part open succeeded")
	}
	if _, err := w.Commit(); err == nil {
		t.Error("Commit with a part open succeeded")
	}
	wantAbsent(t, s, "job", 1)
	// The part that was open all the time has lost nothing by the refusals.
	if _, err := io.WriteString(part, "content"); err != nil {
		t.Fatal(err)
	}
	if err := part.Close(); err != nil {
		t.Fatal(err)
	}
	// Length and digest are fixed by Close. Bytes that came later would be in the part and not in the
	// manifest.
	if _, err := io.WriteString(part, "late"); err == nil {
		t.Error("Write after Close succeeded")
	}
	// One name stands for one content in the manifest, so that a second part would hide the first.
	if _, err := w.Part("a"); err == nil {
		t.Error("a second part of the same name was opened")
	}
	// The refusals above are no faults of the medium, so the writer goes on and commits both parts.
	if err := writePart(w, file{"b", ""}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, s, "job", 1, []file{{"a", "content"}, {"b", ""}})
}

// testDelete: "One that is not there is not an error." Nothing else goes with it, and the number is free again.
// Retention deletes from another process than the one that writes, at any moment.
func testDelete(t *testing.T, s store.Store) {
	for number := range int64(4) {
		mustCommit(t, s, "job", number+1, sample(number+1))
	}
	// The writer pending has the number that is deleted: Delete is about what is committed, and what is
	// being written is not.
	pending := mustWrite(t, s, "job", 2, sample(22))
	// Delete is repeated: retention calls it again when it does not know whether the last call arrived.
	for range 3 {
		if err := s.Delete(t.Context(), "job", 2); err != nil {
			t.Fatalf("Delete: %v", err)
		}
		wantAbsent(t, s, "job", 2)
	}
	// Neighbours stay: a store that deletes by prefix or by position would take one of them along.
	for _, number := range []int64{1, 3, 4} {
		wantFiles(t, s, "job", number, sample(number))
	}
	// The writer of that number lost nothing.
	if _, err := pending.Commit(); err != nil {
		t.Fatalf("Commit after Delete: %v", err)
	}
	wantFiles(t, s, "job", 2, sample(22))
	for number := range int64(4) {
		if err := s.Delete(t.Context(), "job", number+1); err != nil {
			t.Fatal(err)
		}
	}
	// A job without checkpoints is like a job that never was: no error, nothing listed, whatever the store
	// kept of its folder.
	if list, err := s.List(t.Context(), "job"); err != nil || len(list) > 0 {
		t.Errorf("List after all were deleted: %v, %v", list, err)
	}
	mustCommit(t, s, "job", 5, sample(5))
	// The job begins anew in the same store: nothing of what was deleted stands in its way.
	wantFiles(t, s, "job", 5, sample(5))
}

// errorsOf calls every method of a store for one checkpoint and returns the errors by method.
// Methods that succeed have nil. It is for checkpoints that no store may take, so none of the calls should change anything.
func errorsOf(t testing.TB, s store.Store, job string, number int64) map[string]error {
	ctx := t.Context()
	// A writer that was begun by mistake is aborted, so that the call leaves nothing behind on the medium.
	w, begin := s.Begin(ctx, job, number)
	if begin == nil {
		begin = errors.Join(w.Abort())
	}
	_, open := s.Open(ctx, job, number)
	_, list := s.List(ctx, job)
	return map[string]error{"Begin": begin, "Open": open, "List": list, "Delete": s.Delete(ctx, job, number)}
}
