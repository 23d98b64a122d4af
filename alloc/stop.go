// This file finds what stops an application from one more container: the first of its maximum (7),
// the servers' room (6), the adjustment budget (16) and the fairness budget (15), and its price.

package alloc

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// The constraints that stand in a Stop beside those of package solver: the maximum (7), and that the objective (10)
// would be less, by worths or by what a restart costs; and one of a Waiting: no domain has room for what must be within one.
const (
	Domain    solver.Constraint = "domain"
	Guarantee solver.Constraint = "guarantee of another"
	Maximum   solver.Constraint = "maximum containers (7)"
	Worthless solver.Constraint = "worth (10)"
	Restart   solver.Constraint = "price of a restart"
)

// stopper holds what the reasons of all applications share: an allocation as an answer to one P2. It is filled once in
// O(servers x kinds), and then asked about each application.
type stopper struct {
	r           *resolved
	apps        []int // by position in the instance: the entry
	view        *view // nil before anybody has asked
	problem     *Problem
	instance    *solver.Instance
	counts      solver.Counts
	multipliers *solver.Multipliers   // nil where the solver has given none: every price is 0
	left        []apportion.Resources // what is left of every server
	loss        float64
	adjusted    int64 // the left side of (16)
	// held is what is kept free of every server, and holders says for whom; nil where nothing is reserved.
	held    []apportion.Resources
	holders []Reservation
	shapes  []shape
	shapeOf []int // by server
}

// newStopper prepares the reasons under the counts of an attempt, which fit the servers or are what ran before. There may be no
// multipliers; if there are, they have the shape of the instance, as Certificate.Check has seen.
func newStopper(r *resolved, a *attempt) *stopper {
	inst, counts := a.instance, a.solution.Counts
	s := &stopper{r: r, apps: a.apps, problem: r.problem, instance: inst, counts: counts, multipliers: a.solution.Multipliers}
	if s.held = r.held; s.held != nil {
		for _, v := range r.reserved {
			s.holders = append(s.holders, r.reservation(v))
		}
	}
	s.loss = inst.FairnessLoss(counts)
	s.adjusted = inst.AdjustCost(counts)
	// left may be negative where what was kept stands on a server that shrank.
	used, _ := inst.Used(counts) // within capacity, or within int64 as Validate has seen
	s.left = make([]apportion.Resources, len(used))
	for j, capacity := range inst.Capacity {
		s.left[j] = make(apportion.Resources, len(capacity))
		for k, c := range capacity {
			s.left[j][k] = c - used[j][k]
		}
	}
	s.shapes, s.shapeOf = shapesOf(len(s.left), s.likeness)
	return s
}

// servers returns the servers under the counts. It is asked for seldom, and made once.
func (s *stopper) servers() *view {
	if s.view == nil {
		s.view = s.r.newView(s.apps, s.r.scatter(s.apps, s.counts))
	}
	return s.view
}

// likeness appends what tells server j from others, whichever application asks that has nothing there.
func (s *stopper) likeness(to []byte, j int) []byte {
	if s.instance.Class != nil {
		to = binary.AppendUvarint(to, uint64(s.instance.Class[j]))
	}
	to = appendVector(appendVector(to, s.instance.Capacity[j]), s.left[j])
	for k := range s.left[j] {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(s.price(j, k)))
	}
	return to
}

// alike returns the servers as application a sees them: those that it is on by themselves, the others by their shapes.
func (s *stopper) alike(a int) []shape {
	on := make([]shape, 0, len(s.counts[a])+len(s.shapes))
	has := make(map[int]int64, len(s.counts[a]))
	for _, p := range s.counts[a] {
		on = append(on, shape{p.Server, 1})
		has[s.shapeOf[p.Server]]++
	}
	for at, group := range s.shapes {
		if group.count -= has[at]; group.count == 0 {
			continue
		}
		// The first of a shape may be one that it is on.
		for slices.ContainsFunc(s.counts[a], func(p apportion.Placement) bool { return p.Server == group.server }) {
			group.server = group.server + 1 + slices.Index(s.shapeOf[group.server+1:], at)
		}
		on = append(on, group)
	}
	return on
}

// next returns what stands between application a of the instance, which app is in the problem, and
// one more container, with the price of that. A Reason without Constraint: nothing does.
func (s *stopper) next(a int, app *Application) (apportion.Reason, float64) {
	// The order of the cases is the order in which a person would ask: is more wanted, is there
	// room, may it move, is it fair. The first obstacle is named, and those behind it may stand as
	// well.
	dense, n := &s.instance.Apps[a], solver.Containers(s.counts[a])
	// The dense bounds are cut to what there is room for; why there is no more room is the question here.
	wide := *dense
	wide.Min, wide.Max = app.Min, app.Max
	next := wide.AtLeast(n + 1)
	// 1. Is more wanted at all?
	if next < 0 {
		return apportion.Reason{Constraint: Maximum, Need: float64(n + 1), Have: float64(n),
			Text: fmt.Sprintf("it has its maximum of %d", n)}, 0
	}
	gain, _ := s.gain(a, app)
	if app.Worth != nil && gain <= 0 {
		text := fmt.Sprintf("with %d it would be worth %.4g less", next, -gain)
		if gain == 0 {
			text = fmt.Sprintf("with %d it would be worth no more", next)
		}
		return apportion.Reason{Constraint: Worthless, Have: gain, Text: text}, 0
	}
	// 2. Where could it be, and what stands in the way there? What is nowhere possible is named before what is too dear.
	room := s.room(a)
	// change is negative below the share, where one more container makes the allocation fairer.
	change := dense.Loss(next) - dense.Loss(n)
	switch {
	case next-n > room.most && s.hasHeld(a, next-n):
		return s.withBlockers(a, next-n, reservedReason(s.holders, next-n)), 0
	case room.could == 0:
		return s.withBlockers(a, next-n, apportion.Reason{Constraint: solver.Capacity, Text: "no server can hold one container of it"}), 0
	case room.blocked == room.could:
		return s.withBlockers(a, next-n, s.noRoom(room, app.Demand)), s.cheapest(a)
	case s.ceiling(a, next-n).Constraint != "":
		return s.ceiling(a, next-n), 0
	case s.r.restraint != nil && s.r.restraint[s.apps[a]] > 0 && next > s.r.restraint[s.apps[a]]:
		return s.servers().draft.restrained(s.apps[a]), 0
	case dense.Pinned && app.Slices != nil && len(s.holders) == 0:
		return apportion.Reason{Constraint: Domain, Text: "there is room, but what has slices stays as it is"}, 0
	case dense.Pinned && !app.Pinned && app.Held != nil && *app.Held < s.problem.Options.MinRun:
		return apportion.Reason{Constraint: solver.Adjust, Need: s.problem.Options.MinRun, Have: *app.Held,
			Blockers: []apportion.Blocker{{Cause: ByMinRun, Applications: []string{app.ID}, Setting: "options.min_run"}},
			Text:     fmt.Sprintf("there is room, but it has had what it has for %.4g of %.4g", *app.Held, s.problem.Options.MinRun)}, 0
	case dense.Pinned && !app.Pinned:
		return apportion.Reason{Constraint: solver.Adjust, Applications: s.waiting(), Blockers: []apportion.Blocker{{Cause: ByReservation, Applications: s.waiting()}}, Text: "there is room, but " + listIDs(s.waiting()) + " waits for its end"}, 0
	case dense.Pinned:
		return apportion.Reason{Constraint: solver.Adjust, Blockers: []apportion.Blocker{{Cause: ByPin, Applications: []string{app.ID}, Setting: "applications.pinned"}},
			Text: "there is room, but it is pinned"}, 0
	case dense.Stay > 0 && app.StayWorth == nil && !dense.Adjusted(s.counts[a]) && gain <= 0:
		price := restartOf(app, dense)
		return apportion.Reason{Constraint: Restart, Need: price, Have: gain + price,
			Text: fmt.Sprintf("there is room, but its restart costs %.4g, and %d more would bring %.4g", price, next-n, gain+price)}, 0
	case dense.Running && !dense.Adjusted(s.counts[a]) && dense.CostOf(next) > s.instance.AdjustBudget-s.adjusted:
		budget := apportion.Blocker{Cause: ByBudget, Need: s.adjusted + dense.Cost, Free: s.instance.AdjustBudget - s.adjusted, Limit: s.instance.AdjustBudget, Setting: "theta2"}
		return apportion.Reason{Constraint: solver.Adjust, Need: float64(s.adjusted + dense.Cost), Have: float64(s.instance.AdjustBudget), Blockers: []apportion.Blocker{budget},
			Text: fmt.Sprintf("there is room, but it may not be adjusted: the budget is %d, used %d", s.instance.AdjustBudget, s.adjusted)}, s.adjustPrice()
	case s.loss+change > s.instance.LossBudget+solver.LossTolerance:
		return apportion.Reason{Constraint: solver.Fairness, Need: s.loss + change, Have: s.instance.LossBudget, Blockers: []apportion.Blocker{{Cause: ByFairness, Setting: "theta1"}},
			Text: fmt.Sprintf("there is room, but the fairness loss would be %.4g of %.4g", s.loss+change, s.instance.LossBudget)}, s.lossPrice() * change
	case next-n > room.most:
		return s.withBlockers(a, next-n, apportion.Reason{Constraint: solver.Capacity, Need: float64(next - n), Have: float64(room.most),
			Text: fmt.Sprintf("it may have %d next, %d more, and %d have room", next, next-n, room.most)}), s.cheapest(a)
	case s.tearing(a, next, gain).Constraint != "":
		return s.tearing(a, next, gain), 0
	}
	return apportion.Reason{Text: "one more would fit; the search ended before it was given"}, 0
}

// withBlockers adds to a reason what keeps n more containers of application a of the instance off the servers.
func (s *stopper) withBlockers(a int, n int64, reason apportion.Reason) apportion.Reason {
	t := s.servers().tallyOf(s.apps[a], s.counts[a], n)
	reason.Asked, reason.Fits, reason.Blockers = n, t.fits, t.blockers
	reason.Text = sentences(append([]string{reason.Text}, s.r.serversText(t.blockers, true)...)...)
	return reason
}

// ceiling says which ceiling lacks for n more containers of application a; the reason has no Constraint if none does.
func (s *stopper) ceiling(a int, n int64) apportion.Reason {
	// Containers count wherever they are: a ceiling knows no servers.
	has := make([]int64, len(s.counts))
	for i := range has {
		has[i] = solver.Containers(s.counts[i])
	}
	if len(s.instance.Groups) == 0 || s.instance.Room(a, has) >= n {
		return apportion.Reason{}
	}
	// Groups of the instance are the queues with a ceiling, in the same order, so that position g is queue q.
	demand := s.instance.Apps[a].Demand
	for g, q := range s.problem.limitedQueues() {
		group := &s.instance.Groups[g]
		if !slices.Contains(group.Apps, a) {
			continue
		}
		// The first kind that is short is named; the ceilings come with the lowest first.
		for k, limit := range group.Ceiling {
			left := limit
			for _, i := range group.Apps {
				left -= has[i] * s.instance.Apps[i].Demand[k] // what is used fits the cluster
			}
			if demand[k] > 0 && limit < solver.NoLimit && max(0, left)/demand[k] < n {
				return ceilingText(&s.problem.Queues[q], s.problem.Kinds.Name(k), n*demand[k], limit, max(0, left))
			}
		}
	}
	return apportion.Reason{}
}

// room is where a container of one application could be, among the servers that it may be placed on.
type room struct {
	could   int   // servers open to it that would hold it if they were empty
	blocked int   // of these, servers where it does not fit now
	most    int64 // how many fit on the others, together
	kind    int   // the kind that is short on most of them
	short   int   // servers on which that kind is short
	left    int64 // the most of that kind that one of these has left
}

// room looks for room for a container of application a. Of several kinds that are short on as many servers, kind is
// the one whose part of the demand costs most there, then the first.
func (s *stopper) room(a int) room {
	var r room
	app := &s.instance.Apps[a]
	demand := app.Demand
	misses, costs, most := make([]int, len(demand)), make([]float64, len(demand)), make([]int64, len(demand))
	var others []rooms // how many fit on servers that it is not on
	// O(unlike servers x kinds): misses counts servers short of a kind, costs sums what the demand would
	// cost there.
	for _, on := range s.alike(a) {
		j, left := on.server, s.left[on.server]
		if !s.instance.Open(a, j) || !demand.FitsIn(s.instance.Capacity[j]) {
			continue
		}
		r.could += int(on.count)
		fit := s.more(a, j)
		if fit == 0 {
			r.blocked += int(on.count)
		}
		if slices.ContainsFunc(s.counts[a], func(p apportion.Placement) bool { return p.Server == j }) {
			r.most += fit // at most what the servers have
		} else {
			others = append(others, rooms{fit, on.count})
		}
		for k, d := range demand {
			// A kind that is not demanded is never short, also where a server has less than nothing
			// left of it.
			if d > max(0, left[k]) {
				most[k] = max(most[k], left[k])
				misses[k] += int(on.count)
				costs[k] += float64(float64(on.count) * float64(d) * s.price(j, k))
			}
		}
	}
	// The kind to name is the one that stands in the way most often.
	for k := range misses[:s.kinds()] {
		// Both comparisons are strict, so that the first of equals stays, whatever the order of
		// evaluation.
		if misses[k] > misses[r.kind] || misses[k] == misses[r.kind] && costs[k] > costs[r.kind] {
			r.kind = k
		}
	}
	r.short, r.left = misses[r.kind], most[r.kind]
	// Where it is on as many servers as it may be, others hold none.
	r.most += largest(others, max(0, app.MaxServers-int64(len(s.counts[a]))))
	return r
}

// more returns how many more containers of application a server j, which is open to it, may take: what has room there, up
// to PerServer with those that are there, and 0 on one server more than MaxServers allows.
// O(kinds + servers that it is on).
func (s *stopper) more(a, j int) int64 {
	// left may be below nothing on a server that shrank, and CountIn is 0 there.
	app := &s.instance.Apps[a]
	n, here := app.Demand.CountIn(s.left[j]), int64(0)
	for _, p := range s.counts[a] {
		if p.Server == j {
			here = p.Count
		}
	}
	if app.PerServer > 0 {
		n = min(n, max(0, app.PerServer-here))
	}
	if app.MaxServers > 0 && here == 0 && int64(len(s.counts[a])) >= app.MaxServers {
		return 0
	}
	return n
}

// noRoom is the reason where every server that could hold a container is too full, or has as many as it may. Need is what
// one container takes of the kind that is short, Have the most of it that one of these servers has left.
func (s *stopper) noRoom(r room, demand apportion.Resources) apportion.Reason {
	if r.short == 0 {
		return apportion.Reason{Constraint: solver.Capacity, Text: "its servers have as many of its containers as they may"}
	}
	kind := s.problem.Kinds.Name(r.kind)
	return apportion.Reason{Constraint: solver.Capacity, Kind: kind, Need: float64(demand[r.kind]), Have: float64(r.left),
		Text: "no server has room"}
}

// gain returns what the next number of containers would bring to application a of the instance: beside that it would
// be adjusted, which ends its staying. last is what its last step up to what it has has brought. Both are 0 where
// there is no such number; of one that states no worth a container brings its Value.
func (s *stopper) gain(a int, app *Application) (gain, last float64) {
	dense, placed := &s.instance.Apps[a], s.counts[a]
	stay := 0.0
	if dense.Running && !dense.Adjusted(placed) {
		stay = restartOf(app, dense)
	}
	// Utilization is linear in the number of containers, so that there is nothing to say about the last one.
	if app.Worth == nil {
		return dense.Value - stay, 0
	}
	// By the numbers of the application itself, and not by those that there is room for: gain is a wish.
	whole, n := app.numbers(), solver.Containers(placed)
	if next := whole.AtLeast(n + 1); next > 0 {
		gain = whole.Extra(next) - whole.Extra(n) - stay
	}
	if n > 0 {
		// From a minimum above 0 there is no way down.
		if before := whole.AtMost(n - 1); before >= 0 {
			last = whole.Extra(n) - whole.Extra(before)
		}
	}
	return gain, last
}

// cheapest returns the price of a container of application a on the server, among those that could hold it, where
// it is least.
// 0 where no server could hold one.
func (s *stopper) cheapest(a int) float64 {
	demand := s.instance.Apps[a].Demand
	// Servers without room count as well: what is taken there is somebody else's, and has a price.
	best, found := 0.0, false
	for _, on := range s.shapes {
		j := on.server
		if !s.instance.Open(a, j) || !demand.FitsIn(s.instance.Capacity[j]) {
			continue
		}
		// The price is what the others would give for the room: on a server with slack its kinds
		// cost nothing.
		price := 0.0
		for k, d := range demand {
			price += float64(s.price(j, k) * float64(d))
		}
		if !found || price < best {
			best, found = price, true
		}
	}
	return best
}

// price returns the price of one unit of kind k on server j, in units of the objective; 0 without multipliers.
func (s *stopper) price(j, k int) float64 {
	if s.multipliers == nil {
		return 0
	}
	// What is derived from a kind has its price too, and is none that anybody has to give.
	if k >= s.kinds() {
		return 0
	}
	price := s.multipliers.Server[j][k]
	for d := range s.problem.Derived {
		price += float64(float64(s.problem.factor(d, k)) * s.multipliers.Server[j][s.kinds()+d])
	}
	return price
}

// kinds returns how many kinds there are that are not derived.
func (s *stopper) kinds() int { return len(s.problem.Kinds) - len(s.problem.Derived) }

// lossPrice returns the price of one unit of the fairness budget, a whole share where that is its unit; 0 without
// multipliers.
func (s *stopper) lossPrice() float64 {
	if s.multipliers == nil {
		return 0
	}
	return s.multipliers.Loss
}

// adjustPrice returns the price of one more adjusted application, or of one more unit of AdjustCost; 0 without multipliers.
func (s *stopper) adjustPrice() float64 {
	if s.multipliers == nil {
		return 0
	}
	return s.multipliers.Adjust
}
