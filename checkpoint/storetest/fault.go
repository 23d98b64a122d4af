// This file checks what a store makes of damage behind its back and of writers that died.

package storetest

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/apportion/apportion/checkpoint/store"
)

// damager returns the store as one that can be damaged, or skips the test.
func (c check) damager() Damager {
	d, ok := c.Store.(Damager)
	if !ok {
		c.Skip("the store is no Damager")
	}
	return d
}

// testDamagedPart: "Reading a part that is damaged ends in ErrCorrupt, not in EOF", and damages no other part.
func testDamagedPart(c check) {
	d := c.damager()
	// The second part exceeds what one read returns: damage in its middle comes after good bytes.
	files := []file{{"first", "content"}, {"second", strings.Repeat("0123456789", 20_000)}, {"empty", ""}}
	number := int64(0)
	for part, f := range files {
		for _, how := range damages {
			if f.data == "" && (how == Flip || how == Truncate) {
				continue
			}
			number++
			c.save("job", number, files...)
			d.Damage(c, "job", number, part, how)
			for i, intact := range files {
				data, err := readOne(c.Context(), c, "job", number, intact.name)
				if i == part {
					c.is(string(how)+" of part "+f.name, err, store.ErrCorrupt)
				} else if err == nil && data != intact.data { // to refuse the whole is right, too
					c.Errorf("%s of part %s changed part %s", how, f.name, intact.name)
				}
			}
			c.remove("job", number)
			c.absent("job", number)
		}
	}
}

// testDamagedManifest: "A checkpoint whose manifest is damaged is left out and named in the error, which wraps ErrCorrupt; the
// others are returned beside it." It can be deleted. Where the manifest is gone the checkpoint may be gone as well.
func testDamagedManifest(c check) {
	d := c.damager()
	for _, how := range damages {
		for number := range int64(3) {
			c.save("job", number+4711, sample(number)...)
		}
		d.Damage(c, "job", 4712, ManifestPart, how)
		_, err := c.Open(c.Context(), "job", 4712)
		if how != Remove || !errors.Is(err, store.ErrNotFound) {
			c.is(string(how)+" of the manifest", err, store.ErrCorrupt)
		}
		list, err := c.List(c.Context(), "job")
		if how != Remove || err != nil {
			c.is("List after "+string(how), err, store.ErrCorrupt)
			if !strings.Contains(err.Error(), "4712") {
				c.Errorf("the error of List does not name number 4712: %v", err)
			}
		}
		if got, want := numbersOf(list), []int64{4711, 4713}; !slices.Equal(got, want) {
			c.Errorf("List after %s has %d, want %d", how, got, want)
		}
		for _, number := range []int64{4712, 4711, 4713} { // the damaged one first, then all can be listed
			c.remove("job", number)
			c.absent("job", number)
		}
	}
}

// testLeftovers lets writers die before their first part, in the middle of one, and before Commit; and the last of them turn
// out to be alive.
func testLeftovers(c check) {
	restarter, ok := c.Store.(Restarter)
	if !ok {
		c.Skip("the store is no Restarter")
	}
	c.save("job", 1, sample(1)...)
	c.write("job", 2)
	part, err := c.write("job", 3, sample(3)...).Part("half")
	c.ok(err)
	_, err = io.WriteString(part, "half of it")
	c.ok(err)
	late := c.write("job", 4, sample(4)...)
	c.write("another", 1, sample(1)...)

	next := c.restarted()
	for number := int64(2); number <= 4; number++ {
		next.absent("job", number)
	}
	next.absent("another", 1)
	if n := restarter.Leftovers(c); n != 0 {
		c.Errorf("%d leftovers stayed", n)
	}
	next.holds("job", 1, sample(1)...)

	// The writer may have lost its objects or not; nothing half becomes visible.
	if _, err := late.Commit(); err == nil {
		next.holds("job", 4, sample(4)...)
	} else {
		next.absent("job", 4)
	}
	next.save("job", 4, sample(4)...)
	_ = late.Abort() // may complain about what it no longer finds
	next.holds("job", 4, sample(4)...)
	next.holds("job", 1, sample(1)...)
}
