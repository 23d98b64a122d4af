// This file tests that a store knows its medium again.

package storetest

import (
	"context"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// testIdentity: "It is the same for all stores on one medium, also after a restart", whatever is committed and
// deleted meanwhile. A job may be called as the identity is: it does not stand in its way.
// A cluster tells its store from a disk that is not mounted by this alone. A store whose identity wanders is taken for an
// empty one after the next restart, and the master ends in place of resuming its jobs.
func testIdentity(t *testing.T, s store.Store) {
	// The ended context comes first, while the store has no identity yet: what this call makes must not differ from what the
	// next one finds.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Identity(ctx)
	wantError(t, "Identity after the context", err, context.Canceled)
	first := identity(t, s)
	if !first.Valid() {
		t.Fatalf("%q is no identity", first)
	}
	// Neither a job of such a name nor the last deletion of a job takes the identity away.
	// A store on files keeps its identity beside the folders of jobs, so the names are those that it might take for its own:
	// the bare word, the word with the sign by which names are escaped, and the identity itself.
	for i, job := range []string{"identity", "%identity", string(first), "job"} {
		mustCommit(t, s, job, int64(i+1), sample(int64(i)))
		// Asked for after each commit: the first one makes the folders that a store on files begins to consist of.
		if again := identity(t, s); again != first {
			t.Fatalf("the identity was %s and is %s after a commit of job %q", first, again, job)
		}
		wantFiles(t, s, job, int64(i+1), sample(int64(i)))
		// The deletion takes the job's folder away where that is empty then, and nothing beside it.
		if err := s.Delete(t.Context(), job, int64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	// A store that cannot show a restart has passed all of the above; the skip says which half was not looked at.
	restarter, ok := s.(Restarter)
	if !ok {
		t.Skip("the store is no Restarter")
	}
	next := restarter.Restart(t)
	// The collection is the one that could take the identity for a leftover: it belongs to no job and no checkpoint.
	if c, ok := next.(interface{ Collect(context.Context) error }); ok {
		if err := c.Collect(t.Context()); err != nil {
			t.Fatalf("Collect: %v", err)
		}
	}
	if again := identity(t, next); again != first {
		t.Fatalf("the identity was %s and is %s after a restart", first, again)
	}
}

// identity returns the identity of a store that has one.
func identity(t testing.TB, s store.Store) store.Identity {
	t.Helper()
	id, err := s.Identity(t.Context())
	if err != nil {
		t.Fatalf("Identity: %v", err)
	}
	return id
}
