// This file generates clusters and jobs for the property tests.

package primaldual

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/oracle/oasisoracle"
)

// source draws the integers of an instance, from rapid or from a seed.
type source func(low, high int) int

func fromRapid(t *rapid.T) source {
	return func(low, high int) int { return rapid.IntRange(low, high).Draw(t, "n") }
}

func fromSeed(seed uint64) source {
	rng := rand.New(rand.NewPCG(seed, 1))
	return func(low, high int) int { return low + rng.IntN(high-low+1) }
}

// size bounds an instance.
type size struct {
	slots, servers, kinds, capacity int
	epochs, chunks                  int
	jobs                            int
	plain                           bool // no job asks for labels
}

var (
	tinySize   = size{slots: 4, servers: 2, kinds: 3, capacity: 6, epochs: 4, chunks: 3, jobs: 6}
	mediumSize = size{slots: 14, servers: 4, kinds: 2, capacity: 24, epochs: 20, chunks: 12, jobs: 25}
)

// cluster draws a cluster in which kinds may be absent from servers and whole sides.
func (z size) cluster(draw source) *Cluster {
	c := &Cluster{Slots: draw(1, z.slots)}
	for r := range draw(1, z.kinds) {
		c.Kinds = append(c.Kinds, fmt.Sprint("kind", r))
	}
	side := func(prefix string) []apportion.Server {
		var capacities []apportion.Resources
		for range draw(1, z.servers) {
			capacity := make(apportion.Resources, len(c.Kinds))
			for r := range capacity {
				if draw(0, 9) > 0 {
					capacity[r] = int64(draw(1, z.capacity))
				}
			}
			capacities = append(capacities, capacity)
		}
		return servers(prefix, capacities...)
	}
	c.WorkerServers, c.PSServers = side("w"), side("p")
	if z.plain {
		return c
	}
	if draw(0, 2) == 0 {
		for h := range c.WorkerServers {
			c.WorkerServers[h].Labels = map[string]string{"zone": fmt.Sprint(draw(0, 1))}
		}
	}
	return c
}

// jobsOf draws jobs in order of arrival: also ones without demands, with b > B, with a b/B that no
// small number of parameter servers hits, with chunks that take more than a slot.
func (z size) jobsOf(draw source, c *Cluster) []Job {
	var jobs []Job
	arrival := 1
	for i := range draw(1, z.jobs) {
		arrival = min(c.Slots, arrival+draw(0, 2)*draw(0, 1))
		slotsOf := []float64{0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 1, 1.3}
		j := Job{
			ID: fmt.Sprint("j", i), Arrival: arrival,
			Epochs: int64(draw(1, z.epochs)), Chunks: int64(draw(1, z.chunks)), Minibatches: 1,
			MinibatchSlots: slotsOf[draw(0, len(slotsOf)-1)],
			Worker:         z.demand(draw, c), PS: z.demand(draw, c),
			Utility: utility(draw),
		}
		j.WorkerBandwidth, j.PSBandwidth = int64(draw(1, 3)), int64(draw(1, 6))
		if draw(0, 2) == 0 {
			j.WorkerBandwidth, j.PSBandwidth = int64(draw(1, 314159)), 271828
		}
		if !z.plain {
			j.WorkerRequires, j.PSRequires = zone(draw), zone(draw)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// zone draws what labels must satisfy: mostly nothing.
func zone(draw source) []apportion.Requirement {
	op := []apportion.Operator{apportion.In, apportion.NotIn, apportion.NotExists}[draw(0, 2)]
	if draw(0, 3) > 0 {
		return nil
	}
	q := apportion.Requirement{Key: "zone", Op: op}
	if op != apportion.NotExists {
		q.Values = []string{fmt.Sprint(draw(0, 1))}
	}
	return []apportion.Requirement{q}
}

func (z size) demand(draw source, c *Cluster) apportion.Resources {
	demand := make(apportion.Resources, len(c.Kinds))
	for r := range demand {
		demand[r] = int64(draw(0, 1) * draw(0, max(1, z.capacity/4)))
	}
	return demand
}

func utility(draw source) Utility {
	switch draw(0, 4) {
	case 0:
		return Constant(draw(0, 60))
	case 1:
		return Linear{float64(draw(1, 100)), float64(draw(0, 20))}
	case 2:
		return table(float64(draw(50, 90)), float64(draw(20, 50)), float64(draw(20, 20)), float64(draw(0, 20)))
	}
	return Sigmoid{float64(draw(1, 100)), float64(draw(0, 600)) / 100, float64(draw(1, 15))}
}

// boundsDraw draws bounds: from the jobs, under any options, or without regard to them.
func boundsDraw(draw source, c *Cluster, jobs []Job) Bounds {
	options := &BoundsOptions{
		Literal: draw(0, 3) == 0, EtaGlobal: draw(0, 1) == 0, RawUnits: draw(0, 1) == 0,
		LFloorEps: float64(draw(-1, 3)) / 10, LScale: float64(draw(0, 20)), UScale: float64(draw(0, 3)),
	}
	if draw(0, 4) > 0 {
		bounds, err := BoundsOf(c, jobs, options)
		if err != nil {
			panic(err)
		}
		return bounds
	}
	var b Bounds
	for range c.Kinds {
		lower := float64(draw(1, 300)) / 100
		b.LWorker, b.UWorker = append(b.LWorker, lower), append(b.UWorker, lower*float64(draw(2, 40)))
		b.LPS, b.UPS = append(b.LPS, lower/2), append(b.UPS, lower*float64(draw(2, 40)))
	}
	return b
}

// oracleProblem states the best schedule of job at the prices of s for the exhaustive search.
func oracleProblem(s *Scheduler, j *Job) *oasisoracle.Problem {
	l := s.ledger
	p := &oasisoracle.Problem{
		MaxWorkers: j.Chunks, Work: j.WorkerSlots(),
		WorkerBandwidth: j.WorkerBandwidth, PSBandwidth: j.PSBandwidth,
	}
	side := func(side Side) oasisoracle.Side {
		out := oasisoracle.Side{Demand: j.demand(side)}
		out.Closed = closed(l.cluster, j, side)
		for slot := j.Arrival; slot <= l.Last(); slot++ {
			var free [][]int64
			var prices [][]float64
			for h, server := range l.cluster.servers(side) {
				used, _ := l.Used(side, slot, h)
				left := server.Capacity.Clone()
				for r := range left {
					left[r] -= used[r]
				}
				if down := l.slot(slot).down; down != nil && down[l.machine(side, h)] {
					for r := range left {
						left[r] = -1
					}
				}
				price, _ := l.Prices(side, slot, h)
				free, prices = append(free, left), append(prices, price)
			}
			out.Free, out.Price = append(out.Free, free), append(out.Price, prices)
		}
		return out
	}
	p.Workers, p.PS = side(Workers), side(ParameterServers)
	for slot := j.Arrival; slot <= l.Last(); slot++ {
		p.Values = append(p.Values, j.Utility.Value(slot-j.Arrival))
	}
	return p
}

// closed returns which servers of a side do not suit a job.
func closed(c *Cluster, j *Job, side Side) []bool {
	var out []bool
	for _, server := range c.servers(side) {
		out = append(out, slices.ContainsFunc(j.requires(side), func(q apportion.Requirement) bool { return !q.Holds(server.Labels) }))
	}
	return out
}
