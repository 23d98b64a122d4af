// This file says which kinds the containers of an application are worth their shares of, [Program §12].

package alloc

import (
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

// checkCompact adds what is wrong with the compact kinds, and with the rule about them.
func (p *Problem) checkCompact(faults *apportion.Faults) {
	for at, kind := range p.Compact {
		field := "Compact[" + strconv.Itoa(at) + "]"
		switch {
		case !slices.Contains(p.Kinds, kind):
			faults.Add(apportion.Item{}, field, apportion.ErrUnknown, strconv.Quote(kind))
		case slices.Contains(p.Compact[:at], kind):
			faults.Add(apportion.Item{}, field, apportion.ErrDuplicate, strconv.Quote(kind))
		}
	}
	if rule := p.Options.Worth; rule != WorthOfCompact && rule != WorthOfAllKinds {
		faults.Add(apportion.Item{}, "Options.Worth", apportion.ErrUnknown, strconv.Quote(string(rule)))
	}
}

// compactKinds returns the positions of the compact kinds, nil where none has an effect.
func (p *Problem) compactKinds() []int {
	if p.Options.Paper {
		return nil
	}
	var kinds []int
	for _, kind := range p.Compact {
		kinds = append(kinds, slices.Index(p.Kinds, kind))
	}
	return kinds
}

// usesCompact reports whether a container of this demand uses a compact kind.
func (r *resolved) usesCompact(demand apportion.Resources) bool {
	return slices.ContainsFunc(r.compact, func(k int) bool { return demand[k] > 0 })
}

// value returns v = sum_k d_k / C_k, what one container adds to (10), over the kinds of which the cluster has any, or over the compact ones
// alone where it uses one of these. Who demands another kind fits nowhere, and its value is never used.
func (r *resolved) value(demand apportion.Resources) float64 {
	alone := r.usesCompact(demand) && r.problem.Options.Worth == WorthOfCompact
	var value float64
	for k, d := range demand[:r.ownKinds()] {
		if r.total[k] > 0 && (!alone || slices.Contains(r.compact, k)) {
			value += float64(d) / float64(r.total[k])
		}
	}
	return value
}
