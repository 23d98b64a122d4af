// This file checks stores whose checkpoints may have several writers.

package storetest

import (
	"errors"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
)

// shardCheck is a check of a store of shares. Its methods speak of the job "job".
type shardCheck struct {
	check
	sharded store.Sharded
}

// shareOf is what one server saves: names and contents tell whose they are.
func shareOf(number int64, index int) []file {
	return []file{
		{fmt.Sprintf("rank%d/weights", index), fmt.Sprintf("weights %d of %d", index, number)},
		{fmt.Sprintf("rank%d/moments", index), fmt.Sprintf("moments %d of %d", index, number)},
	}
}

// sharesOf are the files of all shares, in the order of their indices.
func sharesOf(number int64, of int) (all []file) {
	for i := range of {
		all = append(all, shareOf(number, i)...)
	}
	return all
}

func (c shardCheck) saveShare(number int64, index, of int, files []file) (store.Manifest, error) {
	return save(c.Context(), store.OfShare(c.sharded, store.Share{Index: index, Of: of}), "job", number, files)
}

// shares commits shares with the given indices. Their manifests have the name of the job, under whatever name they are kept.
func (c shardCheck) shares(number int64, of int, indices ...int) {
	c.Helper()
	for _, i := range indices {
		m, err := c.saveShare(number, i, of, shareOf(number, i))
		c.ok(err)
		if want := manifestOf("job", number, shareOf(number, i)); !sameManifest(m, want) {
			c.Fatalf("share %d returned\n%+v, want\n%+v", i, m, want)
		}
	}
}

// join joins shares, and compares the manifest and what is read.
func (c shardCheck) join(number int64, of int) {
	c.Helper()
	m, err := c.sharded.Join(c.Context(), "job", number, of)
	c.ok(err)
	if want := manifestOf("job", number, sharesOf(number, of)); !sameManifest(m, want) {
		c.Fatalf("Join of %d returned\n%+v, want\n%+v", number, m, want)
	}
	c.holds("job", number, sharesOf(number, of)...)
}

// unjoined demands that a Join is refused with that error, and shows nothing.
func (c shardCheck) unjoined(number int64, of int, want error) {
	c.Helper()
	_, err := c.sharded.Join(c.Context(), "job", number, of)
	c.is(fmt.Sprintf("Join of %d shares of %d", of, number), err, want)
	c.absent("job", number)
}

// gone demands that shares were deleted: others can be committed in the place of each, and are from then on.
func (c shardCheck) gone(number int64, of int) {
	c.Helper()
	c.unjoined(number, 1, store.ErrNotFound)
	for i := range of {
		if _, err := c.saveShare(number, i, of, sample(number)); err != nil {
			c.Errorf("share %d of %d was not deleted: %v", i, number, err)
		}
	}
}

// testJoin: "Until then no share is visible", and a Join of shares that are not all there changes nothing.
func testJoin(c shardCheck) {
	const of = 3
	for i := range of {
		c.unjoined(1, of, store.ErrNotFound)
		c.shares(1, of, of-1-i) // the last one first
		c.absent("job", 1)
	}
	c.join(1, of)
	c.join(1, of) // the answer may have been lost
	// Checkpoints of one writer stand beside.
	c.save("job", 2, sample(2)...)
	c.save("another", 1, sample(1)...)
	c.holds("job", 1, sharesOf(1, of)...)
	c.holds("job", 2, sample(2)...)
	if list := c.list("job"); len(list) != 2 {
		c.Errorf("List: %d", list)
	}
}

// testShareAgain: "Its Commit makes the share durable, under the rules of every Commit", and a number has one content.
func testShareAgain(c shardCheck) {
	c.shares(1, 2, 0, 1, 0)
	_, err := c.saveShare(1, 1, 2, sample(1))
	c.is("another content of a share", err, store.ErrExists)
	c.join(1, 2)
	_, err = c.sharded.Join(c.Context(), "job", 1, 1)
	c.is("Join of fewer shares", err, store.ErrExists)
	c.save("job", 2, sample(2)...)
	c.shares(2, 1, 0)
	_, err = c.sharded.Join(c.Context(), "job", 2, 1)
	c.is("Join of a number that one writer has committed", err, store.ErrExists)
	c.holds("job", 1, sharesOf(1, 2)...)
	c.holds("job", 2, sample(2)...)
}

// testSharesOfOneName: "ErrName if two have parts of one name".
func testSharesOfOneName(c shardCheck) {
	for i := range 2 {
		_, err := c.saveShare(1, i, 2, sample(1))
		c.ok(err)
	}
	c.unjoined(1, 2, store.ErrName)
	c.unjoined(1, 2, apportion.ErrDuplicate)
}

// testWidths saves a job that is resized: each checkpoint has as many shares as the job has servers then.
func testWidths(c shardCheck) {
	// Indices of two digits sort otherwise as text.
	widths := []int{3, 1, 2, 12, 2}
	for i, of := range widths {
		for shard := range of {
			c.shares(int64(i)+1, of, shard)
		}
		c.join(int64(i)+1, of)
	}
	for i, of := range widths {
		c.holds("job", int64(i)+1, sharesOf(int64(i)+1, of)...)
	}
	c.remove("job", 4)
	c.gone(4, widths[3])
}

// testSharesAtOnce writes all shares at the same time, each by two writers, and joins them by two masters.
func testSharesAtOnce(c shardCheck) {
	const of = 6
	c.ok(errors.Join(together(2*of, func(i int) error {
		_, err := c.saveShare(1, i%of, of, shareOf(1, i%of))
		return err
	})...))
	c.absent("job", 1)
	c.ok(errors.Join(together(2, func(int) error {
		_, err := c.sharded.Join(c.Context(), "job", 1, of)
		return err
	})...))
	c.holds("job", 1, sharesOf(1, of)...)
}

// testJoinFenced: a save of an attempt that is over does not become visible, however far it has come.
func testJoinFenced(c shardCheck) {
	c.shares(1, 2, 0, 1)
	c.join(1, 2)
	// Of number 2 only the Join is missing, of number 3 a Commit as well.
	c.shares(2, 2, 0, 1)
	c.shares(3, 2, 0)
	late, err := c.sharded.BeginShard(c.Context(), "job", 3, store.Share{Index: 1, Of: 2})
	c.ok(err)
	c.ok(c.Fence(c.Context(), "job", 4))
	c.unjoined(2, 2, store.ErrFenced)
	_, err = late.Commit()
	c.is("Commit of a share below the fence", err, store.ErrFenced)
	_ = late.Abort() // it may complain about what it no longer finds
	_, err = c.sharded.Join(c.Context(), "job", 3, 2)
	c.refused("Join of a number below the fence", err)
	c.absent("job", 3)
	c.shares(4, 2, 0, 1)
	c.join(4, 2)
	c.holds("job", 1, sharesOf(1, 2)...)
}

// testDeleteShares: Delete takes the shares as well, of that number and of no other.
func testDeleteShares(c shardCheck) {
	for number := int64(1); number <= 3; number++ {
		c.shares(number, 3, 0, 1, 2)
		c.join(number, 3)
	}
	c.remove("job", 2, 2)
	c.gone(2, 3)
	c.holds("job", 1, sharesOf(1, 3)...)
	c.holds("job", 3, sharesOf(3, 3)...)
}

// testPruneShares: "Prune deletes the shares of a job below a number that belong to no checkpoint".
func testPruneShares(c shardCheck) {
	c.shares(1, 2, 0, 1)
	c.join(1, 2)
	for number := int64(2); number <= 5; number++ {
		c.shares(number, 2, 0, 1)
	}
	other := store.OfShare(c.sharded, store.Share{Of: 1})
	_, err := save(c.Context(), other, "another", 2, sample(2))
	c.ok(err)
	for range 2 {
		c.ok(c.sharded.Prune(c.Context(), "job", 4))
	}
	c.gone(2, 2)
	c.gone(3, 2)
	c.holds("job", 1, sharesOf(1, 2)...)
	c.join(4, 2)
	c.join(5, 2)
	_, err = c.sharded.Join(c.Context(), "another", 2, 1)
	c.ok(err)
	c.is("Prune of a bad name", c.sharded.Prune(c.Context(), "a\x00b", 4), store.ErrName)
}

// testShareOfTheDead: one of three servers dies between its part and its commit, another one writes the share, and a process
// that comes later joins them.
func testShareOfTheDead(c shardCheck) {
	c.shares(1, 3, 0, 2)
	dead, err := c.sharded.BeginShard(c.Context(), "job", 1, store.Share{Index: 1, Of: 3})
	c.ok(err)
	c.ok(writePart(dead, shareOf(1, 1)[0]))
	c.check = c.restarted()
	c.sharded = c.Store.(store.Sharded)
	c.unjoined(1, 3, store.ErrNotFound)
	c.shares(1, 3, 1)
	c.join(1, 3)
}

// testBadShares: shares that there are not, bad names, and contexts that have ended.
func testBadShares(c shardCheck) {
	for _, share := range []store.Share{{Index: -1, Of: 2}, {Index: 2, Of: 2}, {}, {Index: 0, Of: -1}} {
		_, err := c.sharded.BeginShard(c.Context(), "job", 1, share)
		c.is(fmt.Sprintf("share %+v", share), err, apportion.ErrRange)
	}
	c.unjoined(1, 0, apportion.ErrRange)
	c.unjoined(1, -1, apportion.ErrRange)
	c.shares(1, 1, 0)
	_, err := c.sharded.Join(c.ended(), "job", 1, 1)
	c.is("Join after the context", err, c.ended().Err())
	_, err = c.sharded.BeginShard(c.ended(), "job", 2, store.Share{Of: 1})
	c.is("BeginShard after the context", err, c.ended().Err())
	c.is("Prune after the context", c.sharded.Prune(c.ended(), "job", 2), c.ended().Err())
	c.absent("job", 1)
	_, err = c.sharded.Join(c.Context(), "a\x00b", 1, 1)
	c.is("Join of a bad name", err, store.ErrName)
	_, err = c.sharded.BeginShard(c.Context(), "", 1, store.Share{Of: 1})
	c.is("BeginShard of a bad name", err, store.ErrName)
}
