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
func testFence(t *testing.T, s store.Store) {
	mustCommit(t, s, "job", 2, sample(2))
	mustCommit(t, s, "another", 2, sample(2))
	// The late writer has written all its parts, the other one is in the middle of its first.
	late := mustWrite(t, s, "job", 3, sample(3))
	half, err := s.Begin(t.Context(), "job", 4)
	if err != nil {
		t.Fatal(err)
	}
	next := mustWrite(t, s, "job", 5, sample(5))
	elsewhere := mustWrite(t, s, "another", 3, sample(3))
	// A lower fence behind a higher one takes nothing back, and a second call finds what the first has done.
	for _, number := range []int64{1, 5, 3, 5} {
		if err := s.Fence(t.Context(), "job", number); err != nil {
			t.Fatalf("Fence: %v", err)
		}
	}
	_, err = late.Commit()
	wantError(t, "Commit of a number below the fence", err, store.ErrFenced)
	wantAbsent(t, s, "job", 3)
	if err := late.Abort(); err != nil {
		t.Errorf("Abort below the fence: %v", err)
	}
	_, err = half.Part("part")
	if err == nil {
		_, err = half.Commit()
		err = errors.Join(err, half.Abort())
	}
	if err == nil {
		t.Error("a writer below the fence has written")
	}
	wantAbsent(t, s, "job", 4)
	wantError(t, "a number below the fence that begins later", refusal(t, s, "job", 4), store.ErrFenced)
	wantAbsent(t, s, "job", 4)
	// The number itself is the new attempt's, and other jobs have no part in it.
	for number, w := range map[int64]store.Writer{5: next} {
		if _, err := w.Commit(); err != nil {
			t.Fatalf("Commit of the number of the fence: %v", err)
		}
		wantFiles(t, s, "job", number, sample(number))
	}
	mustCommit(t, s, "job", 6, sample(6))
	if _, err := elsewhere.Commit(); err != nil {
		t.Errorf("Commit of another job: %v", err)
	}
	wantFiles(t, s, "job", 2, sample(2))
	wantFiles(t, s, "another", 2, sample(2))
	testFenceStays(t, s)
}

// testFenceStays: "It outlives the process, and the checkpoints of the job."
func testFenceStays(t *testing.T, s store.Store) {
	for _, number := range []int64{2, 5, 6} {
		if err := s.Delete(t.Context(), "job", number); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, "a number below the fence of a job without checkpoints", refusal(t, s, "job", 2), store.ErrFenced)
	if restarter, ok := s.(Restarter); ok {
		s = restarter.Restart(t)
	}
	wantError(t, "a number below the fence after a restart", refusal(t, s, "job", 4), store.ErrFenced)
	mustCommit(t, s, "job", 5, sample(5))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, "Fence after the context", s.Fence(ctx, "job", 9), context.Canceled)
	wantError(t, "Fence of a bad name", s.Fence(t.Context(), "a\x00b", 9), store.ErrName)
	if err := s.Fence(t.Context(), "job", 0); err == nil {
		t.Error("a fence of number 0")
	}
}

// testFenceBeside fences while writers commit: each has committed before and stays, or is refused and absent.
func testFenceBeside(t *testing.T, s store.Store) {
	const writers = 12
	for round := range int64(4) {
		base := round * 100
		errs := make([]error, writers)
		begun := make([]store.Writer, writers)
		for i := range begun {
			begun[i] = mustWrite(t, s, "job", base+int64(i)+1, sample(int64(i)))
		}
		var all sync.WaitGroup
		start := make(chan struct{})
		for i, w := range begun {
			all.Go(func() {
				<-start
				_, errs[i] = w.Commit()
			})
		}
		var fenced error
		seen := map[int64]bool{}
		all.Go(func() {
			<-start
			fenced = s.Fence(t.Context(), "job", base+writers+1)
			// What is visible from here on was so before.
			list, _ := s.List(t.Context(), "job")
			for _, m := range list {
				seen[m.Number] = true
			}
		})
		close(start)
		all.Wait()
		if fenced != nil {
			t.Fatalf("Fence: %v", fenced)
		}
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
			if err == nil && !seen[number] {
				t.Errorf("number %d became visible behind its fence", number)
			}
		}
		mustCommit(t, s, "job", base+50, sample(50))
		wantError(t, fmt.Sprintf("number %d behind the fence", base+1), fencedOrThere(t, s, base+1, errs[0]), store.ErrFenced)
	}
}

// fencedOrThere tries a number again that was refused; one that was committed is fenced for this test.
func fencedOrThere(t testing.TB, s store.Store, number int64, before error) error {
	if before == nil {
		return store.ErrFenced
	}
	return refusal(t, s, "job", number)
}
