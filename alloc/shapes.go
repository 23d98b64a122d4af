// This file groups servers that are alike, so that what is asked for every application looks at groups and not at servers.

package alloc

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// shape is a group of servers that are alike in all that is asked about.
type shape struct {
	server int // the first of them, which stands for all
	count  int64
}

// shapesOf groups n servers by their keys, which key appends to what it is given, in the order of the first of each group; of has the
// group of each server. O(n).
func shapesOf(n int, key func(to []byte, j int) []byte) (shapes []shape, of []int) {
	known, of := make(map[string]int), make([]int, n)
	var text []byte
	for j := range of {
		text = key(text[:0], j)
		at, ok := known[string(text)]
		if !ok {
			at = len(shapes)
			known[string(text)] = at
			shapes = append(shapes, shape{server: j})
		}
		shapes[at].count++
		of[j] = at
	}
	return shapes, of
}

// appendVector writes quantities of fixed width, so that two keys are equal only where all quantities are.
func appendVector(to []byte, v apportion.Resources) []byte {
	for _, q := range v {
		to = binary.LittleEndian.AppendUint64(to, uint64(q))
	}
	return to
}

// rooms is how many containers servers hold: each of count servers room of them.
type rooms struct{ room, count int64 }

// largest returns the sum over the n servers with the most room, over all where n is 0. It sorts list. The sum cannot overflow: a
// container uses at least one unit of some kind, and the totals fit int64.
func largest(list []rooms, n int64) (sum int64) {
	if n == 0 {
		n = math.MaxInt64
	}
	slices.SortFunc(list, func(a, b rooms) int {
		switch {
		case a.room > b.room:
			return -1
		case a.room < b.room:
			return 1
		}
		return 0
	})
	for _, r := range list {
		take := min(n, r.count)
		sum += take * r.room
		n -= take
	}
	return sum
}
