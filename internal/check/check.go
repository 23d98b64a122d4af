// This file holds the checks of input that every package shares.

// Package check finds what is wrong with the parts of an input that every package takes: servers,
// vectors of quantities, names and weights. It adds each fault to an [apportion.Faults], so that a
// caller learns all of them at once.
package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// Item names the index-th thing of a list of that kind, for instance check.Item("server", id, j).
// An item without an ID is told by its index, so that both are wanted.
func Item(kind, id string, index int) apportion.Item {
	return apportion.Item{Kind: kind, ID: id, Index: index}
}

// Total returns the sum of all capacities: kinds quantities, [apportion.ErrOverflow] where one leaves
// int64. Every capacity must have that many quantities.
func Total(servers []apportion.Server, kinds int) (apportion.Resources, error) {
	// The sum starts at zero for every kind, also where there is no server.
	total := make(apportion.Resources, kinds)
	for _, server := range servers {
		if err := exact.AddTo(total, total, server.Capacity); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// Resources adds to faults what is wrong with r as a vector over kinds: a wrong length
// (apportion.ErrLength) or a negative quantity (apportion.ErrNegative), under the given item and
// field.
func Resources(faults *apportion.Faults, kinds apportion.Kinds, r apportion.Resources, item apportion.Item, field string) {
	// A wrong length is the only fault then: which quantity belongs to which kind is not known.
	if len(r) != len(kinds) {
		faults.Add(item, field, apportion.ErrLength, fmt.Sprintf("%d quantities for %d kinds", len(r), len(kinds)))
		return
	}
	for k, q := range r {
		if q < 0 {
			faults.Add(item, field+"["+kinds.Name(k)+"]", apportion.ErrNegative, strconv.FormatInt(q, 10))
		}
	}
}

// Servers adds to faults everything that is wrong with a list of servers: none at all, an empty or
// repeated ID, a capacity that is no vector over kinds, capacities whose sum overflows.
func Servers(faults *apportion.Faults, kinds apportion.Kinds, servers []apportion.Server) {
	// A cluster without servers is a slip of the caller; what cannot be had for lack of room is no fault.
	if len(servers) == 0 {
		faults.Add(apportion.Item{}, "Servers", apportion.ErrEmpty, "")
	}
	before := len(*faults)
	seen := make(map[string]bool, len(servers))
	for j, server := range servers {
		item := Item("server", server.ID, j)
		ID(faults, seen, server.ID, item)
		Resources(faults, kinds, server.Capacity, item, "Capacity")
	}
	// Capacities of the wrong length cannot be added up.
	if len(*faults) > before {
		return
	}
	if _, err := Total(servers, len(kinds)); err != nil {
		faults.Add(apportion.Item{}, "Servers", apportion.ErrOverflow, "the capacities of all servers together")
	}
}

// ID adds to faults an id that is empty, is not text (apportion.ErrRange) or was seen before, and
// marks it as seen. This is the one rule for the names of jobs, servers and containers.
func ID(faults *apportion.Faults, seen map[string]bool, id string, item apportion.Item) {
	switch {
	case id == "":
		faults.Add(item, "ID", apportion.ErrEmpty, "")
	case !Text(id):
		faults.Add(item, "ID", apportion.ErrRange, strconv.Quote(id)+" is not UTF-8, or has a control character")
	case seen[id]:
		faults.Add(item, "ID", apportion.ErrDuplicate, strconv.Quote(id))
	}
	// A faulty ID is marked as well, so that its repetition is one fault and not two.
	seen[id] = true
}

// Text reports whether s is UTF-8 without control characters: then JSON, a log line and a process's
// environment carry it unchanged.
func Text(s string) bool {
	// White space passes, for names are never split at it.
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// Requirement adds to faults what is wrong with a requirement: no key, an operator that is none, values that are
// missing where it compares with some, or there where it compares with none.
func Requirement(faults *apportion.Faults, r *apportion.Requirement, item apportion.Item, field string) {
	if r.Key == "" {
		faults.Add(item, field+".Key", apportion.ErrEmpty, "")
	}
	takesValues := r.Op == apportion.In || r.Op == apportion.NotIn
	switch {
	case !slices.Contains(apportion.Operators(), r.Op):
		faults.Add(item, field+".Op", apportion.ErrUnknown, strconv.Quote(string(r.Op)))
	case takesValues && len(r.Values) == 0:
		faults.Add(item, field+".Values", apportion.ErrEmpty, "")
	case !takesValues && len(r.Values) > 0:
		faults.Add(item, field+".Values", apportion.ErrConflict, string(r.Op)+" takes none")
	}
}

// Weight adds to faults a weight that is not positive and finite: NaN and infinities are
// apportion.ErrNotFinite, zero and below apportion.ErrRange. A weight of zero is refused because a
// client of weight zero would never run.
func Weight(faults *apportion.Faults, weight float64, item apportion.Item) {
	switch {
	case math.IsNaN(weight) || math.IsInf(weight, 0):
		faults.Add(item, "Weight", apportion.ErrNotFinite, formatFloat(weight))
	// NaN is not in here: it compares false with everything, and has its own case above.
	case weight <= 0:
		faults.Add(item, "Weight", apportion.ErrRange, formatFloat(weight)+" is not positive")
	}
}

// formatFloat writes a number so that its reader finds it in the input: as short as it can be, and exact.
func formatFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
