// This file tests the heap of sorters against a sorted list, operation by operation, with its invariants.

package drf

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion"
)

// heapClient returns a client of a cluster of 100 that holds so much.
func heapClient(id string, weight float64, held int64) *Client {
	c := newClient(id, weight, apportion.Resources{held})
	c.rate(apportion.Resources{100}, nil)
	return &c
}

// checkHeap holds a queue to its promises: everybody knows its place, nobody comes before its parent, and the rounded level
// beside each client is the one that it has.
func checkHeap(t *testing.T, q queue, what string) {
	t.Helper()
	for i := range q {
		if q[i].client.place != i {
			t.Fatalf("%s: %s is at %d and believes to be at %d", what, q[i].client.id, i, q[i].client.place)
		}
		if q[i].level != q[i].client.Level() {
			t.Fatalf("%s: %s has level %g, its entry %g", what, q[i].client.id, q[i].client.Level(), q[i].level)
		}
		if up := (i - 1) / 2; i > 0 && before(&q[i], &q[up]) {
			t.Fatalf("%s: %s comes before %s, which is above it", what, q[i].client.id, q[up].client.id)
		}
	}
}

// byLevel is the order of the twin: exact fractions of a hundred, which small weights of powers of two leave exact, then IDs.
func byLevel(a, b *Client) int {
	return cmp.Or(cmp.Compare(float64(a.held[0])/a.weight, float64(b.held[0])/b.weight), cmp.Compare(a.id, b.id))
}

// Random pushes, removals and changes leave a heap whose sorted form is the sorted list of those that are in it.
func TestHeapAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 31))
	for n := range 60 {
		var q queue
		var all []*Client
		for i := range 25 {
			all = append(all, heapClient(fmt.Sprintf("c%02d", (i*7)%25), []float64{0.5, 1, 2, 4}[rng.IntN(4)], rng.Int64N(8)))
		}
		for step := range 120 {
			c := all[rng.IntN(len(all))]
			switch {
			case c.place < 0:
				q.push(c)
			case rng.IntN(3) == 0:
				q.remove(c)
				if c.place >= 0 {
					t.Fatalf("%d: %s is out and believes to be at %d", n, c.id, c.place)
				}
			default:
				c.held[0] = rng.Int64N(8)
				c.rate(apportion.Resources{100}, nil)
				q.fix(c)
			}
			checkHeap(t, q, fmt.Sprint("run ", n, ", step ", step))
			var want []*Client
			for _, c := range all {
				if c.place >= 0 {
					want = append(want, c)
				}
			}
			slices.SortFunc(want, byLevel)
			if len(q) != len(want) || len(want) > 0 && q[0].client != want[0] {
				t.Fatalf("%d, %d: %d in the heap, %d in the list", n, step, len(q), len(want))
			}
			if step%40 != 39 {
				continue
			}
			// Sorted it is the list, and still a heap.
			q.sort()
			checkHeap(t, q, "sorted")
			for i := range want {
				if q[i].client != want[i] {
					t.Fatalf("%d, %d: %s at %d, want %s", n, step, q[i].client.id, i, want[i].id)
				}
			}
		}
	}
}

// A heap that is made of a list in any order, after all levels have changed at once.
func TestHeapify(t *testing.T) {
	for n := range 40 {
		var q queue
		for i := range n {
			q.push(heapClient(fmt.Sprint("c", i), 1, int64(i)))
		}
		for i := range q {
			q[i].client.held[0] = int64((i * 37) % 41)
			q[i].client.rate(apportion.Resources{100}, nil)
		}
		q.heapify()
		checkHeap(t, q, fmt.Sprint(n, " clients"))
	}
}

// Who is not in the heap is neither removed nor fixed.
func TestHeapWithout(t *testing.T) {
	var q queue
	in, out := heapClient("in", 1, 1), heapClient("out", 1, 0)
	q.push(in)
	q.remove(out)
	q.fix(out)
	if len(q) != 1 || q[0].client != in || out.place != -1 {
		t.Errorf("%d in the heap, out at %d", len(q), out.place)
	}
	checkHeap(t, q, "one client")
}
