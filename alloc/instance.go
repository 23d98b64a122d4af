// This file resolves a Problem into the dense solver.Instance: indices for names, shares by DRF,
// budgets by (15) and (16), [Dorm §IV].

package alloc

import (
	"maps"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/check"
)

// ceilTolerance is how far above an integer a product theta * n may lie and still count as that
// integer under a ceiling: 0.1 * 2 * 3 is 0.6000000000000001 in float64.
const ceilTolerance = 1e-9

// Instance validates p and returns the P2 that a solver sees. apps[i] is the position in
// p.Applications of the instance's application i. Left out are newcomers that no decision can ever
// serve on these servers, even empty ones: Reallocate reports them as waiting, with that reason.
// The instance may have no application left.
//
// Cost: O(servers x applications x kinds), to tell what fits.
func (p *Problem) Instance() (inst *solver.Instance, apps []int, err error) {
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	r := resolve(p)
	apps = r.servable()
	return r.instance(apps), apps, nil
}

// resolved is a valid problem with its names looked up. The fields by application have one entry
// for each of problem.Applications.
type resolved struct {
	problem   *Problem
	capacity  []apportion.Resources
	total     apportion.Resources
	room      []int64                 // how many containers of the application fit the empty cluster
	previous  [][]apportion.Placement // where its containers are, on servers that exist
	displaced []bool                  // some of its containers are on a server that does not
}

func resolve(p *Problem) *resolved {
	r := &resolved{
		problem:   p,
		capacity:  make([]apportion.Resources, len(p.Servers)),
		room:      make([]int64, len(p.Applications)),
		previous:  make([][]apportion.Placement, len(p.Applications)),
		displaced: make([]bool, len(p.Applications)),
	}
	for j := range p.Servers {
		r.capacity[j] = p.Servers[j].Capacity
	}
	r.total, _ = check.Total(p.Servers, len(p.Kinds)) // Validate has seen that it fits int64
	index := serverIndex(p.Servers)
	for i := range p.Applications {
		app := &p.Applications[i]
		for _, capacity := range r.capacity {
			r.room[i] += app.Demand.CountIn(capacity)
		}
		r.previous[i], r.displaced[i] = placements(p.Previous[app.ID], index)
	}
	return r
}

// placements turns one application's entry of an Allocation into its dense form; displaced says
// that some containers are on servers that index does not know.
func placements(places map[string]int64, index map[string]int) (placed []apportion.Placement, displaced bool) {
	for server, count := range places {
		j, known := index[server]
		switch {
		case count == 0:
		case !known:
			displaced = true
		default:
			placed = append(placed, apportion.Placement{Server: j, Count: count})
		}
	}
	slices.SortFunc(placed, func(a, b apportion.Placement) int { return a.Server - b.Server })
	return placed, displaced
}

// running says whether application i is in A^t-1.
func (r *resolved) running(i int) bool { return len(r.previous[i]) > 0 || r.displaced[i] }

// servable lists the applications that P2 is about: those that run, and the newcomers whose
// minimum, and at least one container, fits the empty cluster.
func (r *resolved) servable() []int {
	var apps []int
	for i := range r.problem.Applications {
		if r.running(i) || r.room[i] >= max(1, r.problem.Applications[i].Min) {
			apps = append(apps, i)
		}
	}
	return apps
}

// instance builds P2 for the given applications.
func (r *resolved) instance(apps []int) *solver.Instance {
	inst := &solver.Instance{Capacity: r.capacity, Total: r.total, Apps: make([]solver.App, len(apps))}
	shares := r.shares(apps)
	running := 0
	for a, i := range apps {
		inst.Apps[a] = r.app(i)
		inst.Apps[a].Share = shares[a]
		if r.running(i) {
			running++
		}
	}
	inst.LossBudget = r.lossBudget()
	inst.AdjustBudget = r.adjustBudget(running)
	return inst
}

func (r *resolved) app(i int) solver.App {
	app := &r.problem.Applications[i]
	// More than fits the empty cluster is never reached, and a minimum above it never met: cutting
	// there keeps products of counts and demands small.
	least := app.Min
	if least > r.room[i] {
		least = r.room[i] + 1
	}
	most := min(app.Max, max(1, least, r.room[i], solver.Containers(r.previous[i])))
	return solver.App{
		Demand:    app.Demand,
		Min:       least,
		Max:       most,
		Value:     r.value(app.Demand),
		Delta:     r.delta(app.Demand),
		Running:   r.running(i),
		Displaced: r.displaced[i],
		Previous:  r.previous[i],
	}
}

// value returns v = sum_k d_k / C_k, what one container adds to (10).
func (r *resolved) value(demand apportion.Resources) float64 {
	var value float64
	for k, d := range demand {
		if r.total[k] > 0 {
			value += float64(d) / float64(r.total[k])
		}
	}
	return value
}

// delta returns max_k d_k / C_k, the dominant share of one container (2).
func (r *resolved) delta(demand apportion.Resources) float64 {
	share, _ := demand.DominantShare(r.total)
	return share
}

// shares returns the theoretical dominant share s^ of each of apps, by DRF on the pooled cluster.
func (r *resolved) shares(apps []int) []float64 {
	claims := make([]drf.Claim, len(apps))
	for a, i := range apps {
		app := &r.problem.Applications[i]
		claims[a] = drf.Claim{ID: app.ID, Demand: app.Demand, Weight: app.Weight, Min: app.Min, Max: app.Max}
		if r.problem.Options.Share == PureDRF {
			claims[a].Min, claims[a].Max = 0, drf.NoMax
		}
	}
	shares := make([]float64, len(apps))
	if r.problem.Options.Share == WholeDRF {
		filling := must(drf.FillWhole(r.total, claims, nil))
		for a := range shares {
			shares[a] = filling.Claims[a].Share
		}
		return shares
	}
	filling := must(drf.Fill(r.total, claims))
	for a := range shares {
		shares[a] = filling.Claims[a].Share
	}
	return shares
}

// must returns the filling of claims that Validate has found right; an error is a bug of ours.
func must[T any](filling T, err error) T {
	if err != nil {
		panic("alloc: a valid problem gave drf a bad claim: " + err.Error())
	}
	return filling
}

// lossBudget returns the right side of (15): Theta1 times 2m, the largest possible loss, where m
// counts the kinds that the cluster has any of.
func (r *resolved) lossBudget() float64 {
	m := 0
	for _, c := range r.total {
		if c > 0 {
			m++
		}
	}
	budget := r.problem.Theta1 * float64(2*m) // (15)
	if r.problem.Options.NoCeil15 {
		return budget
	}
	return math.Max(0, math.Ceil(budget-ceilTolerance)) // not -0
}

// adjustBudget returns the right side of (16). Without the ceiling it is rounded down, which
// changes nothing for a sum of zeros and ones.
func (r *resolved) adjustBudget(running int) int64 {
	budget := r.problem.Theta2 * float64(running) // (16)
	if r.problem.Options.NoCeil16 {
		return int64(math.Floor(budget + ceilTolerance))
	}
	return int64(math.Ceil(budget - ceilTolerance))
}

// allocation turns counts over apps back into names.
func (r *resolved) allocation(apps []int, counts solver.Counts) Allocation {
	allocation := make(Allocation, len(apps))
	for a, i := range apps {
		if len(counts[a]) == 0 {
			continue
		}
		places := make(map[string]int64, len(counts[a]))
		for _, placed := range counts[a] {
			places[r.problem.Servers[placed.Server].ID] = placed.Count
		}
		allocation[r.problem.Applications[i].ID] = places
	}
	return allocation
}

// counts is the inverse of allocation over all applications; an error names what does not exist.
func (r *resolved) counts(allocation Allocation) (solver.Counts, error) {
	var faults apportion.Faults
	index := serverIndex(r.problem.Servers)
	applications := appIndex(r.problem.Applications)
	counts := make(solver.Counts, len(r.problem.Applications))
	for _, id := range slices.Sorted(maps.Keys(allocation)) {
		item := check.Item("application", id, 0)
		i, known := applications[id]
		if !known {
			faults.Add(item, "Allocation", apportion.ErrUnknown, "")
			continue
		}
		for _, server := range slices.Sorted(maps.Keys(allocation[id])) {
			if _, known := index[server]; !known {
				faults.Add(item, "Allocation["+server+"]", apportion.ErrUnknown, "")
			} else if allocation[id][server] < 0 {
				faults.Add(item, "Allocation["+server+"]", apportion.ErrNegative, "")
			}
		}
		counts[i], _ = placements(allocation[id], index)
	}
	return counts, faults.Err()
}
