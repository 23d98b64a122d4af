// This file implements what a page takes from a decision: the parts of jobs and queues that it says, and what it changes.

package page

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// Decided sets what a decision says: Queues, and of each of the Jobs its Queue, Place, Demand, Share, Fair, and Why where the decision
// gives a reason. p and d may be nil: nothing was decided. O(jobs log jobs + queues x kinds).
func (s *State) Decided(p *alloc.Problem, d *alloc.Decision) {
	if p == nil || d == nil {
		return
	}
	apps, shares, why, places := map[string]*alloc.Application{}, map[string]*alloc.Share{}, Reasons(d), placesOf(p, d)
	for i := range p.Applications {
		apps[p.Applications[i].ID] = &p.Applications[i]
	}
	for i := range d.Shares {
		shares[d.Shares[i].ID] = &d.Shares[i]
	}
	for i := range s.Jobs {
		j := &s.Jobs[i]
		app, share := apps[j.ID], shares[j.ID]
		if app == nil {
			continue
		}
		j.Queue, j.Demand, j.Why = app.Queue, app.Demand, cmp.Or(why[j.ID], j.Why)
		// It may hold containers still, or have been begun since.
		if len(j.On) == 0 {
			j.Place = places[j.ID]
		}
		if share != nil {
			j.Demand, j.Share, j.Fair = demandOf(app, share.Option), share.Actual, share.Theoretical
		}
	}
	s.Queues = queuesOf(p, d)
}

// Reasons returns why applications have nothing by a decision, or stay on cordoned servers, by ID.
func Reasons(d *alloc.Decision) map[string]string {
	why := map[string]string{}
	for _, s := range d.Staying {
		why[s.ID] = s.Reason.Text
	}
	for _, w := range slices.Concat(d.Waiting, d.Suspended) {
		why[w.ID] = w.Reason.Text
	}
	return why
}

// placesOf are the places of applications that have nothing, among those of their queues: by priority, and then in the order of the
// problem.
func placesOf(p *alloc.Problem, d *alloc.Decision) map[string]int {
	var line []*alloc.Application
	for i := range p.Applications {
		if d.Allocation.Containers(p.Applications[i].ID) == 0 {
			line = append(line, &p.Applications[i])
		}
	}
	slices.SortStableFunc(line, func(a, b *alloc.Application) int { return cmp.Compare(b.Priority, a.Priority) })
	places, behind := map[string]int{}, map[string]int{}
	for _, app := range line {
		behind[app.Queue]++
		places[app.ID] = behind[app.Queue]
	}
	return places
}

// demandOf is what a container takes in an option; "": it has none, or has nothing.
func demandOf(app *alloc.Application, option string) apportion.Resources {
	for i := range app.Options {
		if app.Options[i].ID == option {
			return app.Options[i].Demand
		}
	}
	return app.Demand
}

// queuesOf are the queues with what they have. Of what a queue has not got of its guarantee as much is lent as is not free.
func queuesOf(p *alloc.Problem, d *alloc.Decision) []Queue {
	parents := map[string]string{}
	for i := range p.Queues {
		parents[p.Queues[i].ID] = p.Queues[i].Parent
	}
	free := unused(p, d)
	var list []Queue
	for i := range d.Queues {
		use := &d.Queues[i]
		q := Queue{ID: use.ID, Parent: parents[use.ID], Used: use.Used, Guarantee: use.Guarantee, Waiting: use.Waiting}
		for k, guarantee := range use.Guarantee {
			q.Borrowed = append(q.Borrowed, max(0, use.Used[k]-guarantee))
			// Kinds that are derived from others come last, and nobody counts what is free of them.
			missing := max(0, guarantee-use.Used[k])
			if k < len(free) {
				missing = max(0, missing-free[k])
			}
			q.Lent = append(q.Lent, missing)
		}
		list = append(list, q)
	}
	return list
}

// unused is what no application has of the cluster, a quantity a kind.
func unused(p *alloc.Problem, d *alloc.Decision) apportion.Resources {
	free := make(apportion.Resources, len(p.Kinds))
	for i := range p.Servers {
		for k := range min(len(free), len(p.Servers[i].Capacity)) {
			free[k] += p.Servers[i].Capacity[k]
		}
	}
	for i := range min(len(d.Shares), len(p.Applications)) {
		demand := demandOf(&p.Applications[i], d.Shares[i].Option)
		for k := range min(len(free), len(demand)) {
			free[k] -= d.Shares[i].Containers * demand[k]
		}
	}
	return free
}

// Decision is a decision on the page.
type Decision struct {
	// Number counts decisions from 1; it is set by the Board.
	Number int64 `json:"number"`
	// At is when it was taken, by the Clock, and Took how long that took, in seconds.
	At   float64 `json:"at"`
	Took float64 `json:"took"`
	// Status is the decision's, Objective its objective, and Gap how far that is from the bound at most; Gap -1: there is no bound.
	Status    string  `json:"status,omitempty"`
	Objective float64 `json:"objective"`
	Gap       float64 `json:"gap"`
	// Fault is why it could not be taken or carried out; empty: it was.
	Fault string `json:"fault,omitempty"`
	// Changes are the jobs that it changes, at most 50, and More how many there are beside.
	Changes []Change `json:"changes,omitempty"`
	More    int      `json:"more,omitzero"`
}

// mostChanges is how many changes of one decision a page names.
const mostChanges = 50

// Change is a job that is to have other containers.
type Change struct {
	Job string `json:"job"`
	// From and To are containers by server as text, as "n1:4 n2:1", empty: none, and Why why it has none or another's place.
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why,omitempty"`
}

// NewDecision returns a decision as the page shows it, taken at a time by the Clock. Decision and problem may be nil where there is a
// fault. O(applications and their servers).
func NewDecision(at float64, took time.Duration, p *alloc.Problem, d *alloc.Decision, fault string) Decision {
	one := Decision{At: at, Took: took.Seconds(), Fault: fault}
	if p == nil || d == nil {
		return one
	}
	one.Status, one.Objective, one.Gap = string(d.Status), d.Objective, d.Gap
	// JSON has no infinity.
	if math.IsInf(d.Gap, 0) || math.IsInf(d.Bound, 0) {
		one.Gap = -1
	}
	why := Reasons(d)
	for i := range p.Applications {
		id := p.Applications[i].ID
		from, to := PlacesText(p.Previous[id]), PlacesText(d.Allocation[id])
		if from != to {
			one.add(Change{Job: id, From: from, To: to, Why: why[id]})
		}
	}
	return one
}

// add adds a change, as long as there are not too many.
func (d *Decision) add(c Change) {
	if len(d.Changes) == mostChanges {
		d.More++
		return
	}
	d.Changes = append(d.Changes, c)
}

// PlacesText returns numbers of containers by server as text, as "n1:4 n2:1".
func PlacesText(counts map[string]int64) string {
	var list []string
	for _, server := range slices.Sorted(maps.Keys(counts)) {
		if counts[server] > 0 {
			list = append(list, server+":"+strconv.FormatInt(counts[server], 10))
		}
	}
	return strings.Join(list, " ")
}
