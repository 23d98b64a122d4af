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
func shareOf(number int64, index int) []file {
	return []file{
		{fmt.Sprintf("rank%d/weights", index), fmt.Sprintf("weights %d of %d", index, number)},
		{fmt.Sprintf("rank%d/moments", index), fmt.Sprintf("moments %d of %d", index, number)},
	}
}

// sharesOf are the files of all shares.
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
func writeShare(ctx context.Context, s store.Sharded, of id, share store.Share, files []file) (store.Manifest, error) {
	w, err := s.BeginShard(ctx, of.job, of.number, share)
	if err != nil {
		return store.Manifest{}, err
	}
	defer w.Abort()
	for _, f := range files {
		if err := writePart(w, f); err != nil {
			return store.Manifest{}, err
		}
	}
	return w.Commit()
}

// mustShare commits shares of the files that they have by themselves.
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
func testJoin(t *testing.T, s store.Sharded) {
	const of = 3
	for i := range of {
		_, err := s.Join(t.Context(), "job", 1, of)
		wantError(t, fmt.Sprintf("Join of %d of %d shares", i, of), err, store.ErrNotFound)
		wantAbsent(t, s, "job", 1)
		mustShare(t, s, id{"job", 1}, of, of-1-i) // the last one first
		wantAbsent(t, s, "job", 1)
	}
	mustJoin(t, s, "job", 1, of)
	mustJoin(t, s, "job", 1, of) // again: the reply of the first may have been lost
	mustCommit(t, s, "job", 2, sample(2))
	mustCommit(t, s, "another", 1, sample(1))
	wantFiles(t, s, "job", 1, sharesOf(1, of))
	wantFiles(t, s, "job", 2, sample(2))
	list, err := s.List(t.Context(), "job")
	if err != nil || len(list) != 2 || !sameManifest(list[0], manifestOf("job", 1, sharesOf(1, of))) {
		t.Errorf("List: %+v, %v", list, err)
	}
}

// testShareAgain: "Its Commit makes the share durable, under the rules of every Commit", and a number has one content.
func testShareAgain(t *testing.T, s store.Sharded) {
	mustShare(t, s, id{"job", 1}, 2, 0, 1, 0)
	_, err := writeShare(t.Context(), s, id{"job", 1}, store.Share{Index: 1, Of: 2}, sample(1))
	wantError(t, "another content of a share", err, store.ErrExists)
	mustJoin(t, s, "job", 1, 2)
	_, err = s.Join(t.Context(), "job", 1, 1)
	wantError(t, "Join of fewer shares", err, store.ErrExists)
	mustCommit(t, s, "job", 2, sample(2))
	mustShare(t, s, id{"job", 2}, 1, 0)
	_, err = s.Join(t.Context(), "job", 2, 1)
	wantError(t, "Join of a number that one writer has committed", err, store.ErrExists)
	wantFiles(t, s, "job", 1, sharesOf(1, 2))
	wantFiles(t, s, "job", 2, sample(2))
}

// testSharesOfOneName: "ErrName if two have parts of one name".
func testSharesOfOneName(t *testing.T, s store.Sharded) {
	for i := range 2 {
		if _, err := writeShare(t.Context(), s, id{"job", 1}, store.Share{Index: i, Of: 2}, sample(1)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Join(t.Context(), "job", 1, 2)
	wantError(t, "Join of two parts of one name", err, store.ErrName)
	wantError(t, "Join of two parts of one name", err, apportion.ErrDuplicate)
	wantAbsent(t, s, "job", 1)
}

// testWidths saves a job that is resized: each checkpoint has as many shares as it has servers then.
func testWidths(t *testing.T, s store.Sharded) {
	widths := []int{3, 1, 2, 12, 2}
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
func testSharesAtOnce(t *testing.T, s store.Sharded) {
	const of = 6
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
	wantAbsent(t, s, "job", 1)
	both(1, func(int) error {
		_, err := s.Join(t.Context(), "job", 1, of)
		return err
	})
	wantFiles(t, s, "job", 1, sharesOf(1, of))
}

// testJoinFenced: a save of an attempt that is over does not become visible, however far it has come.
func testJoinFenced(t *testing.T, s store.Sharded) {
	mustShare(t, s, id{"job", 1}, 2, 0, 1)
	mustJoin(t, s, "job", 1, 2)
	mustShare(t, s, id{"job", 2}, 2, 0, 1)
	mustShare(t, s, id{"job", 3}, 2, 0)
	late, err := s.BeginShard(t.Context(), "job", 3, store.Share{Index: 1, Of: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fence(t.Context(), "job", 4); err != nil {
		t.Fatal(err)
	}
	_, err = s.Join(t.Context(), "job", 2, 2)
	wantError(t, "Join of a number below the fence", err, store.ErrFenced)
	wantAbsent(t, s, "job", 2)
	_, err = late.Commit()
	wantError(t, "Commit of a share below the fence", err, store.ErrFenced)
	_ = late.Abort() // it may complain about what it no longer finds
	_, err = s.Join(t.Context(), "job", 3, 2)
	if err == nil {
		t.Error("a checkpoint below the fence was joined")
	}
	wantAbsent(t, s, "job", 3)
	mustShare(t, s, id{"job", 4}, 2, 0, 1)
	mustJoin(t, s, "job", 4, 2)
	wantFiles(t, s, "job", 1, sharesOf(1, 2))
}

// wantUnjoined demands that a Join of so many shares does not find all of them.
func wantUnjoined(t testing.TB, s store.Sharded, number int64, of int) {
	t.Helper()
	_, err := s.Join(t.Context(), "job", number, of)
	wantError(t, fmt.Sprintf("Join of shares of %d that are not all there", number), err, store.ErrNotFound)
	wantAbsent(t, s, "job", number)
}

// wantGone demands that shares were deleted: a Join finds none, and others can be committed in the place of each.
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
func testDeleteShares(t *testing.T, s store.Sharded) {
	for number := range int64(3) {
		mustShare(t, s, id{"job", number + 1}, 3, 0, 1, 2)
		mustJoin(t, s, "job", number+1, 3)
	}
	for range 2 {
		if err := s.Delete(t.Context(), "job", 2); err != nil {
			t.Fatal(err)
		}
	}
	wantGone(t, s, 2, 3)
	wantFiles(t, s, "job", 1, sharesOf(1, 3))
	wantFiles(t, s, "job", 3, sharesOf(3, 3))
}

// testPruneShares: "Prune deletes the shares of a job below a number that belong to no checkpoint".
func testPruneShares(t *testing.T, s store.Sharded) {
	mustShare(t, s, id{"job", 1}, 2, 0, 1)
	mustJoin(t, s, "job", 1, 2)
	for number := int64(2); number <= 5; number++ {
		mustShare(t, s, id{"job", number}, 2, 0, 1) // one server of theirs was not in time
	}
	mustShare(t, s, id{"another", 2}, 2, 0, 1)
	for range 2 {
		if err := s.Prune(t.Context(), "job", 4); err != nil {
			t.Fatal(err)
		}
	}
	for number := int64(2); number <= 3; number++ {
		wantGone(t, s, number, 2)
	}
	wantFiles(t, s, "job", 1, sharesOf(1, 2))
	for number := int64(4); number <= 5; number++ {
		mustJoin(t, s, "job", number, 2)
	}
	mustJoin(t, s, "another", 2, 2)
	wantError(t, "Prune of a bad name", s.Prune(t.Context(), "a\x00b", 4), store.ErrName)
}

// testShareOfTheDead: one of three servers dies between its part and its commit, another one writes the share, and a
// process that comes later joins them.
func testShareOfTheDead(t *testing.T, s store.Sharded) {
	mustShare(t, s, id{"job", 1}, 3, 0, 2)
	dead, err := s.BeginShard(t.Context(), "job", 1, store.Share{Index: 1, Of: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := writePart(dead, shareOf(1, 1)[0]); err != nil {
		t.Fatal(err)
	}
	if restarter, ok := s.(Restarter); ok {
		again, ok := restarter.Restart(t).(store.Sharded)
		if !ok {
			t.Fatal("behind a restart it is no store.Sharded")
		}
		s = again
	}
	wantUnjoined(t, s, 1, 3)
	mustShare(t, s, id{"job", 1}, 3, 1)
	mustJoin(t, s, "job", 1, 3)
}

// testBadShares: shares that there are not, and contexts that have ended.
func testBadShares(t *testing.T, s store.Sharded) {
	for _, share := range []store.Share{{Index: -1, Of: 2}, {Index: 2, Of: 2}, {}, {Index: 0, Of: -1}} {
		_, err := s.BeginShard(t.Context(), "job", 1, share)
		wantError(t, fmt.Sprintf("share %+v", share), err, apportion.ErrRange)
	}
	for _, of := range []int{0, -1} {
		_, err := s.Join(t.Context(), "job", 1, of)
		wantError(t, fmt.Sprintf("Join of %d shares", of), err, apportion.ErrRange)
	}
	mustShare(t, s, id{"job", 1}, 1, 0)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Join(ended, "job", 1, 1)
	wantError(t, "Join after the context", err, context.Canceled)
	_, err = s.BeginShard(ended, "job", 2, store.Share{Of: 1})
	wantError(t, "BeginShard after the context", err, context.Canceled)
	wantError(t, "Prune after the context", s.Prune(ended, "job", 2), context.Canceled)
	wantAbsent(t, s, "job", 1)
	_, err = s.Join(t.Context(), "a\x00b", 1, 1)
	wantError(t, "Join of a bad name", err, store.ErrName)
	_, err = s.BeginShard(t.Context(), "", 1, store.Share{Of: 1})
	wantError(t, "BeginShard of a bad name", err, store.ErrName)
}
