// This file checks that an attempt which is over commits nothing any more.

package storetest

import (
	"errors"

	"github.com/apportion/apportion/checkpoint/store"
)

// fenced demands that a checkpoint is refused, in whatever step, since it is below the fence.
func (c check) fenced(job string, number int64) {
	c.Helper()
	_, err := save(c.Context(), c, job, number, sample(number))
	c.is("a number below the fence", err, store.ErrFenced)
}

// testFence: "No checkpoint of a lower number becomes visible that was not", whether its writer began before or after, and
// what was committed stays.
func testFence(c check) {
	c.save("job", 2, sample(2)...)
	c.save("another", 2, sample(2)...)
	late, half := c.write("job", 3, sample(3)...), c.write("job", 4)
	next, elsewhere := c.write("job", 5, sample(5)...), c.write("another", 3, sample(3)...)
	// A rise, one that comes too late, and one whose answer was lost.
	for _, number := range []int64{1, 5, 3, 5} {
		c.ok(c.Fence(c.Context(), "job", number))
	}
	_, err := late.Commit()
	c.is("Commit of a number below the fence", err, store.ErrFenced)
	err = writePart(half, file{"part", "late"})
	if err == nil {
		_, err = half.Commit()
	}
	c.is("a writer below the fence that goes on", err, store.ErrFenced)
	c.ok(errors.Join(late.Abort(), half.Abort()))
	c.absent("job", 3)
	// A process that was frozen before its Begin.
	c.fenced("job", 4)
	c.absent("job", 4)
	// The number itself is the new attempt's, and other jobs have no part in it.
	c.commits(next, "job", 5, sample(5)...)
	c.holds("job", 5, sample(5)...)
	c.save("job", 6, sample(6)...)
	c.commits(elsewhere, "another", 3, sample(3)...)
	c.holds("job", 2, sample(2)...)
	c.holds("another", 2, sample(2)...)

	// "It outlives the process, and the checkpoints of the job."
	c.remove("job", 2, 5, 6)
	c.fenced("job", 2)
	c = c.restarted()
	c.fenced("job", 4)
	c.save("job", 5, sample(5)...)
}

// testFenceBeside fences while writers commit: each has committed before and stays, or is refused and absent.
func testFenceBeside(c check) {
	const writers = 12
	for round := range int64(4) {
		base := round * 100
		begun := make([]store.Writer, writers)
		for i := range begun {
			begun[i] = c.write("job", base+int64(i)+1, sample(int64(i))...)
		}
		var seen map[int64]bool
		fenced := make(chan struct{})
		errs := together(writers+1, func(i int) error {
			if i < writers {
				// On a busy machine all could commit before the fence stands: the last waits for it.
				if i == writers-1 {
					<-fenced
				}
				_, err := begun[i].Commit()
				return err
			}
			defer close(fenced)
			err := c.Fence(c.Context(), "job", base+writers+1)
			// Behind the answer of Fence the set of visible numbers is final.
			list, _ := c.List(c.Context(), "job")
			seen = map[int64]bool{}
			for _, m := range list {
				seen[m.Number] = true
			}
			return err
		})
		c.ok(errs[writers])
		for i, err := range errs[:writers] {
			number := base + int64(i) + 1
			if err == nil {
				c.holds("job", number, sample(int64(i))...)
			} else {
				c.is("Commit beside a fence", err, store.ErrFenced)
				c.absent("job", number)
				c.fenced("job", number)
			}
			if err == nil && !seen[number] {
				c.Errorf("number %d became visible behind its fence", number)
			}
		}
		c.save("job", base+50, sample(50)...)
	}
}
