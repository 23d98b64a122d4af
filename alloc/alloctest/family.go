// This file names the generators of clusters, so that tests can go through them.

package alloctest

import "github.com/apportion/apportion/alloc/solver"

// Family is a way to draw clusters of any size. The zero value draws those of the paper's testbed.
type Family struct {
	// Name is that of the function: "Table2", "Mixed" or "Nodes".
	Name string
	draw func(seed uint64, servers, apps int, previous bool) (*solver.Instance, []float64)
}

// Families returns all of them, always in the same order: the paper's testbed, mixed clusters, and clusters of nodes that all
// differ.
func Families() []Family {
	return []Family{{"Table2", table2}, {"Mixed", mixed}, {"Nodes", differing}}
}

// Draw returns what the function of that name returns, and the weights behind the theoretical shares,
// one for each application. An instance has no place for weights, which a problem needs.
func (f Family) Draw(seed uint64, servers, apps int, previous bool) (inst *solver.Instance, weights []float64) {
	if f.draw == nil {
		return table2(seed, servers, apps, previous)
	}
	return f.draw(seed, servers, apps, previous)
}
