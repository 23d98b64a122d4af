// This file implements sets of containers: ascending lists of servers, one entry a container.

package checkpoint

import "slices"

// sorted returns a fresh ascending copy of a list.
// It is nil where the list is empty, so that lists which are equal are written down alike.
func sorted(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// merge walks through two ascending lists at once and returns what take says of each container: those
// in both lists, in the first only, in the second only.
// A server may be in a list several times: its entries meet one to one, and the rest is in one list only. O(entries of both).
func merge(a, b []string, take func(inA, inB bool) bool) []string {
	var taken []string
	for len(a) > 0 || len(b) > 0 {
		inA := len(a) > 0 && (len(b) == 0 || a[0] <= b[0])
		inB := len(b) > 0 && (len(a) == 0 || b[0] <= a[0])
		var server string
		if inA {
			server, a = a[0], a[1:]
		}
		if inB {
			server, b = b[0], b[1:]
		}
		if take(inA, inB) {
			taken = append(taken, server)
		}
	}
	return taken
}

func both(a, b []string) []string {
	return merge(a, b, func(inA, inB bool) bool { return inA && inB })
}

// minus returns the containers of a that b does not have.
func minus(a, b []string) []string {
	return merge(a, b, func(inA, inB bool) bool { return inA && !inB })
}

// without returns the containers that are not on a server.
func without(list []string, server string) []string {
	first, found := slices.BinarySearch(list, server)
	if !found {
		return list
	}
	last := first
	for last < len(list) && list[last] == server {
		last++
	}
	if last-first == len(list) {
		return nil
	}
	return slices.Concat(list[:first], list[last:])
}

// distinct returns each server of a list once.
func distinct(list []string) []string { return slices.Compact(slices.Clone(list)) }
