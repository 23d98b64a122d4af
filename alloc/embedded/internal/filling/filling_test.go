package filling

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// draw draws a cluster of which most are full to the last unit, or nearly.
func draw(t *rapid.T) *Cluster {
	number := func(least, most int64, name string) int64 { return rapid.Int64Range(least, most).Draw(t, name) }
	c := &Cluster{}
	for range number(1, 3, "types") {
		c.Demand = append(c.Demand, []int64{number(0, 4, "demand"), number(1, 4, "demand")})
		c.Need = append(c.Need, 0)
	}
	for range number(1, 4, "servers") {
		left := []int64{number(0, 1, "spare"), number(0, 1, "spare")}
		for range number(0, 3, "containers") {
			typ := number(0, int64(len(c.Need))-1, "type")
			c.Need[typ]++
			left[0] += c.Demand[typ][0]
			left[1] += c.Demand[typ][1]
		}
		c.Left = append(c.Left, left)
	}
	if rapid.Bool().Draw(t, "shifted") && len(c.Left) > 1 {
		c.Left[0][0]++
		c.Left[1][0] = max(0, c.Left[1][0]-1)
	}
	return c
}

// byTrial reports whether all fit, container by container.
func byTrial(c *Cluster, t int, need int64, left [][]int64) bool {
	if need == 0 {
		if t++; t == len(c.Need) {
			return true
		}
		return byTrial(c, t, c.Need[t], left)
	}
	for j := range left {
		if left[j][0] >= c.Demand[t][0] && left[j][1] >= c.Demand[t][1] {
			for k, q := range c.Demand[t] {
				left[j][k] -= q
			}
			found := byTrial(c, t, need-1, left)
			for k, q := range c.Demand[t] {
				left[j][k] += q
			}
			if found {
				return true
			}
		}
	}
	return false
}

// Fill finds a way where there is one, and says that there is none only where that is so.
func TestFillAgainstTrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		want := byTrial(c, 0, c.Need[0], c.Left)
		placed, done := Fill(context.Background(), c, 1<<20)
		if !done || (placed != nil) != want {
			t.Fatalf("%+v: found %v, done %v, want %v", c, placed, done, want)
		}
		if placed == nil {
			return
		}
		need := slices.Clone(c.Need)
		for j, counts := range placed {
			left := slices.Clone(c.Left[j])
			for typ, n := range counts {
				need[typ] -= n
				for k, q := range c.Demand[typ] {
					left[k] -= n * q
				}
			}
			if slices.Min(left) < 0 {
				t.Fatalf("server %d of %+v overflows: %v", j, c, counts)
			}
		}
		if slices.ContainsFunc(need, func(n int64) bool { return n != 0 }) {
			t.Fatalf("%+v: %v lacks %v", c, placed, need)
		}
	})
}

// hard has twelve equal servers for pairs of odd sizes; none of them makes the last unit.
func hard() *Cluster {
	c := &Cluster{}
	for t := range int64(8) {
		c.Demand, c.Need = append(c.Demand, []int64{7 + 2*t}), append(c.Need, 3)
	}
	for range 12 {
		c.Left = append(c.Left, []int64{29})
	}
	return c
}

// It stops after its steps, and when its context has ended, and claims nothing then.
func TestFillStops(t *testing.T) {
	if placed, done := Fill(context.Background(), hard(), 100); placed != nil || done {
		t.Errorf("%v, done %v after 100 steps", placed, done)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if placed, done := Fill(ctx, hard(), 1<<40); placed != nil || done {
		t.Errorf("%v, done %v without time", placed, done)
	}
}
