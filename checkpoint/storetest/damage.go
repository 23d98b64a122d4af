// This file declares what a store may show of itself beside the contract: damage, restarts and leftovers.

package storetest

import (
	"slices"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// Damager is a store under test that can be damaged behind its back.
type Damager interface {
	// Damage damages the part with that index of a committed checkpoint, or its manifest if part is [ManifestPart]. It fails t
	// where there is nothing to damage.
	Damage(t testing.TB, job string, number int64, part int, how Damage)
}

// ManifestPart stands for the manifest where a part is asked for.
const ManifestPart = -1

// Damage is what can happen to stored bytes.
type Damage string

// What a Damager can do.
const (
	// Flip inverts one bit in the middle of what has at least one byte.
	Flip Damage = "flip"
	// Truncate takes the last byte away.
	Truncate Damage = "truncate"
	// Extend adds a zero byte at the end, as a file system leaves it where a length was written before its bytes.
	Extend Damage = "extend"
	// Remove takes all away.
	Remove Damage = "remove"
)

var damages = []Damage{Flip, Truncate, Extend, Remove}

// Apply returns the damaged form of data, a new slice; of Remove it knows nothing.
func (d Damage) Apply(data []byte) []byte {
	data = slices.Clone(data)
	switch d {
	case Flip:
		data[len(data)/2] ^= 1 << 3
	case Truncate:
		data = data[:len(data)-1]
	case Extend:
		data = append(data, 0)
	}
	return data
}

// Inline returns what is left of a manifest with contents behind it, when the content with that index is damaged.
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

// Restarter is a store under test whose process can be replaced.
type Restarter interface {
	// Restart returns another store on the same medium, as a process sees it that starts after the process of the receiver died,
	// so long after that all leftovers have come of age. The receiver stays usable: its process may live on unnoticed. If the
	// new store has a method Collect(context.Context) error, Run calls it before it counts.
	Restart(t testing.TB) store.Store
	// Leftovers counts the objects on the medium that belong to no committed checkpoint.
	Leftovers(t testing.TB) int
}
