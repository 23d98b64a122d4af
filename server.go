// This file holds Server, and the checks on resources and servers that every package shares.

package apportion

import (
	"fmt"
	"strconv"
)

// Server is one machine of the cluster: what Dorm calls a slave, Kubernetes a node.
type Server struct {
	// ID names the server; not empty, unique in its cluster.
	ID string `json:"id"`
	// Capacity is what containers may use, in the units of the cluster's Kinds. Zero quantities
	// are legal: a server whose capacity is zero in every kind is drained or gone.
	Capacity Resources `json:"capacity"`
}

// Total returns the sum of all capacities: kinds quantities, ErrOverflow where one leaves int64.
// Every capacity must have that many quantities.
func Total(servers []Server, kinds int) (Resources, error) {
	total := make(Resources, kinds)
	for _, server := range servers {
		if err := AddTo(total, total, server.Capacity); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// CheckResources adds to faults what is wrong with r as a vector over kinds: a wrong length
// (ErrLength) or a negative quantity (ErrNegative), under the given item and field.
func CheckResources(faults *Faults, kinds Kinds, r Resources, item, field string) {
	if len(r) != len(kinds) {
		faults.Add(item, field, ErrLength, fmt.Sprintf("%d quantities for %d kinds", len(r), len(kinds)))
		return
	}
	for k, q := range r {
		if q < 0 {
			faults.Add(item, field+"["+kinds.Name(k)+"]", ErrNegative, strconv.FormatInt(q, 10))
		}
	}
}

// CheckServers adds to faults everything that is wrong with a list of servers: none at all, an
// empty or repeated ID, a capacity that is no vector over kinds, capacities whose sum overflows.
func CheckServers(faults *Faults, kinds Kinds, servers []Server) {
	if len(servers) == 0 {
		faults.Add("", "Servers", ErrEmpty, "")
	}
	before := len(*faults)
	seen := make(map[string]bool, len(servers))
	for j, server := range servers {
		item := Item("server", server.ID, j)
		CheckID(faults, seen, server.ID, item)
		CheckResources(faults, kinds, server.Capacity, item, "Capacity")
	}
	if len(*faults) > before {
		return
	}
	if _, err := Total(servers, len(kinds)); err != nil {
		faults.Add("", "Servers", ErrOverflow, "the capacities of all servers together")
	}
}

// CheckID adds to faults an id that is empty or was seen before, and marks it as seen.
func CheckID(faults *Faults, seen map[string]bool, id, item string) {
	switch {
	case id == "":
		faults.Add(item, "ID", ErrEmpty, "")
	case seen[id]:
		faults.Add(item, "ID", ErrDuplicate, strconv.Quote(id))
	}
	seen[id] = true
}

// Item names the i-th thing of a list in a message: by its id, or by its position where the id
// is empty.
func Item(what, id string, i int) string {
	if id == "" {
		return fmt.Sprintf("%s %d", what, i)
	}
	return what + " " + strconv.Quote(id)
}
