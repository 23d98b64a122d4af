// This file answers "why did I get 3 and not 4?": the constraint that stopped each application,
// its price, and what one more unit of everything scarce is worth.

package alloc

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Explanation explains a Decision. Prices are in utilization (10), those of the multipliers for
// solver.DualBound: they are the slopes of that bound, so that with a little more of something no
// allocation can be worth more than the bound and its price. One unit may be more than a little where
// it makes room for a whole container more on a server, or frees one more application: what is
// certain is solver.DualBound of the larger problem at the same multipliers. Where the solver gave none
// the prices are 0.
type Explanation struct {
	// Applications has one entry for every application of the problem, in its order.
	Applications []Stop `json:"applications"`
	// Kinds has one entry for each kind.
	Kinds []KindValue `json:"kinds"`
	// Fairness is the value of one more unit (a whole share) of the fairness budget (15).
	Fairness float64 `json:"fairness"`
	// Adjustment is the value of one more application that may be adjusted (16).
	Adjustment float64 `json:"adjustment"`
}

// Stop says what kept one application from one more container.
type Stop struct {
	ID string `json:"id"`
	// Containers, Min and Max repeat the decision and the problem.
	Containers int64 `json:"containers"`
	Min        int64 `json:"min"`
	Max        int64 `json:"max"`
	// Constraint is what stands in the way, empty where nothing does.
	Constraint solver.Constraint `json:"constraint,omitempty"`
	// Kind is the kind of resource that is short where Constraint is solver.Capacity.
	Kind string `json:"kind,omitempty"`
	// Gain is what one more container would add to the utilization; Price is what it would take from
	// the others: on the server where its resources are cheapest for solver.Capacity, in fairness or
	// adjustment budget otherwise. A Price above Gain means that the others make more of it.
	Gain  float64 `json:"gain"`
	Price float64 `json:"price"`
	// Text is the whole in one sentence.
	Text string `json:"text"`
}

// KindValue is what one more unit of a kind is worth.
type KindValue struct {
	Kind string `json:"kind"`
	// Unused is what the allocation leaves of it in the whole cluster.
	Unused int64 `json:"unused"`
	// Highest is the value of one more unit on the server Server, where it is worth most; Mean is
	// the mean over all servers.
	Highest float64 `json:"highest"`
	Server  string  `json:"server"`
	Mean    float64 `json:"mean"`
}

// Maximum names the constraint (7) in a Stop.
const Maximum solver.Constraint = "maximum containers (7)"

// Explain explains d, which must be what Reallocate answered to p.
func Explain(p *Problem, d *Decision) *Explanation {
	e := newExplainer(p, d)
	explanation := &Explanation{Kinds: e.kinds()}
	if m := e.multipliers; m != nil {
		explanation.Fairness, explanation.Adjustment = m.Loss, m.Adjust
	}
	waits := make(map[string]*Waiting, len(d.Waiting))
	for w := range d.Waiting {
		waits[d.Waiting[w].ID] = &d.Waiting[w]
	}
	position := make(map[int]int, len(d.attempt.apps))
	for a, i := range d.attempt.apps {
		position[i] = a
	}
	for i := range p.Applications {
		app := &p.Applications[i]
		stop := Stop{ID: app.ID, Containers: d.Shares[i].Containers, Min: app.Min, Max: app.Max}
		a, asked := position[i]
		switch w := waits[app.ID]; {
		case w != nil && (!asked || d.Status == Kept):
			stop.Constraint, stop.Kind, stop.Text = w.Reason.Constraint, w.Reason.Kind, w.Reason.Text
		case d.Status == Kept:
			stop.Text = "kept as it was"
		default:
			e.stop(&stop, a)
		}
		explanation.Applications = append(explanation.Applications, stop)
	}
	return explanation
}

// explainer holds what the explanations of all applications share.
type explainer struct {
	problem     *Problem
	instance    *solver.Instance
	counts      solver.Counts
	multipliers *solver.Multipliers
	left        []apportion.Resources // what is left of every server
	loss        float64
	adjusted    int64
}

func newExplainer(p *Problem, d *Decision) *explainer {
	e := &explainer{
		problem:     p,
		instance:    d.attempt.instance,
		counts:      d.attempt.solution.Counts,
		multipliers: d.attempt.solution.Multipliers,
	}
	e.loss = e.instance.FairnessLoss(e.counts)
	e.adjusted = e.instance.AdjustedApps(e.counts)
	used, _ := e.instance.Used(e.counts) // within capacity, or within int64 as Validate has seen
	e.left = make([]apportion.Resources, len(used))
	for j, capacity := range e.instance.Capacity {
		e.left[j] = make(apportion.Resources, len(capacity))
		for k, c := range capacity {
			e.left[j][k] = c - used[j][k]
		}
	}
	return e
}

// stop fills in what kept application a of the instance from one more container.
func (e *explainer) stop(s *Stop, a int) {
	app := &e.instance.Apps[a]
	s.Gain = app.Value
	change := app.Loss(s.Containers+1) - app.Loss(s.Containers)
	short, blocked, could := e.short(app.Demand)
	switch {
	case s.Containers >= s.Max:
		s.Constraint = Maximum
		s.Text = fmt.Sprintf("it has its maximum of %d", s.Max)
	case blocked == could && could > 0:
		s.Constraint, s.Kind = solver.Capacity, e.problem.Kinds.Name(short)
		s.Price = e.cheapest(app.Demand)
		s.Text = fmt.Sprintf("no server has room: %s is short on %d of %d", s.Kind, e.shortOn(short, app.Demand), could)
	case could == 0:
		s.Constraint = solver.Capacity
		s.Text = "no server can hold one container"
	case app.Running && !app.Adjusted(e.counts[a]) && e.adjusted >= e.instance.AdjustBudget:
		s.Constraint, s.Price = solver.Adjust, e.price(func(m *solver.Multipliers) float64 { return m.Adjust })
		s.Text = fmt.Sprintf("there is room, but it may not be adjusted: the budget is %d, used %d", e.instance.AdjustBudget, e.adjusted)
	case e.loss+change > e.instance.LossBudget+solver.LossTolerance:
		s.Constraint, s.Price = solver.Fairness, e.price(func(m *solver.Multipliers) float64 { return m.Loss * change })
		s.Text = fmt.Sprintf("there is room, but the fairness loss would be %.4g of %.4g", e.loss+change, e.instance.LossBudget)
	default:
		s.Text = "one more would fit; the search ended before it was given"
	}
}

// short returns the kind that is short on most of the servers that could hold a container of
// demand if they were empty (on a tie the one whose part of the demand costs most there, then the
// first), on how many of them there is no room, and how many they are.
func (e *explainer) short(demand apportion.Resources) (kind, blocked, could int) {
	misses, costs := make([]int, len(demand)), make([]float64, len(demand))
	for j, left := range e.left {
		if !demand.FitsIn(e.instance.Capacity[j]) {
			continue
		}
		could++
		if !demand.FitsIn(left) {
			blocked++
		}
		for k, d := range demand {
			if d > max(0, left[k]) {
				misses[k]++
				costs[k] += float64(d) * e.price(func(m *solver.Multipliers) float64 { return m.Server[j][k] })
			}
		}
	}
	for k := range misses {
		if misses[k] > misses[kind] || misses[k] == misses[kind] && costs[k] > costs[kind] {
			kind = k
		}
	}
	return kind, blocked, could
}

// shortOn returns on how many servers that could hold a container of demand kind k is short.
func (e *explainer) shortOn(k int, demand apportion.Resources) int {
	n := 0
	for j, left := range e.left {
		if demand.FitsIn(e.instance.Capacity[j]) && demand[k] > left[k] {
			n++
		}
	}
	return n
}

// cheapest returns the price of demand on the server, among those that could hold it, where it is
// least.
func (e *explainer) cheapest(demand apportion.Resources) float64 {
	if e.multipliers == nil {
		return 0
	}
	best, found := 0.0, false
	for j, prices := range e.multipliers.Server {
		if !demand.FitsIn(e.instance.Capacity[j]) {
			continue
		}
		price := 0.0
		for k, d := range demand {
			price += float64(prices[k] * float64(d))
		}
		if !found || price < best {
			best, found = price, true
		}
	}
	return best
}

func (e *explainer) price(of func(*solver.Multipliers) float64) float64 {
	if e.multipliers == nil {
		return 0
	}
	return of(e.multipliers)
}

func (e *explainer) kinds() []KindValue {
	values := make([]KindValue, len(e.problem.Kinds))
	for k := range values {
		values[k] = KindValue{Kind: e.problem.Kinds[k], Server: e.problem.Servers[0].ID}
		for j := range e.left {
			values[k].Unused += e.left[j][k]
			price := e.price(func(m *solver.Multipliers) float64 { return m.Server[j][k] })
			values[k].Mean += price / float64(len(e.left))
			if price > values[k].Highest {
				values[k].Highest, values[k].Server = price, e.problem.Servers[j].ID
			}
		}
	}
	return values
}

// String returns the explanation as an aligned table, a line for each application and kind.
func (e *Explanation) String() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, s := range e.Applications {
		fmt.Fprintf(w, "%s\t%d in [%d, %d]\tgain %.4g\tprice %.4g\t%s\n", s.ID, s.Containers, s.Min, s.Max, s.Gain, s.Price, s.Text)
	}
	for _, v := range e.Kinds {
		fmt.Fprintf(w, "%s\t%d unused\tone more: %.4g\tmean %.4g\tworth most on %s\n", v.Kind, v.Unused, v.Highest, v.Mean, v.Server)
	}
	fmt.Fprintf(w, "fairness budget\t\tone more: %.4g\n", e.Fairness)
	fmt.Fprintf(w, "adjustment budget\t\tone more: %.4g\n", e.Adjustment)
	w.Flush() // a strings.Builder takes everything
	return text.String()
}
