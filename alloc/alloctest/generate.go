// This file draws random instances: the paper's testbed and workload, mixed clusters, and clusters of nodes
// that all differ.

package alloctest

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
)

// tableII is the workload of [Dorm, Table II], in CPUs, GPUs and GB of memory; number is out of 50.
var tableII = [...]struct {
	claim
	number int
}{
	// demand, weight, least and most containers; how many of them in 50
	{claim{apportion.Resources{2, 0, 8}, 1, 1, 32}, 20}, // LR
	{claim{apportion.Resources{2, 0, 6}, 2, 1, 32}, 20}, // MF
	{claim{apportion.Resources{4, 0, 6}, 4, 1, 8}, 6},   // CaffeNet
	{claim{apportion.Resources{4, 1, 32}, 1, 1, 5}, 1},  // VGG-16
	{claim{apportion.Resources{6, 1, 16}, 1, 1, 5}, 1},  // GoogLeNet
	{claim{apportion.Resources{6, 1, 16}, 2, 1, 5}, 1},  // AlexNet
	{claim{apportion.Resources{4, 1, 32}, 4, 1, 5}, 1},  // ResNet-50
}

// shapes are the servers of a mixed cluster.
// They differ in how much memory and how many GPUs stand beside a CPU, so that no kind is scarce
// everywhere.
var shapes = [...]apportion.Resources{
	{16, 0, 64}, {32, 1, 128}, {48, 0, 192}, {64, 2, 256}, {96, 8, 768}, {128, 4, 512},
}

// Table2 draws applications from the paper's Table II for servers of 12 CPU and 128 GB, of which
// every fourth has a GPU; 20 servers are the paper's testbed. With previous, the cluster is full:
// two of the applications that filled it have finished, and the last two in the list are new.
// It needs servers >= 1 and apps >= 1, with previous apps >= 3.
func Table2(seed uint64, servers, apps int, previous bool) *solver.Instance {
	inst, _ := table2(seed, servers, apps, previous)
	return inst
}

// table2 is Table2 with the weights.
func table2(seed uint64, servers, apps int, previous bool) (*solver.Instance, []float64) {
	// Servers need no random numbers here, so that all of them go to the applications.
	g := generator{rand: newRand(seed), previous: previous, draw: drawTable2}
	capacity := make([]apportion.Resources, servers)
	for j := range capacity {
		capacity[j] = apportion.Resources{12, 0, 128}
		if j%4 == 0 {
			capacity[j][1] = 1
		}
	}
	return g.instance(capacity, apps)
}

// drawTable2 draws an application in proportion to its number in Table II.
func drawTable2(r *rand.Rand) claim {
	at := r.IntN(50)
	for _, row := range tableII {
		// at walks down the cumulative numbers: a row is hit in proportion to its own.
		if at -= row.number; at < 0 {
			return row.claim
		}
	}
	panic("the numbers of Table II sum to 50")
}

// Mixed draws servers of six shapes, 16 to 128 CPU with up to 8 GPU, and applications of about a
// hundred demands, so that few share one; a third want GPUs. The rest is as in [Table2].
func Mixed(seed uint64, servers, apps int, previous bool) *solver.Instance {
	inst, _ := mixed(seed, servers, apps, previous)
	return inst
}

// mixed is Mixed with the weights.
func mixed(seed uint64, servers, apps int, previous bool) (*solver.Instance, []float64) {
	g := generator{rand: newRand(seed), previous: previous, draw: drawMixed}
	capacity := make([]apportion.Resources, servers)
	for j := range capacity {
		capacity[j] = shapes[g.rand.IntN(len(shapes))].Clone()
	}
	return g.instance(capacity, apps)
}

// drawMixed draws an application: two of three want CPU and memory alone, the others GPUs with some of
// both beside each.
// Memory and CPUs are multiples of the GPUs, as jobs that train on several at once ask for them.
func drawMixed(r *rand.Rand) claim {
	weight := pick(r, 1.0, 1, 1, 2, 4)
	// The order of the draws is part of what a seed means: another order would be other instances,
	// and figures measured on them could no longer be compared.
	if r.IntN(3) > 0 {
		cpu := pick[int64](r, 1, 2, 3, 4, 6, 8, 12, 16)
		memory := cpu * pick[int64](r, 1, 2, 4, 6, 8)
		return claim{apportion.Resources{cpu, 0, memory}, weight, 1, pick[int64](r, 4, 8, 16, 32, 64)}
	}
	gpu := pick[int64](r, 1, 1, 1, 1, 2, 4)
	cpu := gpu * pick[int64](r, 2, 4, 6, 8, 12)
	memory := gpu * pick[int64](r, 8, 16, 32, 60)
	return claim{apportion.Resources{cpu, gpu, memory}, weight, 1, pick[int64](r, 1, 2, 4, 8, 16)}
}

// nodes are the shapes of Kubernetes nodes, by what is allocatable of CPU in thousandths, GPU, and memory
// in KiB.
var nodes = [...]apportion.Resources{
	{15_890, 0, 63_000_000}, {31_850, 0, 127_000_000}, {47_810, 4, 190_000_000}, {95_690, 8, 383_000_000},
}

// nodeMemory is how many KiB of memory a node has less than the one before it in the list of a cluster, on
// average: no two are equal.
const nodeMemory = 8

// Nodes draws servers as Kubernetes reports them: of four shapes, but every one with a memory of its own,
// some KiB below that of its shape. A quarter of the applications want GPUs; the rest is as in [Table2].
func Nodes(seed uint64, servers, apps int, previous bool) *solver.Instance {
	inst, _ := differing(seed, servers, apps, previous)
	return inst
}

// differing is Nodes with the weights.
func differing(seed uint64, servers, apps int, previous bool) (*solver.Instance, []float64) {
	g := generator{rand: newRand(seed), previous: previous, draw: drawNodes}
	capacity := make([]apportion.Resources, servers)
	for j := range capacity {
		capacity[j] = nodes[g.rand.IntN(len(nodes))].Clone()
		// The term j nodeMemory alone makes all servers of a shape differ; the random one hides the
		// pattern.
		capacity[j][2] -= int64(j)*nodeMemory + g.rand.Int64N(nodeMemory)
	}
	return g.instance(capacity, apps)
}

// drawNodes draws an application in thousandths of CPUs, whole GPUs and KiB.
func drawNodes(r *rand.Rand) claim {
	const gibibyte = 1 << 20 // KiB
	demand := apportion.Resources{pick[int64](r, 500, 1000, 2000, 4000), 0, gibibyte * pick[int64](r, 1, 2, 4, 8, 16)}
	// Nodes with GPUs are shared with applications that want none, as in a real cluster.
	if r.IntN(4) == 0 {
		demand[1] = pick[int64](r, 1, 1, 2)
	}
	return claim{demand, pick(r, 1.0, 2, 4), 1, pick[int64](r, 4, 8, 16, 32)}
}

// newRand returns the source of random numbers of a seed.
// PCG is specified bit by bit, so that it draws the same on every machine and with every version of
// Go.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// pick draws one of the choices, each as likely.
func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// generator is where an instance comes from: how applications are drawn, and whether some already run.
//
// One source serves servers and applications in turn, so that one seed fixes the whole instance.
type generator struct {
	rand     *rand.Rand
	draw     func(*rand.Rand) claim
	previous bool
}

// instance draws the applications and, with previous, what they hold; weights are theirs.
func (g *generator) instance(capacity []apportion.Resources, apps int) (inst *solver.Instance, weights []float64) {
	claims := make([]claim, apps)
	for i := range claims {
		claims[i] = g.draw(g.rand)
	}
	inst = newInstance(capacity, claims)
	// 1. Fill the cluster with apps applications, 2. let two of them finish and two others come, 3.
	// compute shares and budgets for those who are there now.
	if g.previous {
		fill(inst, claims)
		for range 2 { // finished: the newcomers come last
			// Only the first apps - 2 may finish, which keeps the newcomer of the first round from
			// finishing in the second.
			done := g.rand.IntN(apps - 2)
			// The three-index slice makes append copy, so that claims does not overwrite its own
			// tail.
			claims = append(append(claims[:done:done], claims[done+1:]...), g.draw(g.rand))
			held := append(inst.Apps[:done:done], inst.Apps[done+1:]...)
			inst.Apps = append(held, newInstance(capacity, claims[apps-1:]).Apps...)
		}
	}
	// Shares are those among who is there now: what has finished claims nothing any more.
	setShares(inst, claims)
	// (15) with Theta1 = 0.1 and the paper's ceiling, 2m being the largest loss.
	inst.LossBudget = ceil(0.1 * 2 * float64(len(inst.Total)))
	running := 0
	for i := range inst.Apps {
		inst.Apps[i].Cost = 1
		inst.Apps[i].Running = len(inst.Apps[i].Previous) > 0
		if inst.Apps[i].Running {
			running++
		}
	}
	// (16) with Theta2 = 0.1: one application of ten, and at least one.
	inst.AdjustBudget = int64(ceil(0.1 * float64(running)))
	for _, c := range claims {
		weights = append(weights, c.weight)
	}
	return inst, weights
}

// ceil rounds up, but not for the rounding error of a product such as 0.1 * 2 * 3. It is the rule of package alloc, stated
// anew: this package is imported by its tests.
func ceil(x float64) float64 { return math.Ceil(x - 1e-9) }

// setShares gives every application its theoretical share.
// The rule is alloc.BoundedDRF, the default of the decision: divisible, within minimum and maximum.
func setShares(inst *solver.Instance, claims []claim) {
	due := make([]drf.Claim, len(claims))
	for i, c := range claims {
		due[i] = drf.Claim{ID: strconv.Itoa(i), Demand: c.demand, Weight: c.weight, Min: c.min, Max: c.max}
	}
	filling, err := drf.Fill(inst.Total, due)
	if err != nil {
		panic(err) // the generators' claims are sound
	}
	for i := range inst.Apps {
		inst.Apps[i].Share = filling.Claims[i].Share
	}
}

// fill gives every application its place in a full cluster; claims are those of the applications, in their order. An
// application without room gets nothing, and does not run.
func fill(inst *solver.Instance, claims []claim) {
	counts := handOut(inst, claims)
	for i, row := range counts {
		// Servers are visited in their order, which is that of Previous.
		for j, n := range row {
			if n > 0 {
				inst.Apps[i].Previous = append(inst.Apps[i].Previous, apportion.Placement{Server: j, Count: n})
			}
		}
	}
}

// handOut hands out containers one at a time: the next one goes to the application of the smallest
// weighted share, on the first server with room for it. It returns how many of each application
// are on each server.
func handOut(inst *solver.Instance, claims []claim) [][]int64 {
	// Capacities stay what they are; left is what has not been handed out.
	left := make([]apportion.Resources, len(inst.Capacity))
	for j, capacity := range inst.Capacity {
		left[j] = capacity.Clone()
	}
	counts := make([][]int64, len(claims)) // by application, by server
	total := make([]int64, len(claims))
	// Room only shrinks while containers are handed out, so that a server without room stays
	// without.
	open := make([]int, len(claims)) // the first server that may still have room
	for i := range counts {
		counts[i] = make([]int64, len(left))
	}
	// Every round hands out one container or closes a server for an application: at most
	// O(containers + applications x servers) rounds of O(applications) each.
	for {
		next, least := -1, math.Inf(1)
		for i, c := range claims {
			// The level is the weighted dominant share of progressive filling; of equal ones the
			// first in the list wins.
			level := float64(total[i]) * inst.Apps[i].Delta / c.weight
			if open[i] < len(left) && total[i] < c.max && level < least {
				next, least = i, level
			}
		}
		if next < 0 {
			return counts
		}
		// A server without room for this demand is passed for good.
		demand := claims[next].demand
		for open[next] < len(left) && !demand.FitsIn(left[open[next]]) {
			open[next]++
		}
		if j := open[next]; j < len(left) {
			for k, q := range demand {
				left[j][k] -= q
			}
			counts[next][j]++
			total[next]++
		}
	}
}
