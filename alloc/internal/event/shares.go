// This file computes shares, values and budgets of the program anew, by groups, [Dorm §IV-A, §IV-B].

package event

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/exact"
)

// ceilTolerance is how far above an integer a product may lie and still count as that integer under a ceiling, as in package alloc.
const ceilTolerance = 1e-9

// ranksTolerance is how near to each other two losses are of which rounding may turn the order.
const ranksTolerance = 1e-12

// program is what the whole program says for the present servers and applications.
type program struct {
	total apportion.Resources
	// lossBudget is the right side of (15). Where it depends on the order of applications, which groups do not know, it is the least that it
	// may be, and mostLoss the most.
	lossBudget, mostLoss float64
	adjustBudget         int64
}

// number states what is known of a member of g whoever is in. O(shapes x kinds).
func (c *Cluster) number(g *group, total apportion.Resources) {
	g.setRoom(c.shapes)
	g.app = solver.App{Demand: g.given.Demand, Min: g.given.Min, Max: min(g.given.Max, max(1, g.given.Min, g.room)), Step: g.given.Step,
		Counts: g.given.Counts, PerServer: g.given.PerServer, MaxServers: g.given.MaxServers}
	for k, d := range g.given.Demand {
		if total[k] > 0 {
			g.app.Value += float64(d) / float64(total[k])
		}
	}
	g.app.Delta, _ = g.given.Demand.DominantShare(total)
}

// state computes the program of who is in. It returns a reason where groups alone do not say what it is.
// O(groups (log groups + levels) + DRF of the groups).
func (c *Cluster) state(total apportion.Resources) (p program, reason string) {
	p.total = total
	for _, g := range c.groups {
		if first := g.app.AtLeast(1); first < 0 || first > g.room || g.levels[len(g.levels)-1].n > g.app.Max {
			return p, "an application does not fit the empty cluster"
		}
	}
	if !c.setShares(p.total) {
		return p, "shares are beyond what groups can claim"
	}
	sum := 0.0
	for _, g := range c.groups {
		sum += float64(float64(g.members) * g.app.Share)
	}
	if c.rule.Printed {
		p.lossBudget = c.printed(p.total)
		p.mostLoss = p.lossBudget
		return p, ""
	}
	least, most := c.rounded(p.total)
	p.lossBudget, p.mostLoss = max(float64(c.rule.Theta1*sum), least), max(float64(c.rule.Theta1*sum), most)
	return p, ""
}

// printed returns the budget of (15) as the paper prints it: a part of the largest possible loss.
func (c *Cluster) printed(total apportion.Resources) float64 {
	kinds := 0
	for _, q := range total {
		kinds += int(min(q, 1))
	}
	budget := c.rule.Theta1 * float64(2*kinds)
	if c.rule.Ceil15 {
		budget = math.Max(0, math.Ceil(budget-ceilTolerance))
	}
	return budget
}

// setRoom counts how many containers of a group the empty servers hold.
func (g *group) setRoom(shapes []*shape) {
	g.room = 0
	for _, s := range shapes {
		g.room += s.count * g.most(s.capacity)
	}
}

// most returns how many containers of one member fit what is left on one server.
func (g *group) most(left apportion.Resources) int64 {
	n := g.given.Demand.CountIn(left)
	if g.given.PerServer > 0 {
		n = min(n, g.given.PerServer)
	}
	return n
}

// setShares gives every group the theoretical share of a member: those of equal claims are one claim of all they claim together, at the
// sum of their weights, which rises at the pace of each.
func (c *Cluster) setShares(total apportion.Resources) bool {
	claims := make([]drf.Claim, len(c.groups))
	for at, g := range c.groups {
		most := min(g.given.Max, max(1, g.room))
		most, fits := exact.Mul(most, g.members)
		if !fits {
			return false
		}
		claims[at] = drf.Claim{ID: strconv.Itoa(at), Demand: g.given.Demand, Weight: g.given.Weight * float64(g.members),
			Min: min(g.given.Min*g.members, most), Max: most, Queue: g.given.Queue}
		if claims[at].Weight < drf.MinWeight || claims[at].Weight > drf.MaxWeight {
			return false
		}
	}
	tree, err := drf.NewTree(total, c.rule.Queues)
	if err != nil {
		return false
	}
	filling, err := tree.Fill(claims)
	if err != nil || filling.ShortOf >= 0 {
		return false
	}
	for at, g := range c.groups {
		g.app.Share = filling.Claims[at].Share / float64(g.members)
	}
	return true
}

// beyond is the members of a group, each with its fewest containers, with the n within its share, and with the next number.
type beyond struct {
	g               *group
	fewest, n, more int64
	rise            float64
}

// room returns how many members find room for their next containers.
func (b *beyond) room(left apportion.Resources) int64 {
	return min(b.g.given.Demand.CountIn(left)/b.more, b.g.members)
}

// rounded returns what whole containers lose, as package alloc divides the cluster for that: the fewest of each, then the most within its
// share, and then the next number, first where least is lost by it. Where that depends on the order of applications it is between least
// and most.
func (c *Cluster) rounded(total apportion.Resources) (least, most float64) {
	left := total.Clone()
	list := make([]beyond, len(c.groups))
	for at, g := range c.groups {
		list[at] = g.within()
		_ = exact.AddTimesTo(left, left, -list[at].n*g.members, g.given.Demand)
	}
	if slices.Min(left) < 0 {
		// Not all groups get what is within their shares; which do is a matter of order.
		for at := range list {
			b, members := &list[at], float64(list[at].g.members)
			least += float64(members * b.g.app.LeastLoss(b.fewest, b.n+b.more))
			most += float64(members * b.g.app.MostLoss(b.fewest, b.n+b.more))
		}
		return least, most
	}
	slices.SortStableFunc(list, func(a, b beyond) int { return cmp.Compare(a.rise, b.rise) })
	clear := true
	for at := 0; at < len(list); {
		// Groups of one rise take turns in the order of their applications, which does not matter where there is room for all or for none.
		end, some, all := at, false, true
		needed := left.Clone()
		for ; end < len(list) && list[end].rise <= list[at].rise+ranksTolerance; end++ {
			if b := &list[end]; b.more > 0 {
				some = some || b.room(left) > 0
				all = all && b.room(needed) == b.g.members
				_ = exact.AddTimesTo(needed, needed, -b.more*b.room(needed), b.g.given.Demand)
			}
		}
		clear = clear && (end == at+1 || all || !some)
		for ; at < end; at++ {
			b := &list[at]
			low, high := b.losses(left, clear)
			least, most = least+low, most+high
		}
	}
	return least, most
}

// within returns the most containers that are within the share of a member of g, and the next number.
func (g *group) within() beyond {
	b := beyond{g: g}
	if g.given.Min > 0 {
		b.n = g.app.AtLeast(1)
	}
	within := g.app.Max
	if fair := g.app.Share/g.app.Delta + ceilTolerance; fair < float64(g.app.Max) {
		within = int64(fair)
	}
	b.fewest, b.n = b.n, max(b.n, g.app.AtMost(within))
	if more := g.app.AtLeast(b.n + 1); more > 0 {
		b.more, b.rise = more-b.n, g.app.Loss(more)-g.app.Loss(b.n)
	}
	return b
}

// losses gives the members their next containers as far as there is room in left, and returns what they lose; where it is not clear how many
// do, the least and the most that may be.
func (b *beyond) losses(left apportion.Resources, clear bool) (least, most float64) {
	members, without, with := float64(b.g.members), b.g.app.Loss(b.n), b.g.app.Loss(b.n+b.more)
	if !clear {
		return members * min(without, with), members * max(without, with)
	}
	n := int64(0)
	if b.more > 0 {
		n = b.room(left)
		_ = exact.AddTimesTo(left, left, -b.more*n, b.g.given.Demand)
	}
	loss := float64(float64(n)*with) + float64((members-float64(n))*without)
	return loss, loss
}
