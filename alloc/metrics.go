// This file measures any allocation by equations (1)-(4), [Dorm §IV-A].

package alloc

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// Measure returns utilization, fairness loss and adjustments of allocation as an answer to p,
// whoever made it; it need not be a solution of P2. Theoretical shares are those among the applications that
// hold containers or are content with none; with Rule.Paper among all that can be served at all, those
// that wait included. LossBudget is what Theta1 gives. Applications with options use those in shares, as a Decision has
// them; without shares those that they run with, or the first ones.
//
// Errors: what Validate finds in p; apportion.ErrUnknown, ErrNegative and ErrOverflow for an
// allocation that names what is not there, or holds what no cluster can. An allocation that overfills a server is
// measured like any other. O(applications x servers x kinds), as resolving p is.
func Measure(p *Problem, allocation Allocation, shares ...Share) (Metrics, error) {
	if err := p.Validate(); err != nil {
		return Metrics{}, err
	}
	r := resolve(p)
	counts, err := r.counts(allocation, shares)
	if err != nil {
		return Metrics{}, err
	}
	sharing := r.sharing(counts)
	m, err := r.measure(r.instanceOfAll(sharing), counts)
	m.WaitingLoss = r.waitingLoss(sharing, counts)
	return m, err
}

// measure computes the metrics of counts, one entry for each application of inst, which is an instance of all. The error is
// apportion.ErrOverflow where containers times demand leave int64.
func (r *resolved) measure(inst *solver.Instance, counts solver.Counts) (Metrics, error) {
	used := make(apportion.Resources, len(r.total))
	// The sum is exact: containers times demand in int64, divided by the total only at the end.
	for a := range counts {
		if err := exact.AddTimesTo(used, used, solver.Containers(counts[a]), inst.Apps[a].Demand); err != nil {
			return Metrics{}, err
		}
	}
	m := Metrics{
		Utilization:  make([]float64, r.ownKinds()),
		FairnessLoss: inst.FairnessLoss(counts),
		Adjusted:     int(inst.AdjustedApps(counts)),
		AdjustCost:   inst.AdjustCost(counts),
		LossBudget:   inst.LossBudget,
		AdjustBudget: inst.AdjustBudget,
	}
	// What is forced and how far applications are spread is no part of (1)-(4), and says who did what.
	fewest := serversNeeded{r: r.anywhere(), known: make(map[string][]int64)}
	for i := range counts {
		if r.forced[i] && inst.Apps[i].Adjusted(counts[i]) {
			m.Forced++
			if r.overCeiling[i] {
				m.ForcedByCeiling++
			}
		}
		m.ExtraServers += fewest.beyond(i, counts[i])
	}
	m.ExtraDomains = r.anywhere().extraDomains(counts)
	for k, q := range used[:r.ownKinds()] {
		// A kind of which there is none is used to no part, not to 0/0.
		if r.total[k] > 0 {
			m.Utilization[k] = float64(q) / float64(r.total[k])
		}
		m.ResourceUtilization += m.Utilization[k] // (1)
	}
	return m, nil
}

// serversNeeded knows how many containers the servers hold of every sort of application, the largest server
// first: applications are many, and sorts few.
// It belongs to one measurement, whose servers do not change.
type serversNeeded struct {
	r     *resolved
	known map[string][]int64
	key   []byte
}

// beyond returns on how many more servers application i is than the fewest empty ones that would hold its
// containers.
func (s *serversNeeded) beyond(i int, placed []apportion.Placement) int64 {
	if len(placed) < 2 {
		return 0
	}
	// The largest servers first: no choice of servers needs fewer.
	fewest, need := int64(0), solver.Containers(placed)
	for _, n := range s.holds(i) {
		if need <= 0 {
			break
		}
		need -= n
		fewest++
	}
	return max(0, int64(len(placed))-fewest)
}

// holds lists how many containers of application i each server holds when it is empty, in descending order. What it depends
// on is the key: demand, limit by server and the classes that are open.
func (s *serversNeeded) holds(i int) []int64 {
	// The key is built in one buffer, since this is asked for every application that is on two servers or more.
	app := &s.r.problem.Applications[i]
	s.key = binary.LittleEndian.AppendUint64(s.key[:0], uint64(app.PerServer))
	for _, class := range s.r.open.open[i] {
		s.key = binary.LittleEndian.AppendUint64(s.key, uint64(class))
	}
	if s.r.open.open[i] == nil {
		s.key = append(s.key, '*') // every class, and not none
	}
	for _, d := range app.Demand {
		s.key = binary.LittleEndian.AppendUint64(s.key, uint64(d))
	}
	holds, known := s.known[string(s.key)]
	if !known {
		for j := range s.r.capacity {
			if n := s.r.most(i, j, s.r.problem.Servers[j].Capacity); n > 0 {
				holds = append(holds, n)
			}
		}
		slices.SortFunc(holds, func(a, b int64) int { return cmp.Compare(b, a) })
		s.known[string(s.key)] = holds
	}
	return holds
}
