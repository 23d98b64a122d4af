// This file tests what a store makes of damage behind its back and of writers that died.

package checkpointtest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint"
)

func damager(t *testing.T, store checkpoint.Store) Damager {
	d, ok := store.(Damager)
	if !ok {
		t.Skip("the store is no Damager")
	}
	return d
}

// testDamagedPart: "Reading a part that is damaged ends in ErrCorrupt, not in EOF", and damages no other part.
func testDamagedPart(t *testing.T, store checkpoint.Store) {
	d := damager(t, store)
	files := []file{{"first", "content"}, {"second", strings.Repeat("0123456789", 20_000)}, {"empty", ""}}
	number := int64(0)
	for part, f := range files {
		for _, how := range []Damage{Flip, Truncate, Extend, Remove} {
			if f.data == "" && (how == Flip || how == Truncate) {
				continue
			}
			number++
			mustCommit(t, store, "job", number, files)
			d.Damage(t, "job", number, part, how)
			for i, intact := range files {
				data, err := readOne(t.Context(), store, "job", number, intact.name)
				if i == part {
					wantError(t, how.String()+" of part "+f.name, err, checkpoint.ErrCorrupt)
				} else if err == nil && data != intact.data { // to refuse the whole is right, too
					t.Errorf("%v of part %s changed part %s", how, f.name, intact.name)
				}
			}
			if err := store.Delete(t.Context(), "job", number); err != nil {
				t.Errorf("Delete after %v: %v", how, err)
			}
			wantAbsent(t, store, "job", number)
		}
	}
}

// readOne reads one part from Open to Close.
func readOne(ctx context.Context, store checkpoint.Store, job string, number int64, name string) (string, error) {
	r, err := store.Open(ctx, job, number)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return readPart(r, name)
}

// testDamagedManifest: "A checkpoint whose manifest is damaged is left out and named in the error, which wraps ErrCorrupt; the
// others are returned beside it." It can be deleted.
func testDamagedManifest(t *testing.T, store checkpoint.Store) {
	d := damager(t, store)
	for _, how := range []Damage{Flip, Truncate, Extend, Remove} {
		for number := range int64(3) {
			mustCommit(t, store, "job", number+4711, sample(number))
		}
		d.Damage(t, "job", 4712, ManifestPart, how)
		_, err := store.Open(t.Context(), "job", 4712)
		if how != Remove || !errors.Is(err, checkpoint.ErrNotFound) { // a manifest that is missing may be none
			wantError(t, how.String()+" of the manifest", err, checkpoint.ErrCorrupt)
		}
		list, err := store.List(t.Context(), "job")
		if how != Remove || err != nil {
			wantError(t, "List after "+how.String(), err, checkpoint.ErrCorrupt)
			if !strings.Contains(err.Error(), "4712") {
				t.Errorf("the error of List does not name number 4712: %v", err)
			}
		}
		numbers := make([]int64, len(list))
		for i, m := range list {
			numbers[i] = m.Number
		}
		if want := []int64{4711, 4713}; !slices.Equal(numbers, want) {
			t.Errorf("List after %v has %d, want %d", how, numbers, want)
		}
		for _, number := range []int64{4712, 4711, 4713} { // the damaged one first, then all can be listed
			if err := store.Delete(t.Context(), "job", number); err != nil {
				t.Errorf("Delete after %v: %v", how, err)
			}
			wantAbsent(t, store, "job", number)
		}
	}
}

// testLeftovers lets writers die at three points, and one of them turn out to be alive.
func testLeftovers(t *testing.T, store checkpoint.Store) {
	restarter, ok := store.(Restarter)
	if !ok {
		t.Skip("the store is no Restarter")
	}
	mustCommit(t, store, "job", 1, sample(1))
	if _, err := store.Begin(t.Context(), "job", 2); err != nil {
		t.Fatal(err)
	}
	half := mustWrite(t, store, "job", 3, sample(3))
	part, err := half.Part("half")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(part, "half of it"); err != nil {
		t.Fatal(err)
	}
	late := mustWrite(t, store, "job", 4, sample(4))
	mustWrite(t, store, "another", 1, sample(1))

	next := restarter.Restart(t)
	for number := int64(2); number <= 4; number++ {
		wantAbsent(t, next, "job", number)
	}
	wantAbsent(t, next, "another", 1)
	if c, ok := next.(interface{ Collect(context.Context) error }); ok {
		if err := c.Collect(t.Context()); err != nil {
			t.Fatalf("Collect: %v", err)
		}
	}
	if n := restarter.Leftovers(t); n != 0 {
		t.Errorf("%d leftovers stayed", n)
	}
	wantFiles(t, next, "job", 1, sample(1))

	// The late writer's objects are gone: its Commit fails, and nothing half becomes visible.
	if _, err := late.Commit(); err == nil {
		wantFiles(t, next, "job", 4, sample(4))
	} else {
		wantAbsent(t, next, "job", 4)
	}
	mustCommit(t, next, "job", 4, sample(4))
	_ = late.Abort() // may complain about what it no longer finds
	wantFiles(t, next, "job", 4, sample(4))
	wantFiles(t, next, "job", 1, sample(1))
}
