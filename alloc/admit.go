// This file decides who runs, before anybody asks how many containers he gets: [Program §3],
// points 1 and 2.

package alloc

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
)

// admission is who is taken in, and why the others are not. The draft in it is an allocation that holds everybody who is
// in at the fewest containers, so that P2 for them has a solution whatever a solver finds.
type admission struct {
	*draft
	ctx       context.Context
	refused   map[int]bool             // by application of the given problem: newcomers that wait, and the forced that are suspended
	preempted map[int]apportion.Reason // by application of the given problem: suspended for one of higher priority
	questions int                      // how often a solver may still be asked about one
	asked     bool                     // the solver has been asked about all who ask
	alike     map[string]bool          // what a refused application asks for
	entered   float64                  // the least counts of newcomers that are in, as parts of the cluster
	broken    map[int]int              // by application of the given problem: to whom what was reserved for it went
	first     map[int]refusedFirst     // by leaf: the first that was refused for room
}

// admitAll takes in as many as can be had: those that run and are not forced, the forced, then newcomers, each
// by priority and then in the order of submission. Who cannot be had blocks nobody.
//
// That somebody is refused is certain only where fits or a ceiling says so, or a solver has shown it: best fit and a
// search within its effort may miss a way. That somebody is taken in is certain always. When ctx ends no solver is asked
// any more. O(newcomers x applications x servers x kinds), and r.limits.questions searches.
func (r *resolved) admitAll(ctx context.Context) *admission {
	a := &admission{draft: newDraft(r), ctx: ctx, questions: r.limits.questions,
		refused: make(map[int]bool), preempted: make(map[int]apportion.Reason),
		alike: make(map[string]bool), first: make(map[int]refusedFirst), broken: make(map[int]int)}
	// 1. Those who run and can stay are in the draft from the start. 2. The others, one after the other: each
	// sees those who were taken in before it, and none who come later.
	t := newTurn(a.draft)
	t.ctx = ctx
	for i := t.next(); i >= 0; i = t.next() {
		if a.in[i] || a.ask(i, t) { // or with those before it
			a.letIn(i)
		} else {
			a.refused[r.of[i]] = true
			a.refuse(i)
		}
	}
	// 3. What is reserved is freed as far as that can be without an end. 4. Queues that have less than they are guaranteed grow. 5. What is left of the budget goes to drains: a newcomer that waits
	// is worse than a server that is left a decision later.
	a.hasten()
	a.fulfil()
	a.drain()
	// 6. What has become free since may be less to wait for.
	a.renew()
	a.restrain()
	a.growSlices()
	a.bind(a.reserved)
	return a
}

// ask takes application i in if it can be had; t has those that ask after it. An option that the empty
// cluster could not hold is not tried. Where it returns false nothing has changed.
func (a *admission) ask(i int, t *turn) bool {
	// That the empty cluster could not hold it is certain, and no reason to ask others to make room.
	options := a.r.fitting(i)
	if len(options) == 0 {
		return false
	}
	// Thousands of newcomers are of a few sorts as a rule, and the first of a sort answers for all of it.
	var key string
	for _, e := range options {
		key += a.request(e)
	}
	if a.alike[key] {
		return false // what asks for the same after it finds no more room
	}
	// From cheap to dear: best fit, a search for all who ask, one for this one alone, and only then others are suspended.
	// Options are tried in their order, each way for all of them before the next way.
	if slices.ContainsFunc(options, a.admit) || a.together(options, t) || a.search(options) ||
		slices.ContainsFunc(options, a.breakIn) || slices.ContainsFunc(options, a.reclaimLeast) {
		return true
	}
	a.alike[key] = true
	return false
}

// reclaimLeast takes application i in with its fewest containers on what others have to give up.
func (a *admission) reclaimLeast(i int) bool {
	// Without a right to anything there is no more than where it has found no room; domains are tried one by one all the same.
	if !a.r.mustBeIn(i) && !a.mayTake(i, a.least(i)) {
		return false
	}
	return a.reclaimInDomains(i, a.least(i))
}

// request is what application i asks for: two with the same request fit, or do not, alike. It has all that place and
// exchange look at; a field that is missing here would refuse somebody who could be had.
func (d *draft) request(i int) string {
	app, priority, runs := &d.r.problem.Applications[i], int64(0), int64(-1)
	if d.r.problem.Options.Preempt {
		priority = app.Priority
	}
	// What it holds may stay where nothing new may come.
	if d.r.running(i) {
		runs = int64(i)
	}
	key := appendVector(make([]byte, 0, 128), app.Demand)
	key = appendVector(key, apportion.Resources{d.least(i), app.PerServer, app.MaxServers, priority, int64(len(d.breakable(i))), runs})
	key = strconv.AppendQuote(key, app.Queue)
	if classes := d.r.classes(i); classes != nil {
		key = fmt.Append(key, classes)
	}
	if w := d.r.wishes[i]; w != nil {
		key = fmt.Append(key, *w)
	}
	// What is reserved may be open to one and not to the other.
	for _, v := range d.reserved {
		key = strconv.AppendBool(key, d.respects(v, i))
	}
	return string(key)
}

// together looks once, when best fit first fails, for places for all that ask, of which the first has these options, by packing and, where
// applications run, by the solver: where all fit none need be judged by itself, and where none runs as many of the first are packed as can be. With queues each is asked in its turn, which depends on
// what is in by then, and so where any must be in domains, whose choice is no matter of the solver. Applications for which a kind is short
// beside the ones before them are left out, and where the first is nothing is asked. It reports whether the first is in.
func (a *admission) together(options []int, t *turn) bool {
	if a.asked || a.r.anyMustBeIn() || len(a.r.nodes) > 2 || len(t.rest()) == 0 || a.allShort(options) {
		return false
	}
	a.asked = true
	room := make(apportion.Resources, len(a.r.total))
	for k := range room {
		amount, _, _ := a.freeable(options[0], k)
		room[k] = a.free(k) + amount
	}
	var group []int
	for _, i := range append(options[:1:1], t.rest()...) {
		need := make(apportion.Resources, len(room))
		for k := range need {
			need[k] = a.leastOf(i, k)
		}
		if a.in[i] || len(a.r.fitting(i)) == 0 || !need.FitsIn(room) {
			continue
		}
		for k := range room {
			room[k] -= need[k]
		}
		group = append(group, i)
		a.enter(i)
	}
	found, all := a.pack(group, a.packSteps())
	// Where nothing else could have been moved the solver let in nobody more in 421 draws of tasks on 2 to 300 servers.
	if found || !all && a.solve(options[0], embedded.Default) {
		return true
	}
	for _, i := range group {
		a.leaveOut(i)
	}
	return all && a.packFirst(group)
}

// allShort reports whether a kind is short for each of these options: that none of them can be had is known then.
func (a *admission) allShort(options []int) bool {
	return !slices.ContainsFunc(options, func(e int) bool { return a.shortKind(e) < 0 })
}

// search asks the solver whether the application with these options can be had beside all that are in, and takes its
// answer over if so. Where the room of the whole cluster does not suffice for any of them nobody is asked: that is
// known without a search, and it is the usual reason to wait.
// It costs one of the questions, which run out: those late in the queue of a large problem are judged
// by best fit alone.
func (a *admission) search(options []int) bool {
	if a.r.mustBeIn(options[0]) || a.allShort(options) || !a.spend() {
		return false
	}
	// The solver is asked about all that are in, and this one is of them until it says no.
	a.enter(options[0])
	if a.solve(options[0], embedded.Quick) {
		return true
	}
	a.leaveOut(options[0])
	return false
}

// manyChoices is beyond how many applications with options a question tries no ways to choose but those that prices prefer.
const manyChoices = 64

// spend takes one of the questions, and reports whether there was one left.
func (a *admission) spend() bool {
	if a.questions == 0 {
		return false
	}
	a.questions--
	return true
}

// solve asks the solver for an allocation of all that are in, for application i whatever the loss, and takes it over. It reports whether it
// got one: false as well where the context has ended. What comes back is checked like any answer, and is as good as a draft.
func (a *admission) solve(i int, effort embedded.Effort) bool {
	if a.ctx.Err() != nil {
		return false
	}
	// The question is P2 for those who are in, without its loss budget and stated worths: only whether there is an
	// answer counts, and the fewest containers of each are what the draft takes from it.
	apps := a.taken()
	a.bind(slices.DeleteFunc(slices.Clone(a.reserved), func(v *reserved) bool { return !a.respects(v, i) }))
	inst := a.r.instance(apps)
	a.r.keep(nil, nil)
	inst.LossBudget = float64(2 * len(apps)) // no loss is above 1: any solution will do
	for at := range inst.Apps {
		app := &inst.Apps[at]
		app.Worth, app.Idle, app.Stay, app.Losses, app.Spread = nil, 0, 0, nil, nil // whatever it is worth
		// Where queues are guaranteed something a search may move, and not take.
		if a.r.guaranteed && app.Running {
			app.Min = max(app.Min, solver.Containers(a.counts[apps[at]]))
		}
	}
	// With many options each further way to choose them is a search by itself: the first few ways must do, for one question.
	if len(inst.Choices) > manyChoices {
		effort, a.questions = 1, 0
	}
	// A gap of 1 ends the search with the first solution. It is the embedded solver whoever solves P2, so that
	// who runs does not depend on the solver.
	s, err := solve(a.ctx, inst, embedded.New(&embedded.Options{Effort: effort, Gap: 1}))
	if err != nil || !s.Status.HasSolution() {
		return false
	}
	a.adopt(apps, inst, s.Counts)
	return true
}

// shortKind returns a kind of which application i needs more than all could give up for it, or -1. It looks at the cluster
// as one server and at each kind alone, so that a kind is a proof, and -1 is none.
// O(kinds x (servers + applications x log applications)).
func (a *admission) shortKind(i int) int {
	n := a.least(i)
	for k, q := range a.r.problem.Applications[i].Demand {
		amount, _, _ := a.freeable(i, k)
		if q > 0 && n > max(0, a.free(k)+amount-a.keptFrom(i, k))/q {
			return k
		}
	}
	return -1
}

// drain moves those away from cordoned servers who can go elsewhere within what is left of the budget. Whoever cannot stays
// there, and is asked again in the next decision. An application leaves all its cordoned servers at once or none, since
// each change is a restart.
func (a *admission) drain() {
	for i, placed := range a.r.previous {
		cordoned := func(p apportion.Placement) bool { return a.r.problem.Servers[p.Server].Cordoned }
		// Who was forced off has left already, and a pin is stronger than a drain.
		if !a.in[i] || a.r.pinned[i] || a.r.displaced[i] || !slices.ContainsFunc(placed, cordoned) {
			continue
		}
		if a.moved[i] && !slices.ContainsFunc(a.counts[i], cordoned) {
			a.r.leaving[i] = true
			continue
		}
		// Who is too dear for what is left may be followed by somebody who is not.
		if a.cost(i) > a.budget-a.spent {
			continue
		}
		// P2 is told that it has to leave, or it would keep it where the utilization is highest. The dense form of the
		// application says so from here on, which solve below relies upon.
		a.r.leaving[i] = true
		if a.leave(i) {
			a.move(i)
		} else {
			a.r.leaving[i] = !a.r.sliced(i) && !a.waitedFor(i) && a.spend() && a.solve(i, embedded.Quick)
		}
	}
}

// leave places application i anew by best fit: with as many containers as it has if it can, else with its fewest. Best fit
// knows no cordoned server, so that wherever it goes it has left.
// On failure it is put back just where it was, or a decision would move somebody for nothing.
func (a *admission) leave(i int) bool {
	// As many as it has would be best for it; fewer are better than to stay on a server that is to be emptied.
	before := a.remove(i)
	app := a.r.app(i)
	for _, n := range [...]int64{app.AtMost(solver.Containers(before)), a.least(i)} {
		if n > 0 && a.place(i, n) {
			return true
		}
	}
	a.put(i, before)
	return false
}

// containers writes a number of containers.
func containers(n int64) string {
	if n == 1 {
		return "1 container"
	}
	return fmt.Sprintf("%d containers", n)
}
