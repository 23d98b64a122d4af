// This file makes scenarios for the tests.

package nodesim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/growth/specon"
	"pgregory.net/rapid"
)

const second = time.Second

// falling is a loss that halves quickly and then hardly moves.
var falling = mustCurve(1, .5, .3, .2, .19, .185, .184, .1839, .1838, .1837, .1836)

func mustCurve(values ...float64) *Curve {
	at := make([]float64, len(values))
	for i := range at {
		at[i] = float64(i)
	}
	c, err := NewCurve(at, values)
	if err != nil {
		panic(err)
	}
	return c
}

// job1 returns a job that can use a whole worker.
func job1(id string, arrival, work time.Duration) Job {
	return Job{ID: id, Arrival: arrival, Work: work, Demand: Whole, Curve: falling}
}

// scenarios draws up to eight jobs on up to three workers.
func scenarios() *rapid.Generator[*Scenario] {
	return rapid.Custom(func(t *rapid.T) *Scenario {
		s := &Scenario{
			Workers:      rapid.IntRange(1, 3).Draw(t, "workers"),
			MoveCost:     time.Duration(rapid.IntRange(0, 5).Draw(t, "cost")) * second,
			Interference: rapid.SampledFrom([]float64{0, 0.05, 1}).Draw(t, "interference"),
		}
		for i := range rapid.IntRange(0, 8).Draw(t, "jobs") {
			s.Jobs = append(s.Jobs, Job{
				ID:      fmt.Sprint("job-", i),
				Arrival: time.Duration(rapid.IntRange(0, 60).Draw(t, "arrival")) * second,
				Work:    time.Duration(rapid.Int64Range(1, int64(200*second)).Draw(t, "work")),
				Demand:  rapid.SampledFrom([]Share{1, 190_000, 500_000, Whole}).Draw(t, "demand"),
				Request: float64(rapid.IntRange(0, 3).Draw(t, "request")),
				Curve:   falling,
			})
			if s.Jobs[i].Demand == 1 {
				s.Jobs[i].Work = min(s.Jobs[i].Work, time.Millisecond)
			}
		}
		return s
	})
}

// policies returns one of each.
func policies() []Policy {
	flowcon, err := NewFlowCon(flowcon.Config{Interval: 20 * second, Alpha: 0.002}, nil)
	if err != nil {
		panic(err)
	}
	specon, err := NewSpeCon(specon.Config{Interval: 20 * second, Alpha: 0.05}, nil)
	if err != nil {
		panic(err)
	}
	return []Policy{&Default{}, &Default{Ties: rand.New(rand.NewPCG(1, 2))}, flowcon, specon}
}
