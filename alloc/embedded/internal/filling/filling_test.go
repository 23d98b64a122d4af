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

// What there is nothing of: no servers, no kinds, no types, nothing needed, nothing to fill.
func TestFillNothing(t *testing.T) {
	for name, c := range map[string]struct {
		cluster Cluster
		found   bool
		steps   int64
	}{
		"nothing at all":         {Cluster{}, true, 9},
		"no servers":             {Cluster{Demand: [][]int64{{1}}, Need: []int64{1}}, false, 9},
		"no servers, no need":    {Cluster{Demand: [][]int64{{1}}, Need: []int64{0}}, true, 9},
		"no kinds":               {Cluster{Left: [][]int64{{}, {}}, Demand: [][]int64{{}}, Need: []int64{3}}, true, 9},
		"no types":               {Cluster{Left: [][]int64{{1}, {2}}}, true, 9},
		"nothing needed":         {Cluster{Left: [][]int64{{5}}, Demand: [][]int64{{2}}, Need: []int64{0}}, true, 9},
		"empty servers":          {Cluster{Left: [][]int64{{0}, {0}}, Demand: [][]int64{{1}}, Need: []int64{1}}, false, 9},
		"too little of one kind": {Cluster{Left: [][]int64{{9, 1}}, Demand: [][]int64{{1, 1}}, Need: []int64{2}}, false, 0},
		"just enough":            {Cluster{Left: [][]int64{{4, 2}}, Demand: [][]int64{{2, 1}}, Need: []int64{2}}, true, 9},
	} {
		placed, done := Fill(t.Context(), &c.cluster, c.steps)
		if !done || (placed != nil) != c.found {
			t.Errorf("%s: %v, done %v; found: want %v", name, placed, done, c.found)
		}
		if placed != nil && len(placed) != len(c.cluster.Left) {
			t.Errorf("%s: %d servers, want %d", name, len(placed), len(c.cluster.Left))
		}
	}
}

// The cluster belongs to the caller, and stays as it was; the order of the servers changes neither whether there is a way nor
// who gets it by more than an exchange of servers.
func TestFillOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		turned := &Cluster{Demand: c.Demand, Need: slices.Clone(c.Need)}
		for j := range c.Left {
			turned.Left = append(turned.Left, slices.Clone(c.Left[len(c.Left)-1-j]))
		}
		placed, _ := Fill(t.Context(), c, 1<<20)
		back, _ := Fill(t.Context(), turned, 1<<20)
		for j := range c.Left {
			if !slices.Equal(c.Left[j], turned.Left[len(c.Left)-1-j]) {
				t.Fatalf("server %d has %v now, had %v", j, c.Left[j], turned.Left[len(c.Left)-1-j])
			}
		}
		if !slices.Equal(c.Need, turned.Need) || (placed == nil) != (back == nil) {
			t.Fatalf("%+v: %v; turned round %v", c, placed, back)
		}
	})
}

// With as many steps as a search takes it is done, with one less it has stopped and claims nothing: no number of steps gives a
// wrong answer.
func TestFillCountsSteps(t *testing.T) {
	full := &Cluster{Left: [][]int64{{7}, {7}, {6}}, Demand: [][]int64{{3}, {2}}, Need: []int64{4, 4}}
	none := &Cluster{Left: [][]int64{{7}, {7}, {5}}, Demand: [][]int64{{4}, {3}}, Need: []int64{1, 5}}
	for name, c := range map[string]*Cluster{"there is a way": full, "there is none": none} {
		first := int64(-1)
		for steps := range int64(400) {
			placed, done := Fill(t.Context(), c, steps)
			if done && first < 0 {
				first = steps
			}
			if done != (first >= 0) || placed != nil && !done || done && (placed != nil) != (c == full) {
				t.Fatalf("%s: %v, done %v after %d steps, first done after %d", name, placed, done, steps, first)
			}
		}
		if first < 3 {
			t.Errorf("%s: done after %d steps", name, first)
		}
	}
}

// stepsOf returns the least number of steps after which a search is done.
func stepsOf(t *testing.T, c *Cluster) int64 {
	for steps := int64(0); ; steps++ {
		if _, done := Fill(t.Context(), c, steps); done {
			return steps
		}
	}
}

// Dead ends are remembered, equal servers take one order only, and a server that wastes more than all may is left at once: what
// has as many fillings as there are exchanges of servers is settled in few steps.
func TestFillRemembers(t *testing.T) {
	if steps := stepsOf(t, &Cluster{Left: [][]int64{{1}}}); steps != 1 {
		t.Errorf("to look at a server without types takes %d steps, want 1", steps)
	}
	pairs := &Cluster{Demand: [][]int64{{5}, {3}}, Need: []int64{5, 5}}
	for range 7 {
		pairs.Left = append(pairs.Left, []int64{6}) // five of them take a five, two have room for four threes
	}
	if placed, done := Fill(t.Context(), pairs, 1<<20); !done || placed != nil {
		t.Errorf("%v, done %v: two servers of six hold four of the five", placed, done)
	}
	if steps := stepsOf(t, pairs); steps > 48 {
		t.Errorf("%d steps", steps)
	}
	// Sums of sevens and fours on unlike servers: many ways lead to the same need.
	unlike := &Cluster{Left: [][]int64{{13}, {14}, {16}, {18}, {19}}, Demand: [][]int64{{9}, {5}}, Need: []int64{3, 9}}
	if steps := stepsOf(t, unlike); steps > 48 {
		t.Errorf("%d steps", steps)
	}
}
