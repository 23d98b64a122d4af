// This file lists the generators that tests go through.

package instancetest

import (
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// Generators draw instances by servers and applications.
// They differ in what is hard: table2 has few demands and scarce GPUs, mixed and nodes have servers of several
// shapes, and sized has as many demands as applications in six kinds. With previous a part of the applications
// runs already.
var Generators = []struct {
	Name     string
	Generate func(seed uint64, servers, apps int, previous bool) *solver.Instance
}{
	{"table2", alloctest.Table2}, {"mixed", alloctest.Mixed}, {"nodes", alloctest.Nodes},
	{"sized", func(seed uint64, servers, apps int, previous bool) *solver.Instance {
		return alloctest.Sized(seed, alloctest.Size{Servers: servers, Apps: apps, Kinds: 6, Demands: apps}, previous)
	}},
}
