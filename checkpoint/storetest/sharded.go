// This file implements RunSharded: the tests of stores whose checkpoints may have several writers.

package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
)

// RunSharded runs the conformance suite of [store.Sharded] as subtests of t; [Run] has the one of every store. newStore returns
// an empty store; it is called once for each test and may use t.Cleanup.
// A store that passes lets the servers of one job save at the same time without a checkpoint that is made of two saves, or of
// a part of one. Run it beside [Run], not in its place: here nothing is asked that every store has to do.
func RunSharded(t *testing.T, newStore func(t *testing.T) store.Sharded) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s store.Sharded)
	}{
		{"VisibleAfterJoinOnly", testJoin},
		{"ShareAgain", testShareAgain},
		{"OnePartOfTwoShares", testSharesOfOneName},
		{"OtherWidths", testWidths},
		{"WritersOfAllShares", testSharesAtOnce},
		{"FenceBeforeJoin", testJoinFenced},
		{"DeleteShares", testDeleteShares},
		{"PruneShares", testPruneShares},
		{"WriterDies", testShareOfTheDead},
		{"BadShares", testBadShares},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, newStore(t)) })
	}
}

// shareOf is what one server saves: two parts whose names and contents tell whose they are.
// No two shares have a name or a content in common, so that one which is taken for another shows in the comparison.
func shareOf(number int64, index int) []file {
	return []file{
		{fmt.Sprintf("rank%d/weights", index), fmt.Sprintf("weights %d of %d", index, number)},
		{fmt.Sprintf("rank%d/moments", index), fmt.Sprintf("moments %d of %d", index, number)},
	}
}

// sharesOf are the files of all shares.
// The order is that of the indices, whatever the order in which the shares were written: it is that of the joined manifest.
func sharesOf(number int64, of int) (all []file) {
	for i := range of {
		all = append(all, shareOf(number, i)...)
	}
	return all
}

// id names a checkpoint.
type id struct {
	job    string
	number int64
}

// writeShare writes and commits a share.
// The manifest is that of the share alone, under the name and number of the job. Every error of a step ends the writing.
func writeShare(ctx context.Context, s store.Sharded, of id, share store.Share, files []file) (store.Manifest, error) {
	w, err := s.BeginShard(ctx, of.job, of.number, share)
	if err != nil {
		return store.Manifest{}, err
	}
	// After Commit it does nothing; before, it gives back what a share that failed has taken.
	defer w.Abort()
	for _, f := range files {
		if err := writePart(w, f); err != nil {
			return store.Manifest{}, err
		}
	}
	return w.Commit()
}

// mustShare commits shares of the files that they have by themselves.
// The indices are written in the order in which they are given, and one may be given twice: a share is committed again when
// the answer was lost. Of the returned manifest the job is compared too: a store that keeps shares under names of its own
// must not show them.
func mustShare(t testing.TB, s store.Sharded, c id, of int, indices ...int) {
	t.Helper()
	for _, i := range indices {
		m, err := writeShare(t.Context(), s, c, store.Share{Index: i, Of: of}, shareOf(c.number, i))
		if err != nil {
			t.Fatalf("share %d of %d of %s/%d: %v", i, of, c.job, c.number, err)
		}
		if want := manifestOf(c.job, c.number, shareOf(c.number, i)); !sameManifest(m, want) {
			t.Fatalf("share %d returned\n%+v, want\n%+v", i, m, want)
		}
	}
}

// mustJoin joins shares, and compares the manifest and what is read.
// What is read afterwards is every part of every share, in order: a Join that lists a share and cannot open it fails here.
func mustJoin(t testing.TB, s store.Sharded, job string, number int64, of int) {
	t.Helper()
	m, err := s.Join(t.Context(), job, number, of)
	if err != nil {
		t.Fatalf("Join of %s/%d: %v", job, number, err)
	}
	if want := manifestOf(job, number, sharesOf(number, of)); !sameManifest(m, want) {
		t.Fatalf("Join of %s/%d returned\n%+v, want\n%+v", job, number, m, want)
	}
	wantFiles(t, s, job, number, sharesOf(number, of))
}

// testJoin: "Until then no share is visible", and a Join of shares that are not all there changes nothing.
// A restore from a checkpoint that lacks a share would start a job on a model with holes; it may be asked for at any moment,
// since nobody tells a master how far each server has come.
func testJoin(t *testing.T, s store.Sharded) {
	const of = 3
	// Before each share the Join must fail with ErrNotFound, as if there were no checkpoint at all, and never make one of the
	// shares that are there.
	for i := range of {
		_, err := s.Join(t.Context(), "job", 1, of)
		wantError(t, fmt.Sprintf("Join of %d of %d shares", i, of), err, store.ErrNotFound)
		// Neither the refused Join nor a share that was committed shows anything.
		wantAbsent(t, s, "job", 1)
		mustShare(t, s, id{"job", 1}, of, of-1-i) // the last one first
		wantAbsent(t, s, "job", 1)
	}
	// The first Join works after three that were refused: none of them has left anything in its way.
	mustJoin(t, s, "job", 1, of)
	mustJoin(t, s, "job", 1, of) // again: the reply of the first may have been lost
	// A checkpoint of one writer stands beside one of shares, as of a job that ran on one server for a while.
	mustCommit(t, s, "job", 2, sample(2))
	mustCommit(t, s, "another", 1, sample(1))
	wantFiles(t, s, "job", 1, sharesOf(1, of))
	wantFiles(t, s, "job", 2, sample(2))
	// The list has each checkpoint once, and no share under whatever name.
	list, err := s.List(t.Context(), "job")
	if err != nil || len(list) != 2 || !sameManifest(list[0], manifestOf("job", 1, sharesOf(1, of))) {
		t.Errorf("List: %+v, %v", list, err)
	}
}

// testShareAgain: "Its Commit makes the share durable, under the rules of every Commit", and a number has one content.
// A server whose answer was lost commits its share again, and an agent that was taken for dead may save under the same number
// with another content. The first must succeed and the second must not, or a checkpoint would have shares of two moments.
func testShareAgain(t *testing.T, s store.Sharded) {
	mustShare(t, s, id{"job", 1}, 2, 0, 1, 0)
	// The content is another in names and bytes; what is there must be what Join finds below.
	_, err := writeShare(t.Context(), s, id{"job", 1}, store.Share{Index: 1, Of: 2}, sample(1))
	wantError(t, "another content of a share", err, store.ErrExists)
	mustJoin(t, s, "job", 1, 2)
	// One share of the two is there, so it could be joined alone: but the number has its content, which is of both.
	_, err = s.Join(t.Context(), "job", 1, 1)
	wantError(t, "Join of fewer shares", err, store.ErrExists)
	mustCommit(t, s, "job", 2, sample(2))
	// The share may be written, as BeginShard cannot know what is committed at the end. The number is refused in Join.
	mustShare(t, s, id{"job", 2}, 1, 0)
	_, err = s.Join(t.Context(), "job", 2, 1)
	wantError(t, "Join of a number that one writer has committed", err, store.ErrExists)
	wantFiles(t, s, "job", 1, sharesOf(1, 2))
	wantFiles(t, s, "job", 2, sample(2))
}

// testSharesOfOneName: "ErrName if two have parts of one name".
// A reader asks for a part by its name alone: of two it would get one, and half of the model would be that of another server.
func testSharesOfOneName(t *testing.T, s store.Sharded) {
	// Each share is right by itself, and neither server knows of the other: only Join sees both.
	for i := range 2 {
		if _, err := writeShare(t.Context(), s, id{"job", 1}, store.Share{Index: i, Of: 2}, sample(1)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Join(t.Context(), "job", 1, 2)
	wantError(t, "Join of two parts of one name", err, store.ErrName)
	// The second sentinel tells a caller what is wrong with the name: as a name it is a good one.
	wantError(t, "Join of two parts of one name", err, apportion.ErrDuplicate)
	wantAbsent(t, s, "job", 1)
}

// testWidths saves a job that is resized: each checkpoint has as many shares as it has servers then.
// Dorm resizes jobs while they run. A store that takes the width from the newest or the first checkpoint would lose shares of
// the others when it opens or deletes them.
func testWidths(t *testing.T, s store.Sharded) {
	// The widths fall, rise and fall again; twelve has indices of two digits, which sort otherwise as text than as numbers.
	widths := []int{3, 1, 2, 12, 2}
	// All are read again at the end: a later one of another width must have changed none.
	for i, of := range widths {
		for shard := range of {
			mustShare(t, s, id{"job", int64(i) + 1}, of, shard)
		}
		mustJoin(t, s, "job", int64(i)+1, of)
	}
	for i, of := range widths {
		wantFiles(t, s, "job", int64(i)+1, sharesOf(int64(i)+1, of))
	}
	// However few there were at first and at last, none of the many is overlooked.
	if err := s.Delete(t.Context(), "job", 4); err != nil {
		t.Fatal(err)
	}
	wantGone(t, s, 4, widths[3])
}

// testSharesAtOnce writes all shares at the same time, each by two writers, and joins them by two masters.
// Servers of one job save at the same moment, by design. A retry of an agent and a second master that has not noticed its
// successor make every step happen twice.
func testSharesAtOnce(t *testing.T, s store.Sharded) {
	const of = 6
	// The function runs do twice for each of n indices, all at the same time, and demands that every call succeeds: equal commits
	// are no conflict.
	both := func(n int, do func(i int) error) {
		t.Helper()
		errs := make([]error, 2*n)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = do(i % n) })
		}
		all.Wait()
		for i, err := range errs {
			if err != nil {
				t.Fatalf("%d: %v", i%n, err)
			}
		}
	}
	both(of, func(i int) error {
		_, err := writeShare(t.Context(), s, id{"job", 1}, store.Share{Index: i, Of: of}, shareOf(1, i))
		return err
	})
	// All shares are there, and a checkpoint is not, since nobody has joined them.
	wantAbsent(t, s, "job", 1)
	// Two masters join the same shares; the lists that they commit are equal.
	both(1, func(int) error {
		_, err := s.Join(t.Context(), "job", 1, of)
		return err
	})
	wantFiles(t, s, "job", 1, sharesOf(1, of))
}

// testJoinFenced: a save of an attempt that is over does not become visible, however far it has come.
// The fence has to hold at each of three places at which a save may have been overtaken: before the Join, before the commit of a
// share, and before both.
func testJoinFenced(t *testing.T, s store.Sharded) {
	mustShare(t, s, id{"job", 1}, 2, 0, 1)
	mustJoin(t, s, "job", 1, 2)
	// Of number 2 only the Join is missing; of number 3 one share is committed and the other is being written.
	mustShare(t, s, id{"job", 2}, 2, 0, 1)
	mustShare(t, s, id{"job", 3}, 2, 0)
	late, err := s.BeginShard(t.Context(), "job", 3, store.Share{Index: 1, Of: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fence(t.Context(), "job", 4); err != nil {
		t.Fatal(err)
	}
	// The shares are whole, so that nothing but the fence speaks against the checkpoint.
	_, err = s.Join(t.Context(), "job", 2, 2)
	wantError(t, "Join of a number below the fence", err, store.ErrFenced)
	wantAbsent(t, s, "job", 2)
	// The share itself is refused as well: it would be space that nobody uses until Prune.
	_, err = late.Commit()
	wantError(t, "Commit of a share below the fence", err, store.ErrFenced)
	_ = late.Abort() // it may complain about what it no longer finds
	_, err = s.Join(t.Context(), "job", 3, 2)
	// Which error it is depends on what the store looks for first, the fence or the share that is not there.
	if err == nil {
		t.Error("a checkpoint below the fence was joined")
	}
	wantAbsent(t, s, "job", 3)
	// The attempt for which the fence was raised saves as before, and what was joined earlier is still read.
	mustShare(t, s, id{"job", 4}, 2, 0, 1)
	mustJoin(t, s, "job", 4, 2)
	wantFiles(t, s, "job", 1, sharesOf(1, 2))
}

// wantUnjoined demands that a Join of so many shares does not find all of them.
// It is what a test asks for that cannot look at shares: those of a number are not to be seen but by Join.
func wantUnjoined(t testing.TB, s store.Sharded, number int64, of int) {
	t.Helper()
	_, err := s.Join(t.Context(), "job", number, of)
	wantError(t, fmt.Sprintf("Join of shares of %d that are not all there", number), err, store.ErrNotFound)
	wantAbsent(t, s, "job", number)
}

// wantGone demands that shares were deleted: a Join finds none, and others can be committed in the place of each.
// It writes what shareOf never has: a share that was still there would refuse another content with ErrExists. The number has
// shares again afterwards, so no test may count on the opposite behind it.
func wantGone(t testing.TB, s store.Sharded, number int64, of int) {
	t.Helper()
	wantUnjoined(t, s, number, 1)
	for i := range of {
		if _, err := writeShare(t.Context(), s, id{"job", number}, store.Share{Index: i, Of: of}, sample(number)); err != nil {
			t.Errorf("share %d of %d was not deleted: %v", i, number, err)
		}
	}
}

// testDeleteShares: Delete takes the shares as well, of that number and of no other.
// The bytes are in the shares. A Delete that takes the manifest alone fills the disk with every checkpoint that retention drops.
func testDeleteShares(t *testing.T, s store.Sharded) {
	for number := range int64(3) {
		mustShare(t, s, id{"job", number + 1}, 3, 0, 1, 2)
		mustJoin(t, s, "job", number+1, 3)
	}
	// The second call finds nothing left and succeeds: a caller repeats it when the answer was lost.
	for range 2 {
		if err := s.Delete(t.Context(), "job", 2); err != nil {
			t.Fatal(err)
		}
	}
	wantGone(t, s, 2, 3)
	// The neighbours have shares of the same indices, which a store files side by side with those that went.
	wantFiles(t, s, "job", 1, sharesOf(1, 3))
	wantFiles(t, s, "job", 3, sharesOf(3, 3))
}

// testPruneShares: "Prune deletes the shares of a job below a number that belong to no checkpoint".
// Saves that never come to their Join leave a model's worth of bytes each time, so somebody has to take them; and whoever takes
// one share too many destroys a checkpoint that is confirmed.
func testPruneShares(t *testing.T, s store.Sharded) {
	mustShare(t, s, id{"job", 1}, 2, 0, 1)
	mustJoin(t, s, "job", 1, 2)
	// All shares of 2 to 5 are there, and no Join.
	for number := int64(2); number <= 5; number++ {
		mustShare(t, s, id{"job", number}, 2, 0, 1) // one server of theirs was not in time
	}
	mustShare(t, s, id{"another", 2}, 2, 0, 1)
	for range 2 {
		if err := s.Prune(t.Context(), "job", 4); err != nil {
			t.Fatal(err)
		}
	}
	// Those below the number went; number 1 lies below as well, and belongs to a checkpoint.
	for number := int64(2); number <= 3; number++ {
		wantGone(t, s, number, 2)
	}
	wantFiles(t, s, "job", 1, sharesOf(1, 2))
	// Those from the number on may still be under way, and must still be there to be joined.
	for number := int64(4); number <= 5; number++ {
		mustJoin(t, s, "job", number, 2)
	}
	mustJoin(t, s, "another", 2, 2)
	wantError(t, "Prune of a bad name", s.Prune(t.Context(), "a\x00b", 4), store.ErrName)
}

// testShareOfTheDead: one of three servers dies between its part and its commit, another one writes the share, and a
// process that comes later joins them.
// The dead server's draft lies under the very share that is written again: the store must tell it from a committed one, and a
// process that has seen nothing of all this must find what it needs on the medium.
func testShareOfTheDead(t *testing.T, s store.Sharded) {
	mustShare(t, s, id{"job", 1}, 3, 0, 2)
	// The writer dead is neither committed nor aborted, as a process leaves it that was killed.
	dead, err := s.BeginShard(t.Context(), "job", 1, store.Share{Index: 1, Of: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := writePart(dead, shareOf(1, 1)[0]); err != nil {
		t.Fatal(err)
	}
	// A store that is no Restarter goes on as it is: then the same process joins, which is a weaker test.
	if restarter, ok := s.(Restarter); ok {
		again, ok := restarter.Restart(t).(store.Sharded)
		// The suite asks for a Sharded, and a store behind a restart that is less could not be used by the job's next attempt.
		if !ok {
			t.Fatal("behind a restart it is no store.Sharded")
		}
		s = again
	}
	// What the dead one wrote does not count as a share, however much of it is there.
	wantUnjoined(t, s, 1, 3)
	mustShare(t, s, id{"job", 1}, 3, 1)
	mustJoin(t, s, "job", 1, 3)
}

// testBadShares: shares that there are not, and contexts that have ended.
// A share outside of its checkpoint would be written, paid for, and looked for by no Join: the fault of a caller must show at once.
func testBadShares(t *testing.T, s store.Sharded) {
	// One below the first, one behind the last, no share at all, and less than none.
	for _, share := range []store.Share{{Index: -1, Of: 2}, {Index: 2, Of: 2}, {}, {Index: 0, Of: -1}} {
		_, err := s.BeginShard(t.Context(), "job", 1, share)
		wantError(t, fmt.Sprintf("share %+v", share), err, apportion.ErrRange)
	}
	for _, of := range []int{0, -1} {
		_, err := s.Join(t.Context(), "job", 1, of)
		wantError(t, fmt.Sprintf("Join of %d shares", of), err, apportion.ErrRange)
	}
	// One share is there, so that nothing but the context keeps Join from its work.
	mustShare(t, s, id{"job", 1}, 1, 0)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Join(ended, "job", 1, 1)
	wantError(t, "Join after the context", err, context.Canceled)
	_, err = s.BeginShard(ended, "job", 2, store.Share{Of: 1})
	wantError(t, "BeginShard after the context", err, context.Canceled)
	wantError(t, "Prune after the context", s.Prune(ended, "job", 2), context.Canceled)
	// Of all that was refused, nothing has become visible.
	wantAbsent(t, s, "job", 1)
	_, err = s.Join(t.Context(), "a\x00b", 1, 1)
	wantError(t, "Join of a bad name", err, store.ErrName)
	_, err = s.BeginShard(t.Context(), "", 1, store.Share{Of: 1})
	wantError(t, "BeginShard of a bad name", err, store.ErrName)
}
