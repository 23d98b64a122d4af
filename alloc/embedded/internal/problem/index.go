// This file numbers what is equal in a whole vector: servers by what they hold, residuals by what fits them.

package problem

import "math/bits"

// golden is the golden ratio in 64 bits, and fewestSlots with how many an index begins.
const golden, fewestSlots = 0x9e3779b97f4a7c15, 16

// Index gives numbers, in the order of first appearance, to what is told apart by more than one integer. Whoever asks keeps what a
// number stands for, and says what is equal; the index alone knows nothing but hashes, so that it needs no memory for keys.
type Index struct {
	// slots has 1 more than a number where it is found by its hash, or at the next free slot behind that; 0: free. At least half of
	// them are free, and their number is a power of two.
	slots  []int32
	hashes []uint64 // by number
}

// Of returns the number of what has that hash and is equal to what a number stands for, or else the next number, as new.
func (x *Index) Of(hash uint64, equal func(number int32) bool) (number int32, known bool) {
	if 2*len(x.hashes) >= len(x.slots) {
		x.grow()
	}
	at := x.slot(hash)
	for ; x.slots[at] != 0; at = (at + 1) % len(x.slots) {
		if n := x.slots[at] - 1; x.hashes[n] == hash && equal(n) {
			return n, true
		}
	}
	x.hashes = append(x.hashes, hash)
	x.slots[at] = int32(len(x.hashes))
	return x.slots[at] - 1, false
}

// grow doubles the slots.
func (x *Index) grow() {
	x.slots = make([]int32, max(fewestSlots, 2*len(x.slots)))
	for n, hash := range x.hashes {
		at := x.slot(hash)
		for x.slots[at] != 0 {
			at = (at + 1) % len(x.slots)
		}
		x.slots[at] = int32(n) + 1
	}
}

// slot returns where the search for a hash begins.
func (x *Index) slot(hash uint64) int { return int(hash & uint64(len(x.slots)-1)) }

// Len returns how many numbers there are.
func (x *Index) Len() int { return len(x.hashes) }

// Mix returns the hash of what has that hash so far, and then v.
func Mix[T int32 | int64](hash uint64, v T) uint64 {
	// Both halves of a product with the golden ratio carry what is in v into all bits.
	hi, lo := bits.Mul64(hash^uint64(v), golden)
	return hi ^ lo
}

// Hash returns the hash of a vector.
func Hash[T int32 | int64](vector []T) uint64 {
	hash := uint64(len(vector)) + golden
	for _, v := range vector {
		hash = Mix(hash, v)
	}
	return hash
}
