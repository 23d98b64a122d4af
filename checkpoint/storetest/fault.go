// This file tests what a store makes of damage behind its back and of writers that died.

package storetest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// damager returns the store as one that can be damaged, or skips the test.
// Stores whose medium cannot be reached from a test have nothing to show here, and say so in the log.
func damager(t *testing.T, s store.Store) Damager {
	d, ok := s.(Damager)
	if !ok {
		t.Skip("the store is no Damager")
	}
	return d
}

// testDamagedPart: "Reading a part that is damaged ends in ErrCorrupt, not in EOF", and damages no other part.
// A model that is trained on from damaged weights is lost weeks later, and nobody knows why.
func testDamagedPart(t *testing.T, s store.Store) {
	d := damager(t, s)
	// The part second exceeds what one read returns, so damage in its middle comes after good bytes; empty
	// has none that could be flipped, and can be extended.
	files := []file{{"first", "content"}, {"second", strings.Repeat("0123456789", 20_000)}, {"empty", ""}}
	number := int64(0)
	for part, f := range files {
		for _, how := range []Damage{Flip, Truncate, Extend, Remove} {
			// There is no bit to flip and no byte to take away in an empty part.
			if f.data == "" && (how == Flip || how == Truncate) {
				continue
			}
			// Every kind of damage has a checkpoint of its own, so that one cannot hide behind the other.
			number++
			mustCommit(t, s, "job", number, files)
			// The damage happens between the commit and the opening, as bits rot on a disk that nobody
			// reads.
			d.Damage(t, "job", number, part, how)
			// Every part is opened apart: a reader that has seen damage once might refuse the others for
			// that reason alone.
			for i, intact := range files {
				data, err := readOne(t.Context(), s, "job", number, intact.name)
				if i == part {
					wantError(t, how.String()+" of part "+f.name, err, store.ErrCorrupt)
				} else if err == nil && data != intact.data { // to refuse the whole is right, too
					t.Errorf("%v of part %s changed part %s", how, f.name, intact.name)
				}
			}
			// Damage must not be for ever: Delete works without reading what it deletes.
			if err := s.Delete(t.Context(), "job", number); err != nil {
				t.Errorf("Delete after %v: %v", how, err)
			}
			wantAbsent(t, s, "job", number)
		}
	}
}

// readOne reads one part from Open to Close.
// Damage may show when the checkpoint is opened, while the part is read, or when it is closed.
func readOne(ctx context.Context, s store.Store, job string, number int64, name string) (string, error) {
	r, err := s.Open(ctx, job, number)
	if err != nil {
		return "", err
	}
	// What Close says is of no interest here: the parts have told what they are.
	defer r.Close()
	return readPart(r, name)
}

// testDamagedManifest: "A checkpoint whose manifest is damaged is left out and named in the error, which wraps ErrCorrupt; the
// others are returned beside it." It can be deleted.
func testDamagedManifest(t *testing.T, s store.Store) {
	d := damager(t, s)
	for _, how := range []Damage{Flip, Truncate, Extend, Remove} {
		// The damaged number lies between two good ones, so a List that stops at the first fault loses the
		// second of them.
		for number := range int64(3) {
			mustCommit(t, s, "job", number+4711, sample(number))
		}
		// The manifest alone is damaged; its parts are whole, and unreachable without it.
		d.Damage(t, "job", 4712, ManifestPart, how)
		_, err := s.Open(t.Context(), "job", 4712)
		if how != Remove || !errors.Is(err, store.ErrNotFound) { // a manifest that is missing may be none
			wantError(t, how.String()+" of the manifest", err, store.ErrCorrupt)
		}
		// The error of List comes beside a list: a scheduler restores from what is left, and tells of the
		// rest.
		list, err := s.List(t.Context(), "job")
		if how != Remove || err != nil {
			wantError(t, "List after "+how.String(), err, store.ErrCorrupt)
			if !strings.Contains(err.Error(), "4712") {
				t.Errorf("the error of List does not name number 4712: %v", err)
			}
		}
		// Only the numbers are compared: that manifests are right is for other tests.
		numbers := make([]int64, len(list))
		for i, m := range list {
			numbers[i] = m.Number
		}
		if want := []int64{4711, 4713}; !slices.Equal(numbers, want) {
			t.Errorf("List after %v has %d, want %d", how, numbers, want)
		}
		// As long as the damaged one is there List has an error, and wantAbsent takes any for a failure.
		for _, number := range []int64{4712, 4711, 4713} { // the damaged one first, then all can be listed
			if err := s.Delete(t.Context(), "job", number); err != nil {
				t.Errorf("Delete after %v: %v", how, err)
			}
			wantAbsent(t, s, "job", number)
		}
	}
}

// testLeftovers lets writers die at three points, and one of them turn out to be alive.
// Nobody tells a store that a writer has died; only its age and the next process do.
func testLeftovers(t *testing.T, s store.Store) {
	restarter, ok := s.(Restarter)
	if !ok {
		t.Skip("the store is no Restarter")
	}
	// What is committed before the deaths is what must be left at the end: no collection may reach it.
	mustCommit(t, s, "job", 1, sample(1))
	// The first writer dies before its first part, half in the middle of one, late with all parts closed and
	// before Commit.
	if _, err := s.Begin(t.Context(), "job", 2); err != nil {
		t.Fatal(err)
	}
	half := mustWrite(t, s, "job", 3, sample(3))
	part, err := half.Part("half")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(part, "half of it"); err != nil {
		t.Fatal(err)
	}
	late := mustWrite(t, s, "job", 4, sample(4))
	// The job another has no checkpoint at all: its folder is a leftover as a whole.
	mustWrite(t, s, "another", 1, sample(1))

	// Whatever the process held in memory is gone from here; the medium has what had reached it.
	next := restarter.Restart(t)
	for number := int64(2); number <= 4; number++ {
		wantAbsent(t, next, "job", number)
	}
	wantAbsent(t, next, "another", 1)
	// A store may collect when it opens, or when it is told; it has both chances before the count.
	if c, ok := next.(interface{ Collect(context.Context) error }); ok {
		if err := c.Collect(t.Context()); err != nil {
			t.Fatalf("Collect: %v", err)
		}
	}
	// Leftovers that stay fill the medium over the months, as every killed job leaves some.
	if n := restarter.Leftovers(t); n != 0 {
		t.Errorf("%d leftovers stayed", n)
	}
	wantFiles(t, next, "job", 1, sample(1))

	// The late writer's objects are gone: its Commit fails, and nothing half becomes visible.
	// Both answers are allowed: a store may find late's objects again, as long as the checkpoint is whole.
	if _, err := late.Commit(); err == nil {
		wantFiles(t, next, "job", 4, sample(4))
	} else {
		wantAbsent(t, next, "job", 4)
	}
	mustCommit(t, next, "job", 4, sample(4))
	// Number 4 is committed by the next process now. The Abort of late may find nothing, but may not take
	// that away.
	_ = late.Abort() // may complain about what it no longer finds
	wantFiles(t, next, "job", 4, sample(4))
	wantFiles(t, next, "job", 1, sample(1))
}
