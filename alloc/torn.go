// This file says in words what servers beyond the fewest cost an application, and which other one would have to move to end that,
// [Program §14].

package alloc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Servers is the constraint that a server more costs more than what the next containers would bring.
const Servers solver.Constraint = "price of a server"

// serverPrice returns what next containers of application a would lose by their servers beyond what it loses now: on those that it is on if
// they have room, else on one more at least.
func (s *stopper) serverPrice(a int, next int64) float64 {
	app, placed := &s.instance.Apps[a], s.counts[a]
	n, on := solver.Containers(placed), int64(len(placed))
	room := int64(0)
	for _, p := range placed {
		room += min(s.more(a, p.Server), next)
	}
	then, now := app.Torn(next), app.Torn(n)
	lost := now.On(on)
	if room < next-n {
		on++
	}
	return then.On(on) - lost
}

// tearing is the reason where the next containers would bring no more than a server more costs; none where they would bring more.
func (s *stopper) tearing(a int, next int64, gain float64) apportion.Reason {
	app := &s.instance.Apps[a]
	if app.Spread == nil {
		return apportion.Reason{}
	}
	more := next - solver.Containers(s.counts[a])
	if app.Worth == nil {
		gain += float64(app.Value * float64(more-1))
	}
	price, where := s.serverPrice(a, next), "on a server more"
	if domains := s.domainPrice(a, next); domains > 0 {
		i := s.apps[a]
		price, where = price+domains, "in a "+s.problem.Applications[i].Prefer+" more"
	}
	if price <= 0 || gain > price {
		return apportion.Reason{}
	}
	return apportion.Reason{Constraint: Servers, Need: price, Have: gain,
		Text: fmt.Sprintf("there is room, but %s, which costs %.4g, and %d more would bring %.4g", where, price, more, gain)}
}

// domainPrice returns what next containers of application a would lose by their domains beyond what it loses now: in those that it is in if
// they have room, else in one more of the level that it prefers.
func (s *stopper) domainPrice(a int, next int64) float64 {
	i, placed := s.apps[a], s.counts[a]
	if !s.r.prefers(i) || len(placed) == 0 {
		return 0
	}
	level, used := s.r.wishes[i].Prefer, s.r.domainsUsedBy(i, placed)
	in, _ := s.r.domainsOf(level, placed)
	room := int64(0)
	for j := range s.problem.Servers {
		if slices.Contains(in, s.r.topology.Of(level, j)) {
			room += s.more(a, j)
		}
	}
	if room < next-solver.Containers(placed) {
		used[level]++
	}
	return s.r.apartIn(i, next, used) - s.r.apart(i, placed)
}

// spreadText says what application a loses by its servers and by its domains, and which other one would have to move to end the former;
// empty where it loses nothing.
func (s *stopper) spreadText(a int) string {
	texts := []string{s.serversText(a), s.apartText(a)}
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "; ")
}

// apartText is spreadText for domains.
func (s *stopper) apartText(a int) string {
	i := s.apps[a]
	lost := s.r.apart(i, s.counts[a])
	if lost == 0 {
		return ""
	}
	var on []string
	for level, used := range s.r.domainsUsedBy(i, s.counts[a]) {
		on = append(on, count(int64(used), s.problem.Topology[level]))
	}
	return fmt.Sprintf("in %s, which is more than it needs: %.4g lost", strings.Join(on, " and "), lost)
}

// serversText is spreadText for servers.
func (s *stopper) serversText(a int) string {
	app, placed := &s.instance.Apps[a], s.counts[a]
	if app.Spread == nil {
		return ""
	}
	n, on := solver.Containers(placed), int64(len(placed))
	torn := app.Torn(n)
	lost := torn.On(on)
	switch {
	case lost <= 0:
		return ""
	case torn.Lost != nil:
		return fmt.Sprintf("%s: %.4g less than on the best number of them", count(on, "server"), lost)
	}
	text := fmt.Sprintf("%s instead of %s: %.4g lost", count(on, "server"), inWords(torn.Fewest), lost)
	switch b := s.mover(a); {
	case b == a:
		return text + "; it would have to move itself"
	case b >= 0:
		return text + "; moving " + listIDs([]string{s.id(b)}) + " would mend it"
	}
	return text
}

// id returns the ID of application a of the instance.
func (s *stopper) id(a int) string { return s.problem.Applications[s.apps[a]].ID }

// inWords returns a number in words up to twelve.
func inWords(n int64) string {
	words := strings.Fields("none one two three four five six seven eight nine ten eleven twelve")
	if n < int64(len(words)) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// count returns a number of things in words.
func count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return inWords(n) + " " + thing
}

// mover returns the application whose move would let application a have its containers on the fewest servers, of several that with the
// fewest containers: a itself where there is room for that as it is, -1 where no single one is enough. It is asked of applications that are
// not pinned and have room elsewhere. O(applications on servers + servers for each that makes room).
func (s *stopper) mover(a int) int {
	if s.gathers(a, -1) {
		return a
	}
	best, fewest := -1, int64(0)
	for b := range s.counts {
		n := solver.Containers(s.counts[b])
		if b == a || n == 0 || s.instance.Apps[b].Pinned || best >= 0 && n >= fewest {
			continue
		}
		if s.gathers(a, b) {
			best, fewest = b, n
		}
	}
	return best
}

// gathers reports whether application a fits on its fewest servers if it is placed anew, and b too, which then has room elsewhere on no more
// servers than now; without b where that is -1.
func (s *stopper) gathers(a, b int) bool {
	app, n := &s.instance.Apps[a], solver.Containers(s.counts[a])
	left := make(map[int]apportion.Resources) // of servers where that is not what is left now
	free := func(i int) {
		for _, p := range s.counts[i] {
			if left[p.Server] == nil {
				left[p.Server] = s.left[p.Server].Clone()
			}
			for k, d := range s.instance.Apps[i].Demand {
				left[p.Server][k] += p.Count * d
			}
		}
	}
	free(a)
	if b >= 0 {
		free(b)
	}
	for range app.Spread.Fewest(n) {
		j, most := s.roomiest(a, left)
		if most == 0 {
			return false
		}
		most = min(most, n)
		s.charge(left, a, j, most)
		n -= most
	}
	if n > 0 || b < 0 {
		return n == 0
	}
	// On more servers than now it would be torn in its place.
	need := solver.Containers(s.counts[b])
	for range s.counts[b] {
		j, most := s.roomiest(b, left)
		most = min(most, need)
		s.charge(left, b, j, most)
		need -= most
	}
	return need == 0
}

// roomiest returns the server that holds most of application i, and how many, where left says what is left of servers that have changed.
func (s *stopper) roomiest(i int, left map[int]apportion.Resources) (server int, most int64) {
	consider := func(j int, room apportion.Resources) {
		if !s.instance.Open(i, j) {
			return
		}
		n := s.instance.Apps[i].Demand.CountIn(room)
		if limit := s.instance.Apps[i].PerServer; limit > 0 {
			n = min(n, limit)
		}
		if n > most || n == most && n > 0 && j < server {
			server, most = j, n
		}
	}
	// Of servers that are alike one that has not changed stands for all.
	for at, group := range s.shapes {
		j := group.server
		for changed := left[j] != nil; changed; changed = j >= 0 && left[j] != nil {
			next := slices.Index(s.shapeOf[j+1:], at)
			if next < 0 {
				j = -1
			} else {
				j += 1 + next
			}
		}
		if j >= 0 {
			consider(j, s.left[j])
		}
	}
	for j, room := range left {
		consider(j, room)
	}
	return server, most
}

// charge takes n containers of application i from server j.
func (s *stopper) charge(left map[int]apportion.Resources, i, j int, n int64) {
	if left[j] == nil {
		left[j] = s.left[j].Clone()
	}
	for k, d := range s.instance.Apps[i].Demand {
		left[j][k] -= n * d
	}
}

// tornWarnings lists the applications that stay torn although a move would end that, because it costs no less. The prices that nobody has
// stated need no warning.
func (s *stopper) tornWarnings(r *resolved) []string {
	var found []string
	for a := range s.counts {
		app := &s.instance.Apps[a]
		if app.Spread == nil || app.Spread.Lost != nil || r.problem.Options.RestartCost == nil && r.problem.Applications[s.apps[a]].SpreadCost == nil {
			continue
		}
		torn := app.Torn(solver.Containers(s.counts[a]))
		lost := torn.On(int64(len(s.counts[a])))
		if lost <= 0 {
			continue
		}
		b := s.mover(a)
		if b < 0 {
			continue
		}
		// Both move: what is placed anew by this decision does so for nothing.
		movers, price := []string{s.id(b)}, s.restart(r, b)
		if own := s.restart(r, a); b != a && own > 0 {
			movers, price = append(movers, s.id(a)), price+own
		}
		if price >= lost {
			found = append(found, fmt.Sprintf("spread_cost takes %.4g from %s, which stays torn: to move %s would cost %.4g", lost, listIDs([]string{s.id(a)}), listIDs(movers), price))
		}
	}
	return found
}

// restart returns what a change of application a costs, which stays as it is; nothing where it does not.
func (s *stopper) restart(r *resolved, a int) float64 {
	app := &s.instance.Apps[a]
	if !app.Running || app.Adjusted(s.counts[a]) {
		return 0
	}
	return restartOf(&r.problem.Applications[s.apps[a]], app)
}
