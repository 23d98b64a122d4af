// This file declares what a store may show of itself beside the contract, so that the suite can look
// into it.

package storetest

import (
	"slices"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// Damager is a store under test that can be damaged behind its back.
type Damager interface {
	// Damage damages the part with that index of a committed checkpoint, or its manifest if part is
	// [ManifestPart].
	// It fails t where there is nothing to damage, since a check of damage on an intact store would pass.
	Damage(t testing.TB, job string, number int64, part int, how Damage)
}

// ManifestPart stands for the manifest where a part is asked for.
const ManifestPart = -1

// Damage is what can happen to stored bytes.
type Damage int

// What a Damager can do.
const (
	// Flip inverts one bit in the middle of what has at least one byte.
	// The length stays right, so only a digest can tell.
	Flip Damage = iota
	// Truncate takes the last byte away.
	// This is what a crash leaves whose bytes had not all arrived.
	Truncate
	// Extend adds one byte at the end.
	// Everything that the manifest lists is intact, and there is still more than was committed.
	Extend
	// Remove takes all away.
	Remove
)

// String returns the name of the constant.
func (d Damage) String() string {
	if d < Flip || d > Remove {
		return "Damage(?)"
	}
	return [...]string{"Flip", "Truncate", "Extend", "Remove"}[d]
}

// Apply returns the damaged form of data, a new slice; of Remove it knows nothing.
func (d Damage) Apply(data []byte) []byte {
	data = append([]byte(nil), data...)
	switch d {
	case Flip:
		// Bit 3 of the middle byte: neither the first nor the last, which headers and checksums cover most
		// often.
		data[len(data)/2] ^= 1 << 3
	case Truncate:
		data = data[:len(data)-1]
	case Extend:
		// A zero is what a file system leaves behind where a length was written before its bytes.
		data = append(data, 0)
	}
	return data
}

// Restarter is a store under test whose process can be replaced.
type Restarter interface {
	// Restart returns another store on the same medium, as a process sees it that starts after the one
	// with the receiver died, so long after that all leftovers have come of age. The receiver stays
	// usable: its process may not be as dead as everybody believes. If the new store has a method
	// Collect(context.Context) error, Run calls it before it counts.
	Restart(t testing.TB) store.Store
	// Leftovers counts the objects on the medium that belong to no committed checkpoint.
	// It looks at the medium itself and not through the store, which might hide what it has forgotten.
	Leftovers(t testing.TB) int
}

// InMemory is a store under test that holds whole parts in memory by its nature, so that memory is not
// measured while a large part passes through it.
type InMemory interface{ InMemory() }

// Inline returns what is left of a manifest with contents behind it, when that one of the contents is damaged.
func (d Damage) Inline(manifest []byte, contents [][]byte, at int) []byte {
	begin := len(manifest)
	for _, c := range contents[at:] {
		begin -= len(c)
	}
	var damaged []byte
	switch {
	case d != Remove:
		damaged = d.Apply(contents[at])
	case len(contents[at]) == 0:
		damaged = Extend.Apply(nil) // there is nothing that could be removed
	}
	return slices.Concat(manifest[:begin], damaged, manifest[begin+len(contents[at]):])
}
