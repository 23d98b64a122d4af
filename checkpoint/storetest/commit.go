// This file checks that a committed checkpoint never changes, the order in which a writer is used, and Delete.

package storetest

import (
	"errors"
	"io"

	"github.com/apportion/apportion/checkpoint/store"
)

// testCommitAgain: "A second Commit of the same number with the same parts returns the manifest of the first", of another
// writer and of the same one: a caller that has lost the answer repeats it.
func testCommitAgain(c check) {
	c.save("job", 3, sample(3)...)
	w := c.write("job", 3, sample(3)...)
	for range 2 {
		c.commits(w, "job", 3, sample(3)...)
	}
	c.ok(w.Abort())
	c.holds("job", 3, sample(3)...)
	for range 2 {
		c.save("job", 4)
	}
	c.holds("job", 4)
}

// testOtherContent: "With other parts it returns ErrExists and changes nothing", whichever way the parts differ.
func testOtherContent(c check) {
	c.save("job", 3, sample(3)...)
	r := c.open("job", 3)
	for name, files := range map[string][]file{
		"other bytes": {{"weights", "Weights of 3"}, sample(3)[1]},
		"other name":  {{"weightS", sample(3)[0].data}, sample(3)[1]},
		"a part less": sample(3)[:1],
		"a part more": append(sample(3), file{"more", ""}),
		"no part":     nil,
	} {
		w := c.write("job", 3, files...)
		_, err := w.Commit()
		c.is("Commit with "+name, err, store.ErrExists)
		c.ok(w.Abort())
		c.holds("job", 3, sample(3)...)
	}
	if data, err := readPart(r.Part("weights")); err != nil || data != sample(3)[0].data {
		c.Errorf("a reader that was open: %q, %v", data, err)
	}
}

// testLateWriter has a writer that began first and commits last: the slow process of an old attempt.
func testLateWriter(c check) {
	late := c.write("job", 3, sample(99)...)
	c.save("job", 3, sample(3)...)
	c.save("job", 4, sample(4)...)
	_, err := late.Commit()
	c.is("late Commit", err, store.ErrExists)
	// Abort takes away what late wrote, not what stands under the number.
	c.ok(late.Abort())
	c.holds("job", 3, sample(3)...)
	c.holds("job", 4, sample(4)...)
}

// testAbort: "Drops what was written", also a part that is open. "After Commit it does nothing."
func testAbort(c check) {
	w := c.write("job", 1, sample(1)...)
	part, err := w.Part("open")
	c.ok(err)
	_, err = io.WriteString(part, "half")
	c.ok(err)
	for range 2 {
		c.ok(w.Abort())
		c.absent("job", 1)
	}
	_, err = io.WriteString(part, "more")
	c.refused("Write after Abort", err)
	_ = part.Close() // may fail or not
	_, err = w.Part("another")
	c.refused("Part after Abort", err)
	_, err = w.Commit()
	c.refused("Commit after Abort", err)
	c.absent("job", 1)

	// The number is free.
	w = c.write("job", 1, sample(2)...)
	c.commits(w, "job", 1, sample(2)...)
	c.ok(w.Abort())
	_, err = w.Part("another")
	c.refused("Part after Commit", err)
	c.holds("job", 1, sample(2)...)
}

// testOrder checks that one part is written after the other, and that a refused call leaves the writer as it was.
func testOrder(c check) {
	w := c.write("job", 1)
	part, err := w.Part("a")
	c.ok(err)
	_, err = w.Part("b")
	c.refused("Part with a part open", err)
	_, err = w.Commit()
	c.refused("Commit with a part open", err)
	c.absent("job", 1)
	_, err = io.WriteString(part, "content")
	c.ok(errors.Join(err, part.Close()))
	_, err = io.WriteString(part, "late")
	c.refused("Write after Close", err)
	_, err = w.Part("a")
	c.refused("a second part of the same name", err)
	c.ok(writePart(w, file{"b", ""}))
	c.commits(w, "job", 1, file{"a", "content"}, file{"b", ""})
	c.holds("job", 1, file{"a", "content"}, file{"b", ""})
}

// testDelete: "One that is not there is not an error." Nothing else goes with it, and the number is free again.
func testDelete(c check) {
	for _, number := range []int64{1, 2, 3, 4} {
		c.save("job", number, sample(number)...)
	}
	// Delete is about what is committed, and not about what is being written.
	pending := c.write("job", 2, sample(22)...)
	for range 3 {
		c.remove("job", 2)
		c.absent("job", 2)
	}
	for _, number := range []int64{1, 3, 4} {
		c.holds("job", number, sample(number)...)
	}
	c.commits(pending, "job", 2, sample(22)...)
	c.holds("job", 2, sample(22)...)
	c.remove("job", 1, 2, 3, 4)
	if list := c.list("job"); len(list) > 0 {
		c.Errorf("List after all were deleted: %d", list)
	}
	c.save("job", 5, sample(5)...)
	c.holds("job", 5, sample(5)...)
}
