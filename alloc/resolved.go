// This file holds a problem with its names looked up, and what is asked of it everywhere.

package alloc

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/domain"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/exact"
)

// resolved is a valid problem with its names looked up. The fields by application have one entry
// for each of problem.Applications, among which every option of the given problem is one.
type resolved struct {
	// problem has one application for each entry; it is given itself where no application has options. An index i into its
	// applications is called an entry, an index o into those of given an application, wherever the two differ.
	problem *Problem
	given   *Problem // as the caller has it
	version int      // of the record that is read, whose budgets and reasons are those of its time
	of      []int    // by entry: the position in given.Applications
	entries [][]int  // by position in given.Applications: the entries, ascending

	// The fields by server have one entry for each of problem.Servers, total one a kind.

	capacity  []apportion.Resources // of a cordoned server only what is used of it
	total     apportion.Resources
	shared    apportion.Resources // what shares are taken of: the total, but 0 of parts of derived kinds
	part      []bool              // by kind: it counts as derived ones; nil without any
	compact   []int               // positions of the compact kinds
	typical   []typical           // demands for these, the most frequent first
	mean      []float64           // of the typical demands, by kind
	open      *eligibility
	shapes    []shape                 // of servers that are alike for all applications when they are empty
	room      []int64                 // how many containers the open servers hold of it when they are empty
	emptied   [][]solver.Rooms        // the same by server, once holds was asked
	previous  [][]apportion.Placement // where its containers are, on servers that exist
	displaced []bool                  // some of its containers are where they cannot stay
	forced    []bool                  // it cannot stay, or is on a server that is too full: a change is free
	pinned    []bool                  // it must stay, and can
	// rests: the same question was answered before by what runs.
	rests    bool
	digest   string // of given, empty before it was asked for
	leaving  []bool // it leaves the cordoned servers that it is on
	yielding []bool // it gave its place to one of higher priority, and goes on elsewhere: a change is free
	// tree is that of the queues, nil without any; limited lists those with a ceiling, above the positions in limited of
	// those above each application.
	tree        *drf.Tree
	limited     []int
	above       [][]int
	overCeiling []bool // forced by a ceiling that is below what is used
	// nodes are the queues as admission sees them, leaf the one that each application belongs to, and guaranteed says that one
	// has a guarantee. floor is how many containers of each P2 may not take from what its queue is guaranteed.
	nodes      []node
	leaf       []int
	guaranteed bool
	scaled     bool // the guarantees exceeded what there is for them
	floor      []int64
	restraint  []int64 // how many containers of each P2 may give beside what waits within a guarantee, 0 where any; nil: any of all
	limits     limits
	// lastShares are those of the entries in lastSharing; nil: none are kept.
	lastSharing []int
	lastShares  []float64
	// reserved is what P2 keeps for applications that are due: held of it by server and by ceiling, and fixed where those stay that
	// are waited for. All are nil where nothing is reserved.
	reserved        []*reserved
	held, heldBelow []apportion.Resources
	fixed           [][]apportion.Placement
	// topology has the domains, nil where no application asks for any; wishes are what each asks for, by entry, and leafOf the domain
	// of the narrowest level by server. home is the domain in which one is that has no containers, or None.
	topology *domain.Tree
	wishes   []*domain.Wish
	leafOf   []leaf
	home     []int
	// confined are the classes of the domains that were chosen for each, by entry; nil: all that are open to it.
	confined [][]int
	// empty is the servers without anything on them, nil before anybody has asked.
	empty *view
}

// limits bound the time of admission where thousands wait. BenchmarkAdmission shows what each brings and costs.
type limits struct {
	// questions is how often one decision asks a solver whether somebody fits whom best fit finds no place for.
	questions int
	// victims is how many applications are asked to make room for one.
	victims int
	// offers is of how many applications on one server all sets are tried that could make room, or be waited for. In BenchmarkOffers
	// 182 jobs are suspended with 4, 168 with 8 and with 12, in twice the time each.
	offers int
}

// standard is what every decision uses. On crowded mixed clusters, whose demands fit their servers badly, more questions take
// in 1 or 2 % more newcomers for two to three times the time; none at all are the fastest by far, and take in others than the
// order of the queue would have. With 256 victims as many are taken in as with all that run, up to 1,000 of these.
var standard = limits{questions: 4, victims: 256, offers: 8}

// running says whether application i is in A^t-1: it has containers on servers that exist, or had some where it cannot
// keep them. An entry of zero containers in Previous does not make it run.
func (r *resolved) running(i int) bool { return len(r.previous[i]) > 0 || r.displaced[i] }

// most returns how many containers application i may have on server j if room is left there: 0 where the server is
// cordoned or its labels do not satisfy the application. Min, Max and MaxServers are not looked at.
func (r *resolved) most(i, j int, room apportion.Resources) int64 {
	if !r.mayCome(i, j) {
		return 0
	}
	app := &r.problem.Applications[i]
	n := app.Demand.CountIn(room)
	if app.PerServer > 0 {
		n = min(n, app.PerServer)
	}
	return n
}

// used returns what is used on every server now, by those that still are in the problem: what has finished uses
// nothing. It may be more than a server has. O(servers x kinds + placements x kinds).
func (r *resolved) used() []apportion.Resources {
	used := make([]apportion.Resources, len(r.problem.Servers))
	for j := range used {
		used[j] = make(apportion.Resources, len(r.problem.Kinds))
	}
	for i, placed := range r.previous {
		for _, p := range placed {
			// Validate has refused sums that leave int64.
			_ = exact.AddTimesTo(used[p.Server], used[p.Server], p.Count, r.problem.Applications[i].Demand)
		}
	}
	return used
}

// options returns the entries of the application of entry i, i among them: one where the application has no options.
// The slice is shared and only read.
func (r *resolved) options(i int) []int { return r.entries[r.of[i]] }

// idle reports whether the application of entry i may be without containers: one option with a Min of 0 is enough, since
// none of the others need be in use.
func (r *resolved) idle(i int) bool {
	return slices.ContainsFunc(r.options(i), func(e int) bool { return r.problem.Applications[e].Min == 0 })
}

// runs returns the entry that application o runs as, or -1: it does not run. At most one entry of an application runs,
// since Previous is resolved for one option.
// O(options), as everything that is asked of an application with options.
func (r *resolved) runs(o int) int {
	if at := slices.IndexFunc(r.entries[o], r.running); at >= 0 {
		return r.entries[o][at]
	}
	return -1
}

// isForced reports whether application o runs and cannot stay as it is, so that its change counts against no budget.
func (r *resolved) isForced(o int) bool {
	e := r.runs(o)
	return e >= 0 && r.forced[e]
}

// must returns the filling of claims that Validate has found right; an error is a bug of ours, and the only panic of this
// package.
func must[T any](filling T, err error) T {
	if err != nil {
		panic("alloc: a valid problem gave drf a bad claim: " + err.Error())
	}
	return filling
}
