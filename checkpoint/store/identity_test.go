// This file tests the identity of stores: its form, and when two of them are the same.

package store_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

func TestIdentity(t *testing.T) {
	id := store.NewIdentity()
	if !id.Valid() || id == store.NewIdentity() {
		t.Fatalf("%q is no identity, or that of two stores", id)
	}
	back := must.Have(store.ReadIdentity(bytes.NewReader(id.Line())))(t)
	must.Equal(t, back, id, id.Line(), "reads as")
	// Every other line is damage: an identity that is nearly right would be that of another store.
	line := string(id.Line())
	for _, bad := range []string{
		"", "\n", line[:len(line)-1], line[1:], line + "\n", line + line, " " + line, strings.ToLower(line),
		strings.Replace(line, " 1 ", " 2 ", 1), line[:len(line)-2] + "\n", line[:len(line)-2] + "1\n", line[:len(line)-2] + "A" + "A\n",
	} {
		if got, err := store.ReadIdentity(strings.NewReader(bad)); !errors.Is(err, store.ErrCorrupt) || got != "" {
			t.Errorf("%q reads as %q, %v", bad, got, err)
		}
	}
}

func TestIdentitySame(t *testing.T) {
	id, other := store.NewIdentity(), store.NewIdentity()
	for _, c := range []struct {
		want, found store.Identity
		same        bool
	}{{id, id, true}, {"", id, true}, {"", "", true}, {id, other, false}, {id, "", false}} {
		if err := c.want.Same(c.found); (err == nil) != c.same || err != nil && !errors.Is(err, store.ErrIdentity) {
			t.Errorf("expected %q, found %q: %v", c.want, c.found, err)
		}
	}
}
