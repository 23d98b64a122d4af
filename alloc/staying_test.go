package alloc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/rapidtest"
)

// cordonedOf lists the cordoned servers that an application is on.
func cordonedOf(p *alloc.Problem, on map[string]int64) (list []string) {
	for _, s := range p.Servers {
		if s.Cordoned && on[s.ID] > 0 {
			list = append(list, s.ID)
		}
	}
	return list
}

// genDrained draws a problem without options, of which what was decided first runs when servers are cordoned.
func genDrained(t *rapid.T) (*alloc.Problem, *alloc.Decision) {
	p := genProblem(t)
	p.Options.Paper = false
	for j := range p.Servers {
		p.Servers[j].Cordoned = false
	}
	goOn(p, quick(t, p))
	for j := range p.Servers {
		p.Servers[j].Cordoned = rapid.Bool().Draw(t, "cordoned")
	}
	return p, quick(t, p)
}

// movable returns how many containers of an application have room on servers that are not cordoned once it has left all that it is on.
func movable(p *alloc.Problem, d *alloc.Decision, i int) (fits int64) {
	app := &p.Applications[i]
	without := d.Allocation.Clone()
	delete(without, app.ID)
	for j, left := range leftUnder(p, without) {
		if mayCome(app, &p.Servers[j]) {
			n := app.Demand.CountIn(left)
			if app.PerServer > 0 {
				n = min(n, app.PerServer)
			}
			fits += n
		}
	}
	return fits
}

// Who is on a cordoned server is listed, with its servers and a reason that is true, and nobody else is. Verify takes the list as it is,
// and refuses each change of it.
func TestPropStayingIsTrue(t *testing.T) {
	seen := map[string]int{}
	all := func() bool { return seen["pin"] > 0 && seen["budget"] > 0 && seen["room"] > 0 }
	rapidtest.Until(t, "not every reason", all, func(t *rapid.T) {
		p, d := genDrained(t)
		staying := slices.Clone(d.Staying)
		for i, app := range p.Applications {
			servers := cordonedOf(p, d.Allocation[app.ID])
			at := slices.IndexFunc(staying, func(s alloc.Staying) bool { return s.ID == app.ID })
			if (at >= 0) != (servers != nil) || at >= 0 && !slices.Equal(staying[at].Servers, servers) {
				t.Fatalf("%s is on %v of the cordoned: %+v", app.ID, servers, d.Staying)
			}
			if at < 0 || app.Options != nil {
				continue
			}
			r := &staying[at].Reason
			if s := tooLong(r.Text); s != "" {
				t.Errorf("a long sentence: %s", s)
			}
			blocked := func(cause string) *apportion.Blocker {
				if at := slices.IndexFunc(r.Blockers, func(b apportion.Blocker) bool { return b.Cause == cause }); at >= 0 {
					return &r.Blockers[at]
				}
				return nil
			}
			budget := blocked(alloc.ByBudget)
			switch {
			case app.Pinned:
				seen["pin"]++
				if blocked(alloc.ByPin) == nil {
					t.Errorf("%s is pinned: %s", app.ID, r.Text)
				}
			case budget != nil && slices.Equal(budget.Applications, []string{app.ID}):
				seen["budget"]++
				cost := int64(1)
				if app.AdjustCost != nil {
					cost = *app.AdjustCost
				}
				if d.Metrics.AdjustCost+cost <= d.Metrics.AdjustBudget || budget.Need != d.Metrics.AdjustCost+cost {
					t.Errorf("the move of %s is within %d: %+v", app.ID, d.Metrics.AdjustBudget, budget)
				}
			case strings.HasSuffix(r.Text, "the next decision may move it"):
				if movable(using(p, d.Shares), d, i) < max(1, app.Min) {
					t.Errorf("%s has no room elsewhere: %s", app.ID, r.Text)
				}
			default:
				seen["room"]++
				if n := movable(using(p, d.Shares), d, i); n < r.Fits || app.MaxServers == 0 && app.Within == "" && p.Queues == nil && d.Reservations == nil && n >= r.Asked {
					t.Errorf("%d of %s fit elsewhere: %+v", n, app.ID, r)
				}
			}
		}
		if len(d.Staying) == 0 {
			return
		}
		for what, change := range map[string]func(s *alloc.Staying){
			"id": func(s *alloc.Staying) { s.ID += "x" }, "servers": func(s *alloc.Staying) { s.Servers = append([]string{"x"}, s.Servers...) },
			"text": func(s *alloc.Staying) { s.Reason.Text += "." }, "fits": func(s *alloc.Staying) { s.Reason.Fits++ },
			"blockers": func(s *alloc.Staying) { s.Reason.Blockers = nil },
		} {
			d.Staying = slices.Clone(staying)
			change(&d.Staying[0])
			if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(err.Error(), "Staying") {
				t.Errorf("another %s: %v", what, err)
			}
		}
		d.Staying = staying
		if proof, err := alloc.Verify(p, d); err != nil || slices.Contains(proof.Unchecked, "Staying") {
			t.Errorf("%v, %v", proof.Unchecked, err)
		}
		d.Staying = nil
		if proof, err := alloc.Verify(p, d); err != nil || !slices.Contains(proof.Unchecked, "Staying") {
			t.Errorf("a decision of before: %v, %v", proof.Unchecked, err)
		}
	})
}

// What a remedy says is so: with it the application leaves, when the same is decided again.
func TestPropStayingRemediesHelp(t *testing.T) {
	tried, helped := map[string]int{}, map[string]int{}
	rapidtest.Until(t, "few remedies", func() bool { return len(tried) > 2 && tried["server"] > 0 }, func(t *rapid.T) {
		p, d := genDrained(t)
		// Others that leave first take from the budget, and so does what another option restarts.
		if len(d.Staying) > 1 || slices.ContainsFunc(p.Applications, func(a alloc.Application) bool { return a.Options != nil }) {
			return
		}
		for _, s := range d.Staying {
			for _, m := range s.Reason.Remedies {
				q := *p
				q.Servers, q.Applications = slices.Clone(p.Servers), slices.Clone(p.Applications)
				q.Previous, q.Settled = d.Allocation.Clone(), nil
				// Newcomers and more containers of others may have the room in its place.
				q.Applications = slices.DeleteFunc(q.Applications, func(a alloc.Application) bool {
					return d.Allocation.Containers(a.ID) == 0 || m.Change == alloc.Suspend && a.ID == m.Applications[0]
				})
				if m.Change == alloc.Suspend {
					q.Theta2 = 1 // of one that runs no more the budget has no part
				}
				apply(&q, s.ID, &m)
				tried[m.Change+m.Setting]++
				if again := quick(t, &q); cordonedOf(&q, again.Allocation[s.ID]) == nil {
					helped[m.Change+m.Setting]++
				} else {
					t.Logf("%+v: %s stays, since %s; then: %+v", m, s.ID, s.Reason.Text, again.Staying)
				}
			}
		}
	})
	t.Log(tried, helped)
	for change, n := range tried {
		if n >= 10 && helped[change]*10 < n*9 {
			t.Errorf("%s: %d of %d helped", change, helped[change], n)
		}
	}
}
