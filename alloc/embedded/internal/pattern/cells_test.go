package pattern

import (
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// Servers so different that a program over their classes would have too many rows have no lists: each of
// these holds another number of containers.
func TestSplitIsBounded(t *testing.T) {
	for servers, want := range map[int]bool{mostRows - 3: true, mostRows - 2: false} {
		inst := instancetest.Crowd(servers, 1, 1, 1, 0)
		for j := range inst.Capacity {
			inst.Capacity[j][0] = int64(1 + j)
		}
		if got := New(problem.New(instancetest.Finish(inst)), MostPatterns) != nil; got != want {
			t.Errorf("%d classes: lists %v, want %v", servers, got, want)
		}
	}
	if New(problem.New(alloctest.Table2(1, 1000, 500, true)), MostPatterns) == nil {
		t.Error("the paper's servers have none")
	}
}
