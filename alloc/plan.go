// This file turns the difference of two allocations into steps: Dorm's checkpoint-based resource
// adjustment, [Dorm §III-C2].

package alloc

import (
	"maps"
	"slices"
)

// Action is what one Step does.
type Action string

// The actions, in the order in which a Plan lists them.
const (
	// Save: write the state of the application to reliable storage, then kill it.
	Save Action = "save"
	// Destroy: remove containers from a server.
	Destroy Action = "destroy"
	// Create: add containers on a server.
	Create Action = "create"
	// Start: run the start command; the application is new.
	Start Action = "start"
	// Resume: run the resume command from the saved state.
	Resume Action = "resume"
)

// Step is one thing to do. Server and Containers, which is positive, belong to Destroy and Create only; Command to
// Start and Resume. Application is an ID of the problem, or, of Destroy, one that has finished.
type Step struct {
	Action      Action `json:"action"`
	Application string `json:"application"`
	// Option is that of the containers; empty where the application has none.
	Option     string   `json:"option,omitempty"`
	Server     string   `json:"server,omitempty"`
	Containers int64    `json:"containers,omitempty"`
	Command    []string `json:"command,omitzero"`
}

// Plan is how to get from one allocation to the next. It is a list of steps for one machine that carries them out one
// after the other, and a summary of who is concerned; package checkpoint carries out a decision without it, jobs beside
// each other. An empty plan says that nothing changes.
type Plan struct {
	// Steps in an order that never puts more on a server than the larger of what it held before and
	// will hold after: all that is destroyed comes before anything that is created.
	Steps []Step `json:"steps"`
	// Started had no containers and get some; Affected ran, run on, and change: they are saved,
	// killed and resumed; Suspended ran and are left without containers, their state saved;
	// Finished ran and are no longer in the problem. Each ascending.
	Started   []string `json:"started"`
	Affected  []string `json:"affected"`
	Suspended []string `json:"suspended"`
	Finished  []string `json:"finished"`
	// Forced lists those among Affected and Suspended that could not stay as they were, ascending; the
	// others change by the decision's own will.
	Forced []string `json:"forced,omitzero"`
}

// NewPlan returns the plan from p.Previous to next. Applications whose containers do not change
// appear nowhere in it. Options are those in shares, as a Decision has them, else those in use before; with another
// option every container of an application changes. Of a problem that is not valid Forced is not known. O(size of both
// allocations, sorted; applications x servers x kinds).
func NewPlan(p *Problem, next Allocation, shares ...Share) *Plan {
	// Lists stay nil where there is nothing in them, and the order of all of them is that of names.
	plan := &Plan{}
	o := newOptionChange(p, shares)
	// 1. State is saved before a container goes, else it would be lost with the container. Who has finished, or starts, has
	// nothing to save.
	plan.classify(p, next, o)
	plan.findForced(p)
	for _, id := range merge(plan.Affected, plan.Suspended) {
		plan.add(Step{Action: Save, Application: id})
	}
	// 2. All that goes makes room before 3. anything comes: in between no server holds more than
	// before or after.
	changed := merge(plan.Started, plan.Affected, plan.Suspended, plan.Finished)
	for _, id := range changed {
		plan.containers(Step{Action: Destroy, Application: id, Option: o.before[id]}, p.Previous[id], o.stays(id, next[id]))
	}
	for _, id := range changed {
		plan.containers(Step{Action: Create, Application: id, Option: o.after[id]}, next[id], o.stays(id, p.Previous[id]))
	}
	// 4. An application runs on only when all of its containers are there.
	commands := appIndex(p.Applications)
	for _, id := range plan.Started {
		plan.add(Step{Action: Start, Application: id, Command: slices.Clone(p.Applications[commands[id]].Start)})
	}
	for _, id := range plan.Affected {
		plan.add(Step{Action: Resume, Application: id, Command: slices.Clone(p.Applications[commands[id]].Resume)})
	}
	return plan
}

// add appends a step.
func (plan *Plan) add(step Step) { plan.Steps = append(plan.Steps, step) }

// classify sorts the applications of both allocations by what happens to them. Each is in one list at most, and in none if
// all of its containers stay. What next says of an application that is not in the problem is ignored: it has finished.
func (plan *Plan) classify(p *Problem, next Allocation, o *optionChange) {
	known := appIndex(p.Applications)
	for _, id := range slices.Sorted(maps.Keys(p.Previous)) {
		if _, waits := known[id]; !waits && p.Previous.Containers(id) > 0 {
			plan.Finished = append(plan.Finished, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		// Numbers alone do not tell: the same number elsewhere is a change, which sameContainers
		// sees.
		before, after := p.Previous.Containers(id), next.Containers(id)
		switch {
		case before == 0 && after == 0 || o.same(id) && sameContainers(p.Previous[id], next[id]):
		case before == 0:
			plan.Started = append(plan.Started, id)
		case after == 0:
			plan.Suspended = append(plan.Suspended, id)
		default:
			plan.Affected = append(plan.Affected, id)
		}
	}
}

// findForced lists those that change because they must. A plan is possible for a problem that is not valid, and then this
// list stays empty.
// Forced is for those who read a plan; no step depends on it.
func (plan *Plan) findForced(p *Problem) {
	changed := merge(plan.Affected, plan.Suspended)
	// What has to move is known of a valid problem alone.
	if len(changed) == 0 || p.Validate() != nil {
		return
	}
	r := resolve(p)
	for o := range p.Applications {
		if _, listed := slices.BinarySearch(changed, p.Applications[o].ID); listed && r.isForced(o) {
			plan.Forced = append(plan.Forced, p.Applications[o].ID)
		}
	}
	slices.Sort(plan.Forced)
}

// containers adds step for every server where more holds more containers than less, with the difference, ascending by the ID
// of the server.
func (plan *Plan) containers(step Step, more, less map[string]int64) {
	for _, server := range slices.Sorted(maps.Keys(more)) {
		// Containers that stay on their server are not in the plan, although their application
		// restarts.
		if n := more[server] - less[server]; n > 0 {
			step.Server, step.Containers = server, n
			plan.add(step)
		}
	}
}

// sameContainers reports whether two entries of an allocation say the same; one of zero says the same as
// none. It is the r_i of (3) by names.
func sameContainers(a, b map[string]int64) bool {
	return covers(a, b) && covers(b, a)
}

// covers reports whether a has just as many containers as b on every server that b names.
func covers(a, b map[string]int64) bool {
	for server, count := range b {
		if a[server] != count {
			return false
		}
	}
	return true
}

// merge returns all of the lists in one, ascending.
func merge(lists ...[]string) []string {
	merged := slices.Concat(lists...)
	slices.Sort(merged)
	return merged
}

// optionChange says with which option each application ran, and runs from now on, by their IDs.
type optionChange struct{ before, after map[string]string }

// newOptionChange finds the options before and after: without a share the option stays. An application without options is in
// neither map, so that both sides are "" and the same.
func newOptionChange(p *Problem, shares []Share) *optionChange {
	o := &optionChange{before: make(map[string]string), after: optionsUsed(shares)}
	for i := range p.Applications {
		app := &p.Applications[i]
		if len(app.Options) == 0 {
			continue
		}
		if o.before[app.ID] = app.Option; app.Option == "" {
			o.before[app.ID] = app.Options[0].ID
		}
		if o.after[app.ID] == "" {
			o.after[app.ID] = o.before[app.ID]
		}
	}
	return o
}

// same reports whether the application called id has the option that it had.
func (o *optionChange) same(id string) bool { return o.before[id] == o.after[id] }

// stays returns what may stay of the containers in places: none of those of another option.
func (o *optionChange) stays(id string, places map[string]int64) map[string]int64 {
	if o.same(id) {
		return places
	}
	return nil
}
