// This file states derived kinds behind the others, so that one vector has all that shares, guarantees and ceilings are of,
// [Program §7], point 4.

package alloc

import (
	"errors"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/check"
)

// derivation returns what Derived says, nil where there is none of it.
func (p *Problem) derivation() (*drf.Derivation, error) {
	if len(p.Derived) == 0 || p.Kinds.Validate() != nil {
		return nil, nil // what is wrong with the kinds is told by them
	}
	return drf.Derive(p.Kinds, p.Derived)
}

// checkDerived adds what is wrong with derived kinds, and quantities of them that leave int64.
func (p *Problem) checkDerived(faults *apportion.Faults) {
	d, err := p.derivation()
	var found apportion.Faults
	errors.As(err, &found)
	*faults = append(*faults, found...)
	if d == nil || len(*faults) > 0 {
		return
	}
	fits := func(r apportion.Resources, item apportion.Item, field string) {
		if _, err := d.Extend(r); err != nil {
			faults.Add(item, field, apportion.ErrOverflow, "of derived kinds")
		}
	}
	for j := range p.Servers {
		fits(p.Servers[j].Capacity, check.Item("server", p.Servers[j].ID, j), "Capacity")
	}
	if total, err := check.Total(p.Servers, len(p.Kinds)); err == nil {
		fits(total, apportion.Item{}, "Servers")
	}
	for i := range p.Applications {
		app := &p.Applications[i]
		for form := range app.forms {
			fits(form.Demand, check.Item("application", app.ID, i), "Demand")
		}
	}
}

// checkDerivedUse adds the servers on which so much runs that it leaves int64 in derived kinds.
func (p *Problem) checkDerivedUse(faults *apportion.Faults, used []apportion.Resources) {
	d, err := p.derivation()
	if d == nil || err != nil {
		return
	}
	for j := range used {
		if _, err := d.Extend(used[j]); err != nil {
			faults.Add(check.Item("server", p.Servers[j].ID, j), "Previous", apportion.ErrOverflow, "of derived kinds")
		}
	}
}

// newTree is drf.NewTree of the problem's queues with its derived kinds, for what there is of the kinds.
func (p *Problem) newTree(total apportion.Resources, queues []drf.Queue) (*drf.Tree, error) {
	if d, err := p.derivation(); d != nil || err != nil {
		if err != nil {
			return nil, nil // told by itself
		}
		return d.NewTree(total, queues)
	}
	return drf.NewTree(total, queues)
}

// extended returns p with a quantity of each derived kind behind those of the kinds, of servers and of demands: a server that has room
// for the parts has room for what is derived from them. Everything else is shared with p.
func (r *resolved) extended(p *Problem) *Problem {
	d, _ := r.given.derivation()
	if d == nil {
		return p
	}
	e := *p
	e.Kinds, e.Servers, e.Applications = d.Kinds(), slices.Clone(p.Servers), slices.Clone(p.Applications)
	for j := range e.Servers {
		e.Servers[j].Capacity = must(d.Extend(e.Servers[j].Capacity))
	}
	for i := range e.Applications {
		e.Applications[i].Demand = must(d.Extend(e.Applications[i].Demand))
	}
	ones := make(apportion.Resources, len(e.Kinds))
	for k := range ones {
		ones[k] = 1
	}
	for _, shared := range d.Shared(ones) {
		r.part = append(r.part, shared == 0)
	}
	return &e
}

// isPart reports whether kind k counts as derived ones in shares and guarantees.
func (r *resolved) isPart(k int) bool { return r.part != nil && r.part[k] }

// ownKinds returns how many kinds there are that are not derived.
func (r *resolved) ownKinds() int { return len(r.given.Kinds) }

// stated returns a guarantee without what it has of parts, which is no limit of theirs.
func (r *resolved) stated(guarantee apportion.Resources) apportion.Resources {
	if r.part == nil || guarantee == nil {
		return guarantee
	}
	guarantee = guarantee.Clone()
	for k := range guarantee {
		if r.part[k] {
			guarantee[k] = 0
		}
	}
	return guarantee
}

// factor returns how much of the d-th derived kind a unit of kind k is.
func (p *Problem) factor(d, k int) int64 { return p.Derived[d].Of[p.Kinds[k]] }

// vectorKinds names the quantities that vectors of queues have: the kinds, and the derived ones behind them.
func (p *Problem) vectorKinds() apportion.Kinds {
	kinds := slices.Clone(p.Kinds)
	for i := range p.Derived {
		kinds = append(kinds, p.Derived[i].Kind)
	}
	return kinds
}
