package alloc_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/rapidtest"
)

// reasonsOf returns every reason that a decision and its explanation give, by the application.
func reasonsOf(t *rapid.T, p *alloc.Problem, d *alloc.Decision) map[string]apportion.Reason {
	e, err := alloc.Explain(p, d)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]apportion.Reason{}
	for _, w := range append(d.Waiting, d.Suspended...) {
		reasons[w.ID] = w.Reason
	}
	for _, s := range e.Applications {
		reasons[s.ID+" in the explanation"] = s.Reason
	}
	return reasons
}

// genReasoned draws a problem, damaged or not, with its decision.
func genReasoned(t *rapid.T) (*alloc.Problem, *alloc.Decision) {
	p := genProblem(t)
	if rapid.Bool().Draw(t, "damaged") {
		damage(t, p)
	}
	return p, quick(t, p)
}

// No reason contradicts itself or the servers: what is needed is not there, every server stands in one blocker or has room, one that
// lacks a label lacks it, and no sentence is long.
func TestPropBlockersAreTrue(t *testing.T) {
	seen := map[string]int{}
	causes := []string{alloc.ByLabel, alloc.ByCordon, alloc.BySize, alloc.ByRoom, alloc.ByNumber, alloc.ByPerServer, alloc.ByMaxServers, alloc.ByBudget, alloc.ByPin}
	all := func() bool { return !slices.ContainsFunc(causes, func(cause string) bool { return seen[cause] == 0 }) }
	rapidtest.Until(t, "not every cause", all, func(t *rapid.T) {
		p, d := genReasoned(t)
		for id, r := range reasonsOf(t, p, d) {
			id, _, _ = strings.Cut(id, " ")
			app := &p.Applications[slices.IndexFunc(p.Applications, func(a alloc.Application) bool { return a.ID == id })]
			if s := tooLong(r.Text); s != "" {
				t.Errorf("%s: a long sentence: %s", id, s)
			}
			if len(r.Blockers) > 0 && r.Asked > 0 && r.Fits >= r.Asked && !strings.Contains(r.Text, "fit now") && !strings.Contains(r.Text, "it may have") {
				t.Errorf("%s: %d fit of %d: %+v", id, r.Fits, r.Asked, r)
			}
			var blocked int64
			for _, b := range r.Blockers {
				seen[b.Cause]++
				blocked += b.Servers
				if what := untrue(p, app, &b, r.Asked); what != "" {
					t.Errorf("%s: %s: %+v", id, what, b)
				}
			}
			if blocked > int64(len(p.Servers)) {
				t.Errorf("%s: %d servers of %d: %+v", id, blocked, len(p.Servers), r.Blockers)
			}
		}
	})
}

// untrue returns what is wrong with a blocker by itself, or "".
func untrue(p *alloc.Problem, app *alloc.Application, b *apportion.Blocker, asked int64) string {
	at := slices.IndexFunc(p.Servers, func(s apportion.Server) bool { return s.ID == b.Server })
	if b.Servers > 0 && at < 0 {
		return "it names no server"
	}
	switch b.Cause {
	case alloc.ByLabel:
		if app.Options == nil && p.Servers[at].Satisfies(app.Requires) {
			return "the server has the label"
		}
	case alloc.ByCordon:
		if !p.Servers[at].Cordoned {
			return "the server is not cordoned"
		}
	case alloc.BySize, alloc.ByRoom:
		if b.Need <= b.Largest || b.Largest > b.Free {
			return "one server has what is needed"
		}
		if b.Cause == alloc.BySize && app.Options == nil && app.Demand.FitsIn(p.Servers[at].Capacity) {
			return "the server is large enough"
		}
	case alloc.ByNumber, alloc.ByPerServer:
		if b.Fits >= asked*b.Servers || b.Cause == alloc.ByNumber && b.Fits < b.Servers {
			return "one server has room for all"
		}
	case alloc.ByMaxServers:
		if b.Fits >= asked {
			return "that many servers have room"
		}
	case alloc.ByCeiling:
		if b.Need <= b.Free {
			return "the ceiling leaves enough"
		}
	case alloc.ByBudget:
		if b.Need <= b.Limit {
			return "the budget is enough"
		}
	}
	return ""
}

// What a remedy says is so: with it the application is let in, when the same is decided with what runs now.
func TestPropRemediesHelp(t *testing.T) {
	tried, helped := map[string]int{}, map[string]int{}
	rapidtest.Until(t, "few remedies", func() bool { return len(tried) > 3 }, func(t *rapid.T) {
		p, _ := genReasoned(t)
		p.Options.Paper = false
		d := quick(t, p)
		for _, w := range d.Waiting {
			for _, m := range w.Reason.Remedies {
				if q := with(p, d, w.ID, &m); q != nil {
					tried[m.Change+m.Setting]++
					if again := quick(t, q); again.Allocation.Containers(w.ID) > 0 {
						helped[m.Change+m.Setting]++
					} else {
						t.Logf("%+v did not let %s in, which waits since %s; then: %+v", m, w.ID, w.Reason.Text, again.Waiting)
					}
				}
			}
		}
	})
	for change, n := range tried {
		if n >= 10 && helped[change]*10 < n*9 {
			t.Errorf("%s: %d of %d helped", change, helped[change], n)
		}
	}
}

// with returns the problem after decision d with a remedy, in which the application id is asked about first.
func with(p *alloc.Problem, d *alloc.Decision, id string, m *apportion.Remedy) *alloc.Problem {
	q := *p
	q.Previous, q.Settled = d.Allocation.Clone(), nil
	q.Applications, q.Servers = nil, slices.Clone(p.Servers)
	for _, app := range p.Applications {
		waits := d.Allocation.Containers(app.ID) == 0
		if app.ID != id && (waits || m.Change == alloc.Suspend && app.ID == m.Applications[0]) {
			continue // another application that asks may be let in in its place
		}
		if at := slices.IndexFunc(d.Shares, func(s alloc.Share) bool { return s.ID == app.ID }); app.Options != nil {
			app.Option = d.Shares[at].Option
		}
		if app.ID == id {
			app.Worth, app.IdleWorth, app.Min = nil, 0, max(1, app.Min) // let in is not enough to be given something
			if app.Options != nil {
				return nil // a reason is about one of its options
			}
		}
		q.Applications = append(q.Applications, app)
	}
	if strings.Contains(d.Waiting[slices.IndexFunc(d.Waiting, func(w alloc.Waiting) bool { return w.ID == id })].Reason.Text, "the empty cluster") {
		q.Previous = nil
		q.Applications = slices.DeleteFunc(q.Applications, func(a alloc.Application) bool { return a.ID != id })
	}
	apply(&q, id, m)
	return &q
}

// apply changes a problem, whose lists are its own, by a remedy for the application id.
func apply(q *alloc.Problem, id string, m *apportion.Remedy) {
	if m.Change == alloc.Suspend {
		delete(q.Previous, m.Applications[0])
	}
	app := &q.Applications[slices.IndexFunc(q.Applications, func(a alloc.Application) bool { return a.ID == id })]
	switch m.Setting {
	case "applications.per_server":
		app.PerServer = int64(m.Value)
	case "applications.max_servers":
		app.MaxServers = int64(m.Value)
	case "theta2":
		q.Theta2 = m.Value
	case "options.preempt":
		q.Options.Preempt = true
	}
	for j := range q.Servers {
		if q.Servers[j].ID == m.Server && m.Change == alloc.Uncordon {
			q.Servers[j].Cordoned = false
		}
	}
	if m.Change == alloc.AnotherServer {
		one := q.Servers[slices.IndexFunc(q.Servers, func(s apportion.Server) bool { return s.ID == m.Server })]
		one.ID = "another"
		q.Servers = append(q.Servers, one)
	}
}

// A reason that was changed in any of its parts is refused.
func TestVerifyRefusesReasons(t *testing.T) {
	refused := 0
	rapidtest.Until(t, "nothing was changed", func() bool { return refused > 0 }, func(t *rapid.T) {
		p, d := genReasoned(t)
		for w := range d.Waiting {
			r := &d.Waiting[w].Reason
			if len(r.Blockers) == 0 {
				continue
			}
			before := *r
			for what, change := range map[string]func(){
				"asked":              func() { r.Asked++ },
				"fits":               func() { r.Fits++ },
				"text":               func() { r.Text += "." },
				"a blocker less":     func() { r.Blockers = r.Blockers[1:] },
				"another free":       func() { r.Blockers[0].Free++ },
				"servers":            func() { r.Blockers[0].Servers++ },
				"another cause":      func() { r.Blockers[0].Cause = "fate" },
				"a remedy":           func() { r.Remedies = append(slices.Clone(r.Remedies), apportion.Remedy{Change: "prayer"}) },
				"applications of it": func() { r.Blockers[0].Applications = append([]string{"x"}, r.Blockers[0].Applications...) },
			} {
				r.Blockers = slices.Clone(before.Blockers)
				change()
				if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(fmt.Sprint(err), "Waiting") {
					t.Errorf("%s of %s: %v", what, d.Waiting[w].ID, err)
				}
				*r = before
				refused++
			}
		}
		if proof, err := alloc.Verify(p, d); err != nil || !p.Options.Paper && slices.ContainsFunc(proof.Unchecked, func(f string) bool { return strings.HasPrefix(f, "Waiting[") }) {
			t.Errorf("%v, %v", proof.Unchecked, err)
		}
	})
}

// Of two that ask for the same only the one whose priority is above that of a job that runs hears what would let it suspend that job.
func TestPriorityTellsReasonsApart(t *testing.T) {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Previous: alloc.Allocation{"runs": {"s": 4}},
		Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{4}}}}
	for priority, id := range []string{"low", "runs", "high"} {
		p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: 1, Priority: int64(priority), Preemptible: id == "runs",
			Form: alloc.Form{Demand: apportion.Resources{4}, Min: 1, Max: 1}})
	}
	d, err := alloc.Reallocate(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range d.Waiting {
		hears := slices.ContainsFunc(w.Reason.Remedies, func(r apportion.Remedy) bool { return r.Setting == "options.preempt" })
		if hears != (w.ID == "high") {
			t.Errorf("%s: %+v", w.ID, w.Reason.Remedies)
		}
	}
}
