// This file finds the least single changes that each let an application in that was left out: one server, one job, one setting.

package alloc

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// The changes of an apportion.Remedy.
const (
	// ChangeSetting: Setting has the value Value, for which Applications make room where there are any.
	ChangeSetting = "setting"
	// Uncordon: Server takes new containers.
	Uncordon = "uncordon"
	// AnotherServer: there is one more like Server, empty.
	AnotherServer = "server"
	// Suspend: Applications have no containers.
	Suspend = "suspend"
)

const (
	// mostSought is for how many sorts of newcomers of one decision remedies are looked for: it bounds time.
	mostSought = 64
	// mostSuspended is how many jobs are tried of those without which there could be room: it bounds time.
	mostSuspended = 8
)

// remedies lists what lets n containers of entry i in, the cheapest first. t is what keeps them off the servers.
func (v *view) remedies(i int, n int64, t *tally, reason *apportion.Reason) []apportion.Remedy {
	if v.sought == mostSought {
		return nil
	}
	v.sought++
	var list []apportion.Remedy
	if v.r.wishes[i] == nil { // a server is no help where it is in another domain
		list = v.settings(i, n, t, reason.Blockers)
	}
	if v.r.wishes[i] == nil && reason.Constraint != solver.Ceiling {
		list = append(append(list, v.uncordoned(i, n, t)...), v.another(i, n, t)...)
	}
	if v.draft != nil {
		list = append(list, v.suspensions(i, n, t)...)
	}
	slices.SortStableFunc(list, func(a, b apportion.Remedy) int { return cmp.Compare(a.Price, b.Price) })
	return list
}

// settings lists the settings that are enough by themselves.
func (v *view) settings(i int, n int64, t *tally, blockers []apportion.Blocker) (list []apportion.Remedy) {
	app := &v.r.problem.Applications[i]
	ceilings := 0
	for at := range blockers {
		if blockers[at].Cause == ByCeiling {
			ceilings++
		}
	}
	for at := range blockers {
		switch b := &blockers[at]; {
		case b.Cause == ByCeiling && ceilings == 1 && t.fits >= n:
			list = append(list, apportion.Remedy{Change: ChangeSetting, Setting: b.Setting, Value: float64(b.Limit) + float64(b.Need) - float64(b.Free)})
		case b.Cause == ByMaxServers && ceilings == 0:
			fewest := sort.Search(len(v.r.problem.Servers), func(more int) bool { return largest(slices.Clone(t.rooms), int64(more)+1) >= n }) + 1
			list = append(list, apportion.Remedy{Change: ChangeSetting, Setting: b.Setting, Value: float64(fewest)})
		case b.Cause == ByPerServer && ceilings == 0 && t.without(n, app.MaxServers) >= n:
			fewest := sort.Search(int(min(n, 1<<31)), func(more int) bool { return t.without(int64(more)+1, app.MaxServers) >= n }) + 1
			list = append(list, apportion.Remedy{Change: ChangeSetting, Setting: b.Setting, Value: float64(fewest)})
		case b.Cause == ByBudget && v.costs() > 0:
			r := apportion.Remedy{Change: ChangeSetting, Setting: b.Setting, Value: float64(b.Need) / float64(v.costs()), Applications: b.Applications}
			positions := appIndex(v.r.given.Applications)
			for _, id := range b.Applications {
				r.Price += v.r.price(positions[id])
			}
			list = append(list, r)
		}
	}
	return list
}

// costs is the sum of which theta2 is a part.
func (v *view) costs() (sum int64) {
	for w := range v.r.previous {
		if v.r.running(w) {
			sum += v.r.ownCost(w)
		}
	}
	return sum
}

// without returns how many containers have room if so many may be on one server, by what is left there.
func (t *tally) without(perServer, servers int64) int64 {
	list := slices.Clone(t.unruled)
	for at := range list {
		list[at].room = min(list[at].room, perServer)
	}
	return largest(list, servers)
}

// with returns how many containers have room if one server more has room for so many.
func (t *tally) with(more, servers int64) int64 {
	if servers == 0 {
		return t.fits + more
	}
	return largest(append(slices.Clone(t.rooms), rooms{more, 1}), servers)
}

// onOne returns how many containers of entry i so much room is for, on one server.
func (v *view) onOne(i int, room apportion.Resources) int64 {
	app := &v.r.problem.Applications[i]
	n := app.Demand.CountIn(room)
	if app.PerServer > 0 {
		n = min(n, app.PerServer)
	}
	return n
}

// uncordoned is the first cordoned server with enough room, if there is one.
func (v *view) uncordoned(i int, n int64, t *tally) []apportion.Remedy {
	servers, app := v.r.problem.Servers, &v.r.problem.Applications[i]
	for j := range servers {
		if !servers[j].Cordoned || !v.r.open.suits(i, j) || on(v.from, j) > 0 {
			continue
		}
		left := servers[j].Capacity
		if v.draft != nil {
			left = left.Clone()
			for k := range left {
				left[k] -= v.r.capacity[j][k] - v.draft.left[j][k]
			}
		}
		if t.with(v.onOne(i, left), app.MaxServers) >= n {
			return []apportion.Remedy{{Change: Uncordon, Server: servers[j].ID}}
		}
	}
	return nil
}

// another is the first server of which one more would be enough, if there is one.
func (v *view) another(i int, n int64, t *tally) []apportion.Remedy {
	servers, app := v.r.problem.Servers, &v.r.problem.Applications[i]
	for _, s := range v.shapes {
		j := s.server
		if !servers[j].Cordoned && v.r.open.suits(i, j) && t.with(v.onOne(i, servers[j].Capacity), app.MaxServers) >= n {
			return []apportion.Remedy{{Change: AnotherServer, Server: servers[j].ID}}
		}
	}
	return nil
}

// suspensions are the cheapest job without which there is room, and the cheapest that Options.Preempt would let go.
func (v *view) suspensions(i int, n int64, t *tally) (list []apportion.Remedy) {
	d := v.draft
	capped := d.ceilingRoom(i) < d.least(i)
	found, preempted, tried := false, false, 0
	ranks := v.byWorth()
	for at := range v.given {
		v.given[at] = -1
	}
	for at, c := range ranks {
		if tried == mostSuspended {
			break
		}
		like := v.likes[at]
		if v.given[like] < 0 {
			v.given[like] = v.gives(i, c.w, t)
		}
		if v.given[like] < n && !(capped && d.sharesCeiling(i, c.w)) || v.r.of[c.w] == v.r.of[i] {
			continue
		}
		tried++
		preempt := !preempted && v.couldBePreempted(i, c.w)
		if found && !preempt || !v.roomWithout(i, n, c.w) {
			continue
		}
		one := apportion.Remedy{Change: Suspend, Applications: []string{v.r.problem.Applications[c.w].ID}, Price: max(0, c.worth)}
		if !found {
			list = append(list, one)
		}
		if preempt {
			one.Change, one.Setting, one.Value = ChangeSetting, "options.preempt", 1
			list = append(list, one)
		}
		found, preempted = true, preempted || preempt
	}
	return list
}

// ranked is an application with containers, and what it brings.
type ranked struct {
	w     int
	worth float64
}

// byWorth lists the applications with containers, those that bring least under the allocation of the view first, and of equals in their
// order. Those are alike that take the same of servers that are alike: to a newcomer they give the same. It is put together for the first
// question: thousands follow it.
func (v *view) byWorth() []ranked {
	if v.ranks == nil {
		v.ranks = []ranked{}
		for w, placed := range v.draft.counts {
			if len(placed) > 0 {
				v.ranks = append(v.ranks, ranked{w, v.r.netWorth(v.r.of[w], v.draft.counts)})
			}
		}
		slices.SortStableFunc(v.ranks, func(a, b ranked) int { return cmp.Compare(a.worth, b.worth) })
		var shapes []shape
		shapes, v.likes = shapesOf(len(v.ranks), func(to []byte, at int) []byte {
			w := v.ranks[at].w
			to = appendVector(to, v.r.problem.Applications[w].Demand)
			for _, p := range v.draft.counts[w] {
				to = appendVector(to, apportion.Resources{int64(v.r.open.class[p.Server]), int64(v.shapeOf[p.Server]), p.Count})
			}
			return to
		})
		v.given = make([]int64, len(shapes))
	}
	return v.ranks
}

// gives returns at most how many containers of entry i have room once application w has none.
func (v *view) gives(i, w int, t *tally) int64 {
	app, sum := &v.r.problem.Applications[i], t.fits
	for _, p := range v.draft.counts[w] {
		if !v.r.mayCome(i, p.Server) {
			continue
		}
		room := v.room(i, p.Server)
		before := v.onOne(i, room)
		if app.MaxServers > 0 {
			before = 0
		}
		v.scratch = append(v.scratch[:0], room...)
		for k, q := range v.r.problem.Applications[w].Demand {
			v.scratch[k] += p.Count * q
		}
		sum += v.onOne(i, v.scratch) - before
	}
	return sum
}

// roomWithout reports whether n containers of entry i have room once application w has none.
func (v *view) roomWithout(i int, n int64, w int) bool {
	d := v.draft
	placed := d.remove(w)
	fits := d.place(i, n)
	d.remove(i)
	d.put(w, placed)
	return fits
}

// lead is how a sentence begins that says what would help.
func (v *view) lead() string {
	switch {
	case v.draft == nil:
		return "the empty cluster would hold it with "
	case v.from != nil:
		return "it would leave with "
	}
	return "it would be let in with "
}

// shownRemedies is how many remedies a sentence has; all are in the data.
const shownRemedies = 3

// remediesText says what would let it in, after these words.
func remediesText(lead string, list []apportion.Remedy) string {
	var parts []string
	for at := range list[:min(len(list), shownRemedies)] {
		switch m := &list[at]; m.Change {
		case Uncordon:
			parts = append(parts, listIDs([]string{m.Server})+" uncordoned")
		case AnotherServer:
			parts = append(parts, "another server like "+listIDs([]string{m.Server}))
		case Suspend:
			parts = append(parts, fmt.Sprintf("%s suspended (price %.3g)", listIDs(m.Applications), m.Price))
		default:
			name := m.Setting[strings.LastIndex(m.Setting, ".")+1:]
			value := strconv.FormatFloat(m.Value, 'g', 3, 64)
			if m.Setting == "options.preempt" {
				value = "true"
			}
			parts = append(parts, name+"="+value)
		}
	}
	if parts == nil {
		return ""
	}
	return lead + strings.Join(parts, ", or ")
}
