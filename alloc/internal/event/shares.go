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
	c.setRoom(g)
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

// setRoom counts how many containers of a group the empty servers hold, as far as the ceilings allow them.
func (c *Cluster) setRoom(g *group) {
	g.room = 0
	for _, s := range c.shapes {
		g.room += s.count * g.most(s.capacity)
	}
	g.room = min(g.room, c.below(g, func(at, k int) int64 { return c.ceilings[at].limit[k] }))
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
	least, most     int64 // how many members find room for the next number, in any order of applications
}

// division is what is left of the cluster as one server, and below each ceiling.
type division struct {
	c     *Cluster
	left  apportion.Resources
	below []apportion.Resources
}

func (c *Cluster) newDivision(total apportion.Resources) *division {
	d := &division{c: c, left: total.Clone()}
	for at := range c.ceilings {
		d.below = append(d.below, c.ceilings[at].limit.Clone())
	}
	return d
}

// take gives n containers to members of g.
func (d *division) take(g *group, n int64) {
	_ = exact.AddTimesTo(d.left, d.left, -n, g.given.Demand)
	for _, at := range g.above {
		_ = exact.AddTimesTo(d.below[at], d.below[at], -n, g.given.Demand)
	}
}

// room returns how many members of b find room for their next containers.
func (d *division) room(b *beyond) int64 {
	if b.more == 0 {
		return 0
	}
	n := min(b.g.given.Demand.CountIn(d.left), d.c.below(b.g, func(at, k int) int64 { return d.below[at][k] }))
	return min(n/b.more, b.g.members)
}

// short reports whether more was taken than there is of what members of g need.
func (d *division) short(g *group) bool {
	for k, need := range g.given.Demand {
		if need > 0 && (d.left[k] < 0 || slices.ContainsFunc(g.above, func(at int) bool { return d.below[at][k] < 0 })) {
			return true
		}
	}
	return false
}

// rounded returns what whole containers lose, as package alloc divides the cluster for that: the fewest of each, then the most within its
// share, and then the next number, first where least is lost by it. Where that depends on the order of applications it is between least
// and most.
func (c *Cluster) rounded(total apportion.Resources) (least, most float64) {
	// At any time of that division there is as much left as in scarce, and no more than in plenty.
	scarce, plenty := c.newDivision(total), c.newDivision(total)
	all := make([]beyond, len(c.groups))
	for at, g := range c.groups {
		all[at] = g.within()
		scarce.take(g, all[at].n*g.members)
	}
	var list, unsure []*beyond
	for at := range all {
		if b := &all[at]; scarce.short(b.g) {
			unsure = append(unsure, b)
		} else {
			list = append(list, b)
			plenty.take(b.g, b.n*b.g.members)
		}
	}
	// Not all of these get what is within their shares; which do is a matter of order.
	for _, b := range unsure {
		scarce.take(b.g, b.more*b.g.members)
		plenty.take(b.g, b.fewest*b.g.members)
		least += float64(float64(b.g.members) * b.g.app.LeastLoss(b.fewest, b.n+b.more))
		most += float64(float64(b.g.members) * b.g.app.MostLoss(b.fewest, b.n+b.more))
	}
	slices.SortStableFunc(list, func(a, b *beyond) int { return cmp.Compare(a.rise, b.rise) })
	for at := 0; at < len(list); {
		// Groups of one rise take turns in the order of their applications.
		end := at + 1
		for end < len(list) && list[end].rise <= list[at].rise+ranksTolerance {
			end++
		}
		turns(list[at:end], scarce, plenty)
		for ; at < end; at++ {
			low, high := list[at].losses()
			least, most = least+low, most+high
		}
	}
	return least, most
}

// turns finds how many members of groups that take turns find room for their next containers, and takes these.
func turns(list []*beyond, scarce, plenty *division) {
	for _, b := range list {
		b.most = plenty.room(b)
		scarce.take(b.g, b.more*b.most)
	}
	for _, b := range list {
		// So many find room even where all others have taken theirs.
		scarce.take(b.g, -b.more*b.most)
		b.least = min(b.most, scarce.room(b))
		scarce.take(b.g, b.more*b.most)
	}
	for _, b := range list {
		plenty.take(b.g, b.more*b.least)
	}
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

// losses returns the least and the most that the members may lose together.
func (b *beyond) losses() (least, most float64) {
	without, with := b.g.app.Loss(b.n), b.g.app.Loss(b.n+b.more)
	all := func(n int64) float64 { return float64(float64(n)*with) + float64(float64(b.g.members-n)*without) }
	x, y := all(b.least), all(b.most)
	return min(x, y), max(x, y)
}
