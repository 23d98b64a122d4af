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

// Step is one thing to do. Server and Containers belong to Destroy and Create only; Command to
// Start and Resume.
type Step struct {
	Action      Action   `json:"action"`
	Application string   `json:"application"`
	Server      string   `json:"server,omitempty"`
	Containers  int64    `json:"containers,omitempty"`
	Command     []string `json:"command,omitzero"`
}

// Plan is how to get from one allocation to the next.
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
// appear nowhere in it; of a problem that is not valid Forced is not known. O(size of both allocations, sorted; applications x servers x kinds).
func NewPlan(p *Problem, next Allocation) *Plan {
	plan := &Plan{}
	// 1. State is saved before a container goes, else it would be lost with the container.
	plan.classify(p, next)
	plan.findForced(p)
	for _, id := range merge(plan.Affected, plan.Suspended) {
		plan.add(Step{Action: Save, Application: id})
	}
	// 2. All that goes makes room before 3. anything comes: in between no server holds more than
	// before or after.
	changed := merge(plan.Started, plan.Affected, plan.Suspended, plan.Finished)
	for _, id := range changed {
		plan.containers(Destroy, id, p.Previous[id], next[id])
	}
	for _, id := range changed {
		plan.containers(Create, id, next[id], p.Previous[id])
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

// classify sorts the applications of both allocations by what happens to them.
func (plan *Plan) classify(p *Problem, next Allocation) {
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
		case before == 0 && after == 0 || sameContainers(p.Previous[id], next[id]):
		case before == 0:
			plan.Started = append(plan.Started, id)
		case after == 0:
			plan.Suspended = append(plan.Suspended, id)
		default:
			plan.Affected = append(plan.Affected, id)
		}
	}
}

// findForced lists those that change because they must.
func (plan *Plan) findForced(p *Problem) {
	changed := merge(plan.Affected, plan.Suspended)
	// What has to move is known of a valid problem alone.
	if len(changed) == 0 || p.Validate() != nil {
		return
	}
	forced := resolve(p).forced
	for i := range p.Applications {
		if _, listed := slices.BinarySearch(changed, p.Applications[i].ID); listed && forced[i] {
			plan.Forced = append(plan.Forced, p.Applications[i].ID)
		}
	}
	slices.Sort(plan.Forced)
}

// containers adds a step for every server where more than less holds.
func (plan *Plan) containers(action Action, id string, more, less map[string]int64) {
	for _, server := range slices.Sorted(maps.Keys(more)) {
		// Containers that stay on their server are not in the plan, although their application
		// restarts.
		if n := more[server] - less[server]; n > 0 {
			plan.add(Step{Action: action, Application: id, Server: server, Containers: n})
		}
	}
}

// sameContainers reports whether two entries of an allocation say the same; one of zero says the same as
// none.
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
