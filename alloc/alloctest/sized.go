// This file draws random instances of any size in every respect.

package alloctest

import (
	"fmt"
	"math/rand/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Size is how large an instance is: how many servers and applications, kinds of resources, and different
// demands the applications have among them, at most: each application draws one, and some may be drawn by none.
type Size struct{ Servers, Apps, Kinds, Demands int }

// Of every kind a server has serverHas; a container needs leastFirst to most of the first one, and up to
// most of each other one.
const serverHas, leastFirst, most = 12, 2, 6

// Sized draws an instance of that size, on equal servers; the rest is as in [Table2]. It panics unless all
// four are positive, with previous at least 3 applications, and there are so many different demands: at
// most 5 x 7^(Kinds-1).
func Sized(seed uint64, size Size, previous bool) *solver.Instance {
	// different counts the demands that there are, and stops at what is asked: 5 x 7^(Kinds-1)
	// overflows early.
	different := most - leastFirst + 1
	for range size.Kinds - 1 {
		different = min(different*(most+1), size.Demands)
	}
	if size.Servers < 1 || size.Apps < 1 || previous && size.Apps < 3 || size.Kinds < 1 || size.Demands < 1 || size.Demands > different {
		panic(fmt.Sprintf("alloctest: Sized: there is no instance of %+v, previous %v", size, previous))
	}
	// The list of demands is drawn before the applications, from the same numbers.
	g := generator{rand: newRand(seed), previous: previous}
	demands := drawDemands(g.rand, size)
	g.draw = func(r *rand.Rand) claim {
		// Applications draw from a fixed list of demands: solvers that group equal ones meet as
		// many as Demands says.
		return claim{pick(r, demands...), pick(r, 1.0, 2, 4), 1, pick[int64](r, 8, 16, 32)}
	}
	capacity := make([]apportion.Resources, size.Servers)
	for j := range capacity {
		capacity[j] = make(apportion.Resources, size.Kinds)
		for k := range capacity[j] {
			capacity[j][k] = serverHas
		}
	}
	inst, _ := g.instance(capacity, size.Apps)
	return inst
}

func drawDemands(r *rand.Rand, size Size) []apportion.Resources {
	var all []apportion.Resources
	seen := make(map[string]bool)
	// The check in Sized ends this loop: as many different demands exist. Close to all of them the
	// draws repeat more and more, some k ln k of them for k demands.
	for len(all) < size.Demands {
		demand := make(apportion.Resources, size.Kinds)
		demand[0] = leastFirst + r.Int64N(most-leastFirst+1)
		for k := range demand[1:] {
			demand[1+k] = r.Int64N(most + 1)
		}
		if name := fmt.Sprint(demand); !seen[name] {
			seen[name] = true
			all = append(all, demand)
		}
	}
	return all
}
