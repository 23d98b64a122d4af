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
	// The skip ends the caller's test too, so a caller may use the result without a look.
	d, ok := s.(Damager)
	if !ok {
		t.Skip("the store is no Damager")
	}
	return d
}

// testDamagedPart: "Reading a part that is damaged ends in ErrCorrupt, not in EOF", and damages no other part.
// A model that is trained on from damaged weights is lost weeks later, and nobody knows why.
func testDamagedPart(t *testing.T, s store.Store) {
	// Three parts, each of which is damaged in turn while the others must stay what they are.
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
			// A damaged checkpoint is never repaired: after its check it is deleted, and the next has another number.
			number++
			mustCommit(t, s, "job", number, files)
			// The damage happens between the commit and the opening, as bits rot on a disk that nobody
			// reads.
			d.Damage(t, "job", number, part, how)
			// Every part is opened apart: a reader that has seen damage once might refuse the others for
			// that reason alone.
			for i, intact := range files {
				// Damage may be told at any step up to Close; what counts is that the bytes do not pass for good ones.
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
// Its error is the first of these three. The content is returned beside an error as far as it was read.
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
// The manifest is the one thing without which the bytes of a checkpoint mean nothing; and a job whose newest manifest is damaged
// must still be resumed from the one before.
func testDamagedManifest(t *testing.T, s store.Store) {
	d := damager(t, s)
	// The manifest has no empty case: even that of a checkpoint without parts has bytes to flip and to cut.
	for _, how := range []Damage{Flip, Truncate, Extend, Remove} {
		// The damaged number lies between two good ones, so a List that stops at the first fault loses the
		// second of them.
		for number := range int64(3) {
			mustCommit(t, s, "job", number+4711, sample(number))
		}
		// The manifest alone is damaged; its parts are whole, and unreachable without it.
		d.Damage(t, "job", 4712, ManifestPart, how)
		_, err := s.Open(t.Context(), "job", 4712)
		// A store that keeps the manifest beside the parts can tell a lost one from none; one whose manifest is all that makes the
		// number visible cannot.
		if how != Remove || !errors.Is(err, store.ErrNotFound) { // a manifest that is missing may be none
			wantError(t, how.String()+" of the manifest", err, store.ErrCorrupt)
		}
		// The error of List comes beside a list: a scheduler restores from what is left, and tells of the
		// rest.
		// It must have an error and a list at the same time, as few functions do: a store that returns nil beside an error loses both
		// good checkpoints.
		list, err := s.List(t.Context(), "job")
		if how != Remove || err != nil {
			wantError(t, "List after "+how.String(), err, store.ErrCorrupt)
			// The number in the message is what an operator deletes the damaged one by.
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
// Without this a cluster's disk fills with the halves of saves that were killed, and the first thing that fails is the next save.
func testLeftovers(t *testing.T, s store.Store) {
	// Only a Restarter can be asked what lies on its medium.
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
	// Two parts of half are complete: they must be collected all the same.
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
	// None of the writers is aborted: a process that is killed calls nothing.
	mustWrite(t, s, "another", 1, sample(1))

	// Whatever the process held in memory is gone from here; the medium has what had reached it.
	// The new store must not show what the old one was writing, not even what was complete but for Commit.
	next := restarter.Restart(t)
	for number := int64(2); number <= 4; number++ {
		wantAbsent(t, next, "job", number)
	}
	wantAbsent(t, next, "another", 1)
	// A store may collect when it opens, or when it is told; it has both chances before the count.
	// Collect is no part of the contract, since some stores collect by themselves.
	if c, ok := next.(interface{ Collect(context.Context) error }); ok {
		if err := c.Collect(t.Context()); err != nil {
			t.Fatalf("Collect: %v", err)
		}
	}
	// Leftovers that stay fill the medium over the months, as every killed job leaves some.
	// Exactly none: the medium is counted after all leftovers have come of age.
	if n := restarter.Leftovers(t); n != 0 {
		t.Errorf("%d leftovers stayed", n)
	}
	wantFiles(t, next, "job", 1, sample(1))

	// The writer late belongs to the old store, whose process everybody took for dead and which turns out to be alive.
	// The late writer's objects are gone: its Commit fails, and nothing half becomes visible.
	// Both answers are allowed: a store may find late's objects again, as long as the checkpoint is whole.
	if _, err := late.Commit(); err == nil {
		wantFiles(t, next, "job", 4, sample(4))
	} else {
		wantAbsent(t, next, "job", 4)
	}
	// The same parts are committed again: whether or not late was successful, this must be, by the rule of equal commits.
	mustCommit(t, next, "job", 4, sample(4))
	// Number 4 is committed by the next process now. The Abort of late may find nothing, but may not take
	// that away.
	_ = late.Abort() // may complain about what it no longer finds
	wantFiles(t, next, "job", 4, sample(4))
	wantFiles(t, next, "job", 1, sample(1))
}
