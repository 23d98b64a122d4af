// This file answers "why did I get 3 and not 4?": the constraint that stopped each application,
// its price, and what one more unit of everything scarce is worth.

package alloc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/apportion/apportion"
)

// Explanation explains a Decision. Prices are in utilization (10), those of the multipliers for
// solver.DualBound: they are the slopes of that bound, so that with a little more of something no
// allocation can be worth more than the bound and its price, and 0 where no application could use more of anything. One unit may be more than a little where
// it makes room for a whole container more on a server, or frees one more application: what is
// certain is solver.DualBound of the larger problem at the same multipliers. Where the solver gave none
// the prices are 0.
type Explanation struct {
	// Applications has one entry for every application of the problem, in its order.
	Applications []Stop `json:"applications"`
	// Worth says that gains and prices are in units of worth, as applications state them, and not in utilization.
	Worth bool `json:"worth,omitempty"`
	// Kinds has one entry for each kind.
	Kinds []KindValue `json:"kinds"`
	// Fairness is the value of one more unit (a whole share) of the fairness budget (15).
	Fairness float64 `json:"fairness"`
	// Adjustment is the value of one more application that may be adjusted (16).
	Adjustment float64 `json:"adjustment"`
	// Order says what the order of asking costs at most, and whose place is worth most to others; empty: nothing is known of that.
	Order string `json:"order,omitempty"`
	// Domains says to which domains P2 was held, and of which applications these are certified to be the fewest; empty: to none.
	Domains string `json:"domains,omitempty"`
	// Warnings say which budgets cannot bind, whatever is decided, or are much larger than Theta1 says.
	Warnings []string `json:"warnings,omitempty"`
}

// Stop says what kept one application from one more container, or, where numbers come in steps, from its next number: the Reason, whose Constraint is Maximum
// or one of those of package solver, empty where nothing stands in the way.
type Stop struct {
	ID string `json:"id"`
	// Option is the ID of the option that the rest is about: the one in use, or that it would have; empty: no options.
	Option string `json:"option,omitempty"`
	// Containers, Min and Max repeat the decision and the problem.
	Containers int64 `json:"containers"`
	Min        int64 `json:"min"`
	Max        int64 `json:"max"`
	// Reason is what stands in the way, in JSON with its fields beside the others.
	apportion.Reason
	// Gain is what one more container would add to the objective, or, of one that states worths, its next number of
	// them, less what a restart costs it if it stays; Last, of one that states worths, is what the last step to the
	// number that it has has added. Price is what one more would take from
	// the others: on the server where its resources are cheapest for solver.Capacity, in fairness or
	// adjustment budget otherwise. A Price above Gain means that the others make more of it.
	Gain  float64 `json:"gain"`
	Last  float64 `json:"last,omitzero"`
	Price float64 `json:"price"`
	// Spread says what the servers that it is on beyond the fewest take from the objective, and which application would have to move to end
	// that; empty: nothing.
	Spread string `json:"spread,omitempty"`
}

// KindValue is what one more unit of a kind is worth, in the objective's unit. The values are prices of the bound, see
// Explanation, and all 0 where the solver gave none.
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

// Explain explains d, which must be what Reallocate answered to p. The error is what p.Validate finds,
// or ErrMismatch with every field of d that is not an answer to p; so a decision that was read from a file, or changed on
// its way, is safe to pass. p must be as it was when d was taken: with the Previous of then, not with what d has made of it.
// O(servers x applications x kinds).
func Explain(p *Problem, d *Decision) (*Explanation, error) {
	// The certificate is a claim like any other: prices that do not fit the problem are refused
	// before one is read.
	r, a, _, err := rebuild(p, d, RecordVersion)
	if err != nil {
		return nil, err
	}
	// The same stopper gives the reasons of a decision, so that both say the same about who waits.
	s := newStopper(r, a)
	stops := r.stops(s, a, d)
	if isFull(stops, d) {
		s.multipliers = nil
	}
	return &Explanation{
		Applications: stops,
		Worth:        p.worthy(),
		Kinds:        kindValues(s),
		Fairness:     s.lossPrice(),
		Adjustment:   s.adjustPrice(),
		Order:        r.orderText(s, a, d),
		Domains:      r.domainsText(a, r.scatter(a.apps, a.solution.Counts)),
		Warnings:     append(s.warnings(r), s.tornWarnings(r)...),
	}, nil
}

// stops explains every application, in the order of the problem; a is the P2 behind d, and s answers for it.
func (r *resolved) stops(s *stopper, a *attempt, d *Decision) []Stop {
	p, counts := r.problem, r.scatter(a.apps, s.counts)
	// Two indices make the loop below linear: who waits by name, and where an application stands in
	// P2.
	waits := make(map[string]*Waiting, len(d.Waiting))
	for _, list := range [...][]Waiting{d.Waiting, d.Suspended} {
		for w := range list {
			waits[list[w].ID] = &list[w]
		}
	}
	position := make(map[int]int, len(a.apps))
	for at, i := range a.apps {
		position[i] = at
	}
	all := make([]Stop, len(r.entries))
	for o := range all {
		// Of an application with options the one in use is explained, or the one that it would have.
		i := r.inUse(o, counts)
		app := &p.Applications[i]
		stop := Stop{ID: app.ID, Option: r.usedOption(i), Containers: d.Shares[o].Containers, Min: app.Min, Max: app.Max}
		at, asked := position[i]
		switch w := waits[app.ID]; {
		// P2 did not ask about it, or has no answer: the reason that the decision gave is all there
		// is.
		case w != nil && (!asked || d.Status == Kept):
			stop.Reason = w.Reason
		// What was kept was not chosen, so that no constraint can be said to have stopped it.
		case d.Status == Kept:
			stop.Text = "kept as it was"
		default:
			stop.Gain, stop.Last = s.gain(at, app)
			stop.Reason, stop.Price = s.next(at, app)
			stop.Spread = s.spreadText(at)
		}
		all[o] = stop
	}
	return all
}

// isFull reports whether no application could use more of anything: each has all that it asks for or that is worth something, on the
// fewest servers, and none was restarted for that. What the bound would rise by nobody would gain then.
func isFull(stops []Stop, d *Decision) bool {
	return d.Metrics.Adjusted == d.Metrics.Forced && !slices.ContainsFunc(stops, func(s Stop) bool {
		return s.Constraint != Maximum && s.Constraint != Worthless || s.Spread != ""
	})
}

// kindValues returns what is left of every kind and what more of it is worth. Unused counts cordoned servers as the
// decision does, with nothing free. O(servers x kinds).
func kindValues(s *stopper) []KindValue {
	p := s.problem
	values := make([]KindValue, s.kinds())
	for k := range values {
		// Where every price is 0 the first server stands for all, so that Server names one that exists
		// if there is any.
		values[k] = KindValue{Kind: p.Kinds[k]}
		if len(p.Servers) > 0 {
			values[k].Server = p.Servers[0].ID
		}
		for j := range s.left {
			// A server that shrank below what runs on it has less than nothing left, and counts as
			// that.
			values[k].Unused += s.left[j][k]
			if s.held != nil && s.held[j] != nil {
				values[k].Unused += s.held[j][k]
			}
			price := s.price(j, k)
			values[k].Mean += price / float64(len(s.left))
			if price > values[k].Highest {
				values[k].Highest, values[k].Server = price, p.Servers[j].ID
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
		if s.Spread != "" {
			fmt.Fprintf(w, "\t\t\t\t%s\n", s.Spread)
		}
	}
	for _, v := range e.Kinds {
		fmt.Fprintf(w, "%s\t%d unused\tone more: %.4g\tmean %.4g\tworth most on %s\n", v.Kind, v.Unused, v.Highest, v.Mean, v.Server)
	}
	fmt.Fprintf(w, "fairness budget\t\tone more: %.4g\n", e.Fairness)
	fmt.Fprintf(w, "adjustment budget\t\tone more: %.4g\n", e.Adjustment)
	w.Flush() // a strings.Builder takes everything
	if e.Worth {
		text.WriteString(e.gains())
	}
	if e.Order != "" {
		text.WriteString(e.Order + "\n")
	}
	if e.Domains != "" {
		text.WriteString(e.Domains + "\n")
	}
	for _, warning := range e.Warnings {
		text.WriteString("warning: " + warning + "\n")
	}
	return text.String()
}

// gains returns the sentence that compares what more containers would bring, the most first; those at their maximum have
// nothing to compare.
// It is written where worths are stated, since only these say what a container is worth to its owner.
func (e *Explanation) gains() string {
	stops := slices.Clone(e.Applications)
	slices.SortStableFunc(stops, func(a, b Stop) int { return cmp.Compare(b.Gain, a.Gain) })
	var parts []string
	for _, s := range stops {
		if s.Constraint != Maximum {
			parts = append(parts, fmt.Sprintf("of %s %.4g", s.ID, s.Gain))
		}
	}
	if len(parts) == 0 {
		return "all have their maximum\n"
	}
	return "more containers would bring: " + strings.Join(parts, ", ") + "\n"
}
