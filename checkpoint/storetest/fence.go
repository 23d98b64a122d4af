// This file tests that an attempt which is over commits nothing any more.

package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// refusal writes a checkpoint and returns the error of the step that refuses it.
// A store may refuse in Begin, in a part or as late as Commit: the contract leaves that open, so a test asks for the error
// and not for the place. The error is nil where the checkpoint was committed, and the caller's wantError fails then.
func refusal(t testing.TB, s store.Store, job string, number int64) error {
	w, err := write(t.Context(), s, job, number, sample(number))
	if err == nil {
		_, err = w.Commit()
	}
	if w != nil {
		_ = w.Abort() // it may complain about what it no longer finds
	}
	return err
}

// testFence: "No checkpoint of a lower number becomes visible that was not", whether its writer began before or after,
// and what was committed stays.
// A master raises the fence before it starts an attempt anew. If a store lets one late commit through, the process that
// was taken for dead adds a checkpoint above the one that the new attempt has resumed from, and the next resume takes up
// the wrong branch of the training.
func testFence(t *testing.T, s store.Store) {
	// Both jobs have a checkpoint before, of which the fence must take nothing away.
	mustCommit(t, s, "job", 2, sample(2))
	mustCommit(t, s, "another", 2, sample(2))
	// The late writer has written all its parts, the other one is in the middle of its first.
	late := mustWrite(t, s, "job", 3, sample(3))
	half, err := s.Begin(t.Context(), "job", 4)
	if err != nil {
		t.Fatal(err)
	}
	// The writer next has the number of the fence itself and elsewhere one below it, but of another job: both must commit.
	next := mustWrite(t, s, "job", 5, sample(5))
	elsewhere := mustWrite(t, s, "another", 3, sample(3))
	// A lower fence behind a higher one takes nothing back, and a second call finds what the first has done.
	// In the order 1, 5, 3, 5 the store sees a rise, a call that is too late and a repeated one. A master that has lost the
	// answer, or was overtaken by its successor, makes exactly such calls.
	for _, number := range []int64{1, 5, 3, 5} {
		if err := s.Fence(t.Context(), "job", number); err != nil {
			t.Fatalf("Fence: %v", err)
		}
	}
	// All bytes of late are on the medium: the one thing between them and a committed checkpoint is the fence.
	_, err = late.Commit()
	wantError(t, "Commit of a number below the fence", err, store.ErrFenced)
	wantAbsent(t, s, "job", 3)
	// A process that was refused cleans up, and must not be told that this is an error: its space would be leaked otherwise.
	if err := late.Abort(); err != nil {
		t.Errorf("Abort below the fence: %v", err)
	}
	// Which step refuses is free. A store may have taken the writer's objects away, so that Part fails already, or may look
	// for the fence in Commit alone. The test wants only that not all of them succeed, and that nothing is visible.
	part, err := half.Part("part")
	if err == nil {
		_, err = part.Write([]byte("late"))
		err = errors.Join(err, part.Close())
	}
	// Only with all its parts closed the fence alone stands between the writer and its commit.
	if err == nil {
		_, err = half.Commit()
	}
	wantError(t, "a writer below the fence that goes on", err, store.ErrFenced)
	if err := half.Abort(); err != nil {
		t.Errorf("Abort below the fence, in the middle: %v", err)
	}
	wantAbsent(t, s, "job", 4)
	// A process that was frozen before its Begin wakes up behind the fence, and must not find it gone.
	wantError(t, "a number below the fence that begins later", refusal(t, s, "job", 4), store.ErrFenced)
	wantAbsent(t, s, "job", 4)
	// The number itself is the new attempt's, and other jobs have no part in it.
	// The comparison is of numbers below the fence only: one that is off by one would refuse the attempt for which the fence
	// was raised, and the job could save no more.
	for number, w := range map[int64]store.Writer{5: next} {
		if _, err := w.Commit(); err != nil {
			t.Fatalf("Commit of the number of the fence: %v", err)
		}
		wantFiles(t, s, "job", number, sample(number))
	}
	// The fence is no limit from above, and the job's later checkpoints pass it as if there were none.
	mustCommit(t, s, "job", 6, sample(6))
	if _, err := elsewhere.Commit(); err != nil {
		t.Errorf("Commit of another job: %v", err)
	}
	// What was committed before the fence is what the new attempt resumes from.
	wantFiles(t, s, "job", 2, sample(2))
	wantFiles(t, s, "another", 2, sample(2))
	// The rest needs a job that has been fenced and has checkpoints, which is what is left here.
	testFenceStays(t, s)
}

// testFenceStays: "It outlives the process, and the checkpoints of the job."
// The caller has fenced the job below 5 and left it the checkpoints 2, 5 and 6. A store that keeps its fences in memory, or
// with the last checkpoint of the job, forgets them here: an old attempt would commit after the next restart.
func testFenceStays(t *testing.T, s store.Store) {
	// All checkpoints go, and with them whatever the store keeps for the job alone; the fence must not be part of that.
	for _, number := range []int64{2, 5, 6} {
		if err := s.Delete(t.Context(), "job", number); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, "a number below the fence of a job without checkpoints", refusal(t, s, "job", 2), store.ErrFenced)
	// A store that cannot show a restart is asked again as it is, which costs nothing and shows nothing new.
	if restarter, ok := s.(Restarter); ok {
		s = restarter.Restart(t)
	}
	wantError(t, "a number below the fence after a restart", refusal(t, s, "job", 4), store.ErrFenced)
	// Number 5 was committed and deleted: it is free again, and still on the right side.
	mustCommit(t, s, "job", 5, sample(5))
	// Refusals come last, since none of them may have raised the fence that the lines above rely on.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, "Fence after the context", s.Fence(ctx, "job", 9), context.Canceled)
	wantError(t, "Fence of a bad name", s.Fence(t.Context(), "a\x00b", 9), store.ErrName)
	// Below number 0 there is nothing: who asks for that has forgotten the number, and believes in a fence that is none.
	if err := s.Fence(t.Context(), "job", 0); err == nil {
		t.Error("a fence of number 0")
	}
}

// testFenceBeside fences while writers commit: each has committed before and stays, or is refused and absent.
// The window between a store's look at the fence and its commit is what this is for: a writer that looked in time and
// commits too late would be visible behind the answer of Fence.
func testFenceBeside(t *testing.T, s store.Store) {
	// It hides the constant of the package: more writers than elsewhere make it likely that some commit on either side.
	const writers = 12
	// Each round works on numbers of its own, above all fences of the rounds before.
	for round := range int64(4) {
		base := round * 100
		errs := make([]error, writers)
		begun := make([]store.Writer, writers)
		// All parts are written before the race, so that it is one of commits alone.
		for i := range begun {
			begun[i] = mustWrite(t, s, "job", base+int64(i)+1, sample(int64(i)))
		}
		var all sync.WaitGroup
		start := make(chan struct{})
		for i, w := range begun {
			// Each writer has a place of its own in errs, and Wait orders the writes before the reads below: no lock is needed.
			all.Go(func() {
				<-start
				_, errs[i] = w.Commit()
			})
		}
		// fenced and seen belong to one goroutine until Wait has returned.
		var fenced error
		seen := map[int64]bool{}
		all.Go(func() {
			<-start
			fenced = s.Fence(t.Context(), "job", base+writers+1)
			// Every number of the round lies below the fence, so that after its answer the set of visible ones is final.
			// What is visible from here on was so before.
			// An error of List leaves seen empty, and then any commit that succeeded fails the test.
			list, _ := s.List(t.Context(), "job")
			for _, m := range list {
				seen[m.Number] = true
			}
		})
		// Commits and fence begin together; the order in which they arrive is the machine's choice and differs in every round.
		close(start)
		all.Wait()
		if fenced != nil {
			t.Fatalf("Fence: %v", fenced)
		}
		// Each writer has one of two answers. Whatever else, such as a missing object, would be taken for a fault of the
		// medium: the process would try again in place of ending.
		for i, err := range errs {
			number := base + int64(i) + 1
			switch {
			case err == nil:
				wantFiles(t, s, "job", number, sample(int64(i)))
			case errors.Is(err, store.ErrFenced):
				wantAbsent(t, s, "job", number)
			default:
				t.Fatalf("Commit of %d beside a fence: %v", number, err)
			}
			// A commit that succeeded after List had answered is the fault that this test looks for.
			if err == nil && !seen[number] {
				t.Errorf("number %d became visible behind its fence", number)
			}
		}
		// The job goes on above its fence, in every round.
		mustCommit(t, s, "job", base+50, sample(50))
		wantError(t, fmt.Sprintf("number %d behind the fence", base+1), fencedOrThere(t, s, base+1, errs[0]), store.ErrFenced)
	}
}

// fencedOrThere tries a number again that was refused; one that was committed is fenced for this test.
// Which of the two it is depends on who won the race, and the caller need not know that.
func fencedOrThere(t testing.TB, s store.Store, number int64, before error) error {
	if before == nil {
		return store.ErrFenced
	}
	return refusal(t, s, "job", number)
}
