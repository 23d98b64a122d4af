// This file implements derived kinds: sums of other kinds, by which shares are compared in their place.

package drf

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// Derived is a kind that is counted from others, as gpu_equivalent = 10 t4 + 38 a100.
type Derived struct {
	// Kind is its name, which no other kind has.
	Kind string `json:"kind"`
	// Of says how many units of it one unit of a kind is: 0 or more, of one kind at least 1.
	Of map[string]int64 `json:"of"`
}

// Derivation is a list of kinds and those that are derived from them, checked. It never changes.
//
// A derived kind counts in shares, guarantees and ceilings in place of its parts: what somebody has of a part counts in shares
// and guarantees as so much of the derived kind and as nothing else. In ceilings both count. It is never a capacity of its own,
// for it is used up when all of its parts are.
//
// In what a tree of [Derivation.NewTree] takes and gives, every vector has a quantity of each derived kind behind those of
// the kinds; [Derivation.Extend] adds them. [VerifyTree] leaves out there what is not promised: envy between siblings, and
// the sharing incentive.
type Derivation struct {
	kinds apportion.Kinds
	// factors has one vector over the kinds for each derived one.
	factors []apportion.Resources
	base    int // kinds that are not derived
}

// Derive returns the derivation. The error is [apportion.Faults]: no kinds, names that are empty or there twice, a part that is
// no kind (ErrUnknown), a derived kind among them, a negative factor (ErrNegative), no part at all (ErrEmpty).
func Derive(kinds apportion.Kinds, derived []Derived) (*Derivation, error) {
	var faults apportion.Faults
	if err := kinds.Validate(); err != nil {
		errors.As(err, &faults)
	}
	d := &Derivation{kinds: slices.Clone(kinds), base: len(kinds)}
	seen, at := make(map[string]bool), make(map[string]int)
	for k, kind := range kinds {
		seen[kind], at[kind] = true, k
	}
	for i := range derived {
		item := check.Item("derived kind", derived[i].Kind, i)
		check.ID(&faults, seen, derived[i].Kind, item)
		factors := make(apportion.Resources, len(kinds))
		for _, part := range slices.Sorted(maps.Keys(derived[i].Of)) {
			k, known := at[part]
			switch factor := derived[i].Of[part]; {
			case !known:
				faults.Add(item, "Of", apportion.ErrUnknown, strconv.Quote(part))
			case factor < 0:
				faults.Add(item, "Of["+part+"]", apportion.ErrNegative, strconv.FormatInt(factor, 10))
			default:
				factors[k] = factor
			}
		}
		if factors.IsZero() {
			faults.Add(item, "Of", apportion.ErrEmpty, "")
		}
		d.kinds, d.factors = append(d.kinds, derived[i].Kind), append(d.factors, factors)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// Kinds returns the kinds and then the derived ones, in their orders.
func (d *Derivation) Kinds() apportion.Kinds { return slices.Clone(d.kinds) }

// Extend returns quantities of the kinds, and of the derived ones behind them. The error is [apportion.Faults]: a vector of the
// wrong length, a negative quantity, a sum that leaves int64 (ErrOverflow).
func (d *Derivation) Extend(r apportion.Resources) (apportion.Resources, error) {
	var faults apportion.Faults
	check.Resources(&faults, d.kinds[:d.base], r, apportion.Item{}, "Resources")
	if err := faults.Err(); err != nil {
		return nil, err
	}
	extended := append(make(apportion.Resources, 0, len(d.kinds)), r...)
	for i := range d.factors {
		sum, ok := d.sum(i, r)
		if !ok {
			faults.Add(apportion.Item{}, "Resources["+d.kinds[d.base+i]+"]", apportion.ErrOverflow, "")
		}
		extended = append(extended, sum)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return extended, nil
}

// sum returns how much of the i-th derived kind r is, and whether that fits int64.
func (d *Derivation) sum(i int, r apportion.Resources) (sum int64, ok bool) {
	for k, factor := range d.factors[i] {
		product, fits := exact.Mul(factor, r[k])
		if !fits {
			return 0, false
		}
		if sum, fits = exact.Add(sum, product); !fits {
			return 0, false
		}
	}
	return sum, true
}

// isPart reports whether kind k counts as a derived one.
func (d *Derivation) isPart(k int) bool {
	return k < d.base && slices.ContainsFunc(d.factors, func(factors apportion.Resources) bool { return factors[k] > 0 })
}

// check adds where r, which has the right length, is not what Extend makes of its kinds. A nil derivation has no derived kinds.
func (d *Derivation) check(faults *apportion.Faults, r apportion.Resources, item apportion.Item, field string) {
	if d == nil || len(r) != len(d.kinds) {
		return
	}
	for i := range d.factors {
		k := d.base + i
		if sum, ok := d.sum(i, r); !ok || sum != r[k] {
			faults.Add(item, field+"["+d.kinds[k]+"]", apportion.ErrConflict, fmt.Sprintf("%d, its parts are %d", r[k], sum))
		}
	}
}

// NewTree is [NewTree] with derived kinds: capacity has the kinds, vectors of queues have those and the derived ones. Beside what
// NewTree refuses, a capacity whose sums leave int64 is ErrOverflow, and what is guaranteed of a part, where the derived kind
// counts, ErrConflict.
func (d *Derivation) NewTree(capacity apportion.Resources, queues []Queue) (*Tree, error) {
	extended, err := d.Extend(capacity)
	if err != nil {
		return nil, err
	}
	if err := validateQueues(extended, queues); err != nil {
		return nil, err
	}
	var faults apportion.Faults
	for i := range queues {
		for k, q := range queues[i].Guarantee {
			if q > 0 && d.isPart(k) {
				faults.Add(check.Item("queue", queues[i].ID, i), "Guarantee["+d.kinds[k]+"]", apportion.ErrConflict,
					fmt.Sprintf("%d of a kind that counts as a derived one", q))
			}
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	t := newTree(extended, queues)
	t.derived = d
	t.shared = d.Shared(extended)
	for at := range t.nodes {
		// A container is within a guarantee whatever it has of parts, but nothing is within one of nothing at all.
		if n := &t.nodes[at]; !n.guarantee.IsZero() {
			for k := range n.guarantee {
				if d.isPart(k) {
					n.guarantee[k] = NoLimit
				}
			}
		}
	}
	return t, nil
}

// Shared returns what shares are taken of where there is so much of the kinds and the derived ones: a copy with 0 of each kind that
// counts as a derived one. A nil derivation has no derived kinds.
func (d *Derivation) Shared(total apportion.Resources) apportion.Resources {
	shared := total.Clone()
	for k := range shared {
		if d != nil && d.isPart(k) {
			shared[k] = 0
		}
	}
	return shared
}

func (t *Tree) isPart(k int) bool { return t.derived != nil && t.derived.isPart(k) }
