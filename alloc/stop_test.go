package alloc_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// leftUnder returns what allocation leaves on every server, in the problem's own words.
func leftUnder(p *alloc.Problem, allocation alloc.Allocation) []apportion.Resources {
	left := make([]apportion.Resources, len(p.Servers))
	for j, server := range p.Servers {
		left[j] = server.Capacity.Clone()
		for _, app := range p.Applications {
			for k, d := range app.Demand {
				left[j][k] -= d * allocation[app.ID][server.ID]
			}
		}
	}
	return left
}

// truth is what holds for one application under a decision, recomputed from the problem.
type truth struct {
	app     *alloc.Application
	n       int64
	could   int                 // servers that would hold a container if they were empty
	room    string              // a server that holds one more; "": none
	most    apportion.Resources // the most of each kind that one of the servers short of it has left
	lacks   []bool              // of each kind: short on one of them
	full    bool                // a server has as many as it may
	running bool
	changed bool
	shares  []alloc.Share // with the options that the reasons are about
}

// mayCome reports whether a container of app may be placed on server.
func mayCome(app *alloc.Application, server *apportion.Server) bool {
	for _, r := range app.Requires {
		if in := slices.Contains(r.Values, server.Labels[r.Key]); in != (r.Op == apportion.In) {
			return false
		}
	}
	return !server.Cordoned
}

func truthOf(p *alloc.Problem, d *alloc.Decision, i int) truth {
	app := &p.Applications[i]
	v := truth{
		app: app, n: d.Allocation.Containers(app.ID), running: p.Previous.Containers(app.ID) > 0, changed: d.Shares[i].Adjusted,
		most: make(apportion.Resources, len(p.Kinds)), lacks: make([]bool, len(p.Kinds)),
	}
	for j, left := range leftUnder(p, d.Allocation) {
		if !app.Demand.FitsIn(p.Servers[j].Capacity) || !mayCome(app, &p.Servers[j]) {
			continue
		}
		v.could++
		here := d.Allocation[app.ID][p.Servers[j].ID]
		full := app.PerServer > 0 && here >= app.PerServer || app.MaxServers > 0 && here == 0 && int64(len(d.Allocation[app.ID])) >= app.MaxServers
		v.full = v.full || full
		if app.Demand.FitsIn(left) && !full {
			v.room = p.Servers[j].ID
		}
		for k := range left {
			if app.Demand[k] > left[k] {
				v.most[k], v.lacks[k] = max(v.most[k], left[k]), true
			}
		}
	}
	return v
}

// contradicts returns what is untrue about a reason, or "".
func (v truth) contradicts(p *alloc.Problem, d *alloc.Decision, r *apportion.Reason) string {
	switch {
	case r.Text == "":
		return "no text"
	case r.Constraint == alloc.Maximum:
		listed := v.app.Step > 1 || v.app.Counts != nil
		if v.n != v.app.Max && !listed || r.Have != float64(v.n) {
			return "it has not its maximum"
		}
	case r.Constraint == solver.Capacity && r.Kind == "":
		// One that may have none for another option's sake has a gap above none.
		listed := v.app.Step > 1 || v.app.Counts != nil || v.n < v.app.Min
		if v.could > 0 && !v.full && !(listed && r.Need > r.Have) {
			return "a server could hold it"
		}
	case r.Constraint == solver.Capacity:
		k := kindOf(p, r.Kind)
		if v.room != "" || !v.lacks[k] || r.Need != float64(v.app.Demand[k]) || r.Have != float64(v.most[k]) {
			return "there is room, or another kind is short"
		}
	case r.Constraint == solver.Adjust:
		cost := int64(1)
		if v.app.AdjustCost != nil {
			cost = *v.app.AdjustCost
		}
		recent := v.app.Held != nil && *v.app.Held < p.Options.MinRun
		if v.room == "" || !v.running || v.changed || d.Metrics.AdjustCost+cost <= d.Metrics.AdjustBudget && !v.app.Pinned && !recent {
			return "it may be adjusted"
		}
	case r.Constraint == solver.Fairness:
		if v.room == "" || r.Need <= r.Have || r.Have != d.Metrics.LossBudget {
			return "the fairness budget does not bind"
		}
	case r.Constraint == alloc.Worthless:
		return v.worthless(p, d)
	case r.Constraint == alloc.Servers:
		if v.room == "" || r.Need <= 0 || r.Have > r.Need {
			return "a server more is worth it"
		}
	case r.Constraint == "":
		return v.oneMore(p, d)
	default:
		return "a constraint that cannot stop one container"
	}
	return ""
}

func kindOf(p *alloc.Problem, name string) int {
	for k := range p.Kinds {
		if p.Kinds.Name(k) == name {
			return k
		}
	}
	return -1
}

// worthless checks that the next number of containers is worth no more than this one with what staying saves.
func (v truth) worthless(p *alloc.Problem, d *alloc.Decision) string {
	if v.app.WorthOn != nil {
		return "" // what a number is worth depends on its servers
	}
	at, now, worths := 0, v.app.IdleWorth, v.app.Worth
	for n := max(1, v.app.Min); n <= v.app.Max; n++ {
		if n%max(1, v.app.Step) != 0 || v.app.Counts != nil && !slices.Contains(v.app.Counts, n) {
			continue
		}
		if n > v.n {
			stays := !v.changed && cmp.Equal(p.Previous.Clone()[v.app.ID], d.Allocation[v.app.ID])
			if v.n > 0 && stays && v.app.StayWorth != nil {
				now = max(now, *v.app.StayWorth)
			}
			if worths[at] > now {
				return "more are worth more"
			}
			return ""
		}
		now = worths[at]
		at++
	}
	return "there is no larger number"
}

// oneMore checks that one container more is within every constraint.
func (v truth) oneMore(p *alloc.Problem, d *alloc.Decision) string {
	if v.room == "" {
		return "no server has room for one more"
	}
	next := d.Allocation.Clone()
	if next[v.app.ID] == nil {
		next[v.app.ID] = map[string]int64{}
	}
	for n := v.n + 1; ; n++ { // up to the next number that it may have
		next[v.app.ID][v.room]++
		if n >= v.app.Min && (v.app.Step < 2 || n%v.app.Step == 0) && (v.app.Counts == nil || slices.Contains(v.app.Counts, n)) {
			break
		}
	}
	m, err := alloc.Measure(p, next, v.shares...)
	if err != nil || m.AdjustCost > m.AdjustBudget || m.FairnessLoss > d.Metrics.LossBudget+solver.LossTolerance {
		return "one more would break a budget"
	}
	return ""
}

// No reason says that as much or more is there than is needed.
func TestPropReasonsDoNotContradictThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		if rapid.Bool().Draw(t, "damaged") {
			damage(t, p)
		}
		d := quick(t, p)
		e, err := alloc.Explain(p, d)
		if err != nil {
			t.Fatal(err)
		}
		reasons := map[string]apportion.Reason{}
		for _, w := range append(d.Waiting, d.Suspended...) {
			reasons[w.ID+" waits"] = w.Reason
		}
		for _, s := range e.Applications {
			reasons[s.ID+" is stopped"] = s.Reason
		}
		for who, r := range reasons {
			// What brings just what it costs is not worth it.
			if price := r.Constraint == alloc.Restart || r.Constraint == alloc.Servers; price && r.Need == r.Have {
				continue
			}
			if r.Constraint != "" && r.Need <= r.Have && (r.Need != 0 || r.Have > 0) {
				t.Errorf("%s: %+v", who, r)
			}
		}
	})
}

// Every reason is true: why nobody has one container more, and why those wait that do.
func TestReasonsAreTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		// A cordoned server is as large as what is on it; what is left of it is nobody's.
		for j := range p.Servers {
			p.Servers[j].Cordoned = false
		}
		p.Options.AdmitPrefix = false // then P2 is about everybody, and the loss is that of the metrics
		d, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d.Status == alloc.Kept {
			for _, w := range d.Waiting {
				if w.Reason.Text != d.Reason.Text && w.Reason.Constraint != solver.Minimum && w.Reason.Constraint != solver.Capacity {
					t.Errorf("%s waits because of %+v, kept because of %+v", w.ID, w.Reason, *d.Reason)
				}
			}
			return
		}
		e, err := alloc.Explain(p, d)
		if err != nil {
			t.Fatal(err)
		}
		unservable := map[string]bool{}
		leftOut := map[string]bool{}
		for _, w := range append(d.Waiting, d.Suspended...) {
			leftOut[w.ID] = w.LeftOut && !p.Options.Paper
			unservable[w.ID] = w.Reason.Constraint == solver.Minimum || w.Reason.Constraint == solver.Capacity && w.Reason.Have == 0 && w.Reason.Applications != nil
		}
		shares := slices.Clone(d.Shares)
		for i := range shares {
			shares[i].Option = e.Applications[i].Option
		}
		for i := range e.Applications {
			s := &e.Applications[i]
			v := truthOf(using(p, shares), d, i)
			v.shares = shares
			if leftOut[s.ID] {
				if v.n > 0 || s.Text == "" || s.Constraint == "" {
					t.Errorf("%s is left out with %d because of %+v", s.ID, v.n, s.Reason)
				}
				continue
			}
			if unservable[s.ID] {
				if v.n > 0 || v.could > 0 && v.app.Min < 2 && math.Abs(s.Need-float64(max(1, v.app.Min))) > 0 && s.Kind == "" {
					t.Errorf("%s can never run: %+v", s.ID, s.Reason)
				}
				continue
			}
			if what := v.contradicts(p, d, &s.Reason); what != "" {
				t.Errorf("%s with %d of %d: %+v, and yet: %s", s.ID, v.n, v.app.Max, s.Reason, what)
			}
		}
	})
}
