// This file leaves a cluster at rest: what is asked again with nothing new is answered by what runs, [Program §11].

package alloc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion/alloc/solver"
)

// Settled says which question a decision has answered, for the next problem: a problem that hands it back, and asks the same again when
// what was decided runs, gets what runs.
type Settled struct {
	// Digest is that of the problem but for what follows from time and from decisions: Previous, Reservations, Settled, Passed, Ends, Held
	// and Option of its Applications and Usage of its Queues. Of Most it has from where on growth is free once what was decided runs.
	// Two with a space between where Most is stated and one begins: with that unknown, and with what it begins with.
	Digest string `json:"digest"`
	// Allocation is the digest of what was decided.
	Allocation string `json:"allocation"`
}

// digestOf returns a text that two values have in common where their JSON is the same; empty where they have none.
func digestOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// digest returns one of Settled.Digest of p once these containers run. told: those that begin are said to have had what they begin with.
// O(size of p).
func (p *Problem) digest(run Allocation, told bool) string {
	asked := *p
	asked.Previous, asked.Reservations, asked.Settled = nil, nil, nil
	asked.Applications, asked.Queues = slices.Clone(p.Applications), slices.Clone(p.Queues)
	for i := range asked.Applications {
		app := &asked.Applications[i]
		most := app.Most
		app.Passed, app.Ends, app.Held, app.Option, app.Most = 0, nil, nil, "", 0
		if most == 0 && (!told || p.Previous.Containers(app.ID) > 0) {
			continue
		}
		if n := run.Containers(app.ID); n > 0 {
			app.Most = max(most, n)
		}
	}
	for q := range asked.Queues {
		asked.Queues[q].Usage = 0
	}
	return digestOf(&asked)
}

// digest returns Settled.Allocation of a, of which the applications in apps alone count, with the options in use.
func (a Allocation) digest(apps []Application, option func(o int) string) string {
	order := make([]int, len(apps))
	for o := range order {
		order[o] = o
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(apps[i].ID, apps[j].ID) })
	// It is the JSON of a map from IDs to options and places, which takes several times as long to be made of one.
	text := []byte{'{'}
	var servers []string
	for _, o := range order {
		places := a[apps[o].ID]
		servers = slices.DeleteFunc(keysInto(servers, places), func(server string) bool { return places[server] == 0 })
		if len(servers) == 0 {
			continue
		}
		text = append(appendName(text, apps[o].ID), `{"Option":`...)
		text = append(appendString(text, option(o)), `,"Places":{`...)
		for _, server := range servers {
			text = strconv.AppendInt(appendName(text, server), places[server], 10)
		}
		text = append(text, "}}"...)
	}
	sum := sha256.Sum256(append(text, '}'))
	return hex.EncodeToString(sum[:16])
}

// appendName appends the name of a member of an object, after a comma where it is not the first.
func appendName(text []byte, name string) []byte {
	if text[len(text)-1] != '{' {
		text = append(text, ',')
	}
	return append(appendString(text, name), ':')
}

// appendString appends text as JSON has it.
func appendString(text []byte, s string) []byte {
	quoted := func(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`"\<>&`, c) }
	if strings.IndexFunc(s, quoted) < 0 {
		return append(append(append(text, '"'), s...), '"')
	}
	whole, _ := json.Marshal(s)
	return append(text, whole...)
}

// presentOption returns the ID of the option that the application runs with, if it runs.
func (a *Application) presentOption() string {
	if a.Option == "" && len(a.Options) > 0 {
		return a.Options[0].ID
	}
	return a.Option
}

// recall finds out whether the problem has been decided before, and its answer runs. Where another allocation runs something has happened,
// or the answer is being carried out: without the budget (16) what is half done would be undone.
func (r *resolved) recall() {
	s, p := r.given.Settled, r.given
	if s == nil || r.problem.Options.Paper || s.Digest == "" {
		return
	}
	if r.digest = p.digest(p.Previous, false); !slices.Contains(strings.Fields(s.Digest), r.digest) {
		return
	}
	r.rests = s.Allocation == p.Previous.digest(p.Applications, func(o int) string { return p.Applications[o].presentOption() })
}

// settle returns what d says for the next problem.
func (r *resolved) settle(d *Decision) *Settled {
	p := r.given
	if slices.ContainsFunc(p.Applications, func(a Application) bool { return a.Most > 0 }) {
		r.digest = p.digest(d.Allocation, false)
		if told := p.digest(d.Allocation, true); told != r.digest {
			r.digest += " " + told
		}
	} else if r.digest == "" {
		r.digest = p.digest(nil, false)
	}
	return &Settled{Digest: r.digest, Allocation: d.Allocation.digest(p.Applications, func(o int) string { return d.Shares[o].Option })}
}

// atRest returns what runs as the answer where the same question was answered by it before and nothing is owed: nobody is forced,
// drained, or let in, takes by a rule or grows by a guarantee, and the loss is within what Theta1 gives. nil: there is something to decide.
func (r *resolved) atRest(a *admission) *attempt {
	if !r.rests {
		return nil
	}
	for i := range r.previous {
		if r.forced[i] || r.leaving[i] || r.yielding[i] || !solver.SamePlaces(a.counts[i], r.previous[i]) {
			return nil
		}
	}
	answer := &attempt{apps: a.taken()}
	answer.instance = r.instance(answer.apps)
	counts := gather(answer.apps, a.counts)
	if answer.instance.Check(counts) != nil {
		return nil
	}
	answer.solution = &solver.Solution{Status: solver.Feasible, Counts: counts, Objective: answer.instance.Objective(counts), Bound: answer.instance.Cap()}
	return answer
}
