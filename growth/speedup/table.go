// This file implements the table of measured rates: made to rise by isotonic regression, [Barlow72], with straight lines in
// between.

package speedup

import (
	"cmp"
	"slices"
)

// Point is a measured rate: samples a second of containers on servers.
type Point struct {
	Containers int64   `json:"containers"`
	Servers    int64   `json:"servers"`
	Rate       float64 `json:"rate"`
}

// tabulate returns the points of a table, by servers and then containers, rising with containers. Observations are tidy.
func tabulate(observations []Observation) []Point {
	var points []Point
	for i := range observations {
		o := &observations[i]
		// Observations are in the order of containers, servers and samples: those of one place follow each other.
		last := len(points) - 1
		// Several numbers of samples on the same containers: their rates are one measurement each.
		if last >= 0 && points[last].Containers == o.Containers && points[last].Servers == o.Servers {
			points[last].Rate = max(points[last].Rate, o.rate())
			continue
		}
		points = append(points, Point{o.Containers, o.Servers, o.rate()})
	}
	slices.SortFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Servers, b.Servers), cmp.Compare(a.Containers, b.Containers))
	})
	// Each number of servers has rates of its own, which rise with containers; between numbers of servers nothing
	// need rise.
	for from := 0; from < len(points); {
		to := from
		for to < len(points) && points[to].Servers == points[from].Servers {
			to++
		}
		rise(points[from:to])
		from = to
	}
	return points
}

// rise replaces rates that fall by their means, so that the sum of squared changes is least: pool adjacent violators. O(n).
func rise(points []Point) {
	type pool struct {
		mean float64
		n    int
	}
	var pools []pool
	for _, p := range points {
		pools = append(pools, pool{p.Rate, 1})
		// A pool that is lower than the one before it joins it, and the joint one may now be lower than its own
		// forerunner.
		for k := len(pools) - 1; k > 0 && pools[k-1].mean > pools[k].mean; k-- {
			a, b := pools[k-1], pools[k]
			n := a.n + b.n
			// Between the two, whatever is rounded.
			pools[k-1] = pool{a.mean + float64((b.mean-a.mean)*float64(b.n)/float64(n)), n}
			pools = pools[:k]
		}
	}
	// Each point has the mean of its pool: rates rise, and no other rising ones are closer to those measured.
	at := 0
	for _, p := range pools {
		for range p.n {
			points[at].Rate = p.mean
			at++
		}
	}
}

// along returns the rate of containers in the points of one number of servers: in proportion below the first, no more than
// the last beyond it.
func along(points []Point, containers int64) float64 {
	// Measured numbers have their own rates, whatever lies around them.
	at, found := slices.BinarySearchFunc(points, containers, func(p Point, n int64) int { return cmp.Compare(p.Containers, n) })
	switch {
	case found:
		return points[at].Rate
	case at == 0:
		return points[0].Rate * float64(containers) / float64(points[0].Containers)
	case at == len(points):
		return points[at-1].Rate
	}
	a, b := points[at-1], points[at]
	return between(a.Rate, b.Rate, containers-a.Containers, b.Containers-a.Containers)
}

// between returns the value at a part of the way from a to b.
func between(a, b float64, part, whole int64) float64 {
	return a + float64((b-a)*float64(part)/float64(whole))
}

// lookUp returns the rate of containers on servers, between the numbers of servers that were measured.
func lookUp(points []Point, containers, servers int64) float64 {
	// Points are sorted by servers first: low and high are the runs of points of the next smaller and the next
	// larger number.
	after, _ := slices.BinarySearchFunc(points, servers, func(p Point, n int64) int { return cmp.Compare(p.Servers, n) })
	var low, high []Point // the points of the numbers of servers around it
	if after < len(points) {
		end := after
		for end < len(points) && points[end].Servers == points[after].Servers {
			end++
		}
		high = points[after:end]
	}
	if after > 0 {
		begin := after
		for begin > 0 && points[begin-1].Servers == points[after-1].Servers {
			begin--
		}
		low = points[begin:after]
	}
	switch {
	case len(low) == 0 || len(high) > 0 && high[0].Servers == servers:
		return along(high, containers)
	case len(high) == 0:
		return along(low, containers)
	}
	a, b := low[0].Servers, high[0].Servers
	return between(along(low, containers), along(high, containers), servers-a, b-a)
}
