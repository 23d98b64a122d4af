// This file tests the twins on the worked numbers of [Zheng].

package growthoracle

import (
	"maps"
	"testing"
)

// Reference: [Zheng] Algorithm 5: the two worked examples. Ten containers on four workers, of which one is idle,
// marked at 10, 20, ... 100 in the order of letters: j and g move to it. Two workers: the container that converged
// last moves. Since 9 and 100 are the latest marks, d_c = now - t_c is smallest there.
func TestPaperRebalance(t *testing.T) {
	var ten []Container
	for i, id := range "abcdefghij" {
		worker := []int{1, 1, 1, 2, 2, 2, 2, 3, 3, 3}[i]
		ten = append(ten, Container{ID: string(id), Worker: worker, Since: int64(10 * (i + 1))})
	}
	for _, test := range []struct {
		name       string
		workers    int
		containers []Container
		want       map[string]int
	}{
		{"idle worker", 4, ten, map[string]int{"j": 0, "g": 0}},
		{"two workers", 2, []Container{{"c3", 1, 5, false}, {"c4", 1, 9, false}}, map[string]int{"c4": 0}},
		// bf = 3, and the first worker has one: a worker that is not idle is filled to bf - 1 only.
		{"nobody idle", 2, []Container{{"a", 0, 1, false}, {"b", 1, 2, false}, {"c", 1, 3, false}, {"d", 1, 4, false}, {"e", 1, 5, false}, {"f", 1, 6, false}},
			map[string]int{"f": 0}},
		{"moved before", 2, []Container{{"c3", 1, 5, false}, {"c4", 1, 9, true}}, map[string]int{"c3": 0}},
		{"same mark", 2, []Container{{"b", 1, 5, false}, {"a", 1, 5, false}}, map[string]int{"a": 0}},
		{"fewer than workers", 3, []Container{{"a", 0, 1, false}, {"b", 0, 2, false}}, map[string]int{}},
		{"only one to take", 2, []Container{{"a", 0, 1, false}}, map[string]int{}},
	} {
		moved := map[string]int{}
		for i, c := range Rebalance(test.workers, test.containers) {
			if c.Worker != test.containers[i].Worker {
				moved[c.ID] = c.Worker
			}
		}
		if !maps.Equal(moved, test.want) {
			t.Errorf("%s: moves %v, want %v", test.name, moved, test.want)
		}
	}
}
