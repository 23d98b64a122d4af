package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim/forecast"
)

// remembered is a controller that has seen jobs end after so many seconds, and one that runs since 100 s.
func remembered(lengths ...int) (*Controller, time.Time) {
	c, now := &Controller{starts: newStarts(nil)}, time.Unix(1_000_000, 0)
	take := func(job string, phase checkpoint.Phase, attempt int64) {
		c.starts.take(checkpoint.Record{Jobs: []checkpoint.Job{{Name: job, Phase: phase, Attempt: attempt}}}, now)
	}
	for i, length := range lengths {
		job := fmt.Sprint("past", i)
		take(job, checkpoint.Creating, 1)
		now = now.Add(time.Duration(length/2) * time.Second)
		take(job, checkpoint.Creating, 2) // it was moved
		now = now.Add(time.Duration(length-length/2) * time.Second)
		take(job, checkpoint.Ended, 2)
	}
	take("a", checkpoint.Creating, 1)
	return c, now.Add(100 * time.Second)
}

// pair is a server that a has, and b waits for it.
func pair(t *testing.T) *Taken {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Servers: []apportion.Server{{ID: "n", Capacity: apportion.Resources{4}}}, Previous: alloc.Allocation{"a": {"n": 4}}}
	for _, id := range []string{"a", "b"} {
		p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 4, Max: 4}})
	}
	d := must.Have(alloc.Reallocate(t.Context(), p, nil))(t)
	return &Taken{Problem: p, Decision: d}
}

// Jobs ran for 300 s from their first run on, and a has run for 100: b begins in 200 s, and at once without a. A controller that has
// seen nothing end says that it does not know.
func TestForesee(t *testing.T) {
	c, now := remembered(300, 300)
	last := pair(t)
	c.foresee(t.Context(), last, now)
	b := c.foresight.Starts["b"]
	if b == nil || !b.Early.Equal(now.Add(200*time.Second)) || !b.Late.Equal(b.Early) || b.Without != "a" || !b.Then.Equal(now) {
		t.Errorf("%+v", b)
	}
	c, now = remembered()
	c.foresee(t.Context(), last, now)
	if c.foresight.Reason.Constraint != forecast.UnknownLengths || !strings.Contains(c.foresight.Text("b"), "nothing is known") {
		t.Errorf("%+v", c.foresight)
	}
	// One that cannot be made says so, and one is not made where nothing waits.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c, now = remembered(300)
	if c.foresee(ended, last, now); !strings.Contains(c.foresight.Text("b"), "no forecast could be made: ") {
		t.Errorf("%+v", c.foresight)
	}
	last.Decision.Waiting = nil
	if c.foresee(t.Context(), last, now); c.foresight != nil {
		t.Errorf("%+v", c.foresight)
	}
}

// Forecasts that take long are seldom: at work for a hundredth of the time, with a new decision each second. Forecasts that
// take no time are made for each decision, and of an old one once a minute.
func TestForeseenSeldom(t *testing.T) {
	for takes, want := range map[time.Duration][2]int{300 * time.Millisecond: {20, 10}, 0: {599, 10}} {
		for same, want := range want {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				c, forecasts := &Controller{config: Config{Settle: time.Second}}, 0
				c.last.Decision = &alloc.Decision{}
				c.foreseeAll(ctx, func(context.Context, *Taken, time.Time) {
					forecasts++
					time.Sleep(takes)
					if same == 0 {
						c.last.Decision = &alloc.Decision{}
					}
				})
				if forecasts < want-1 || forecasts > want+1 {
					t.Errorf("%d forecasts of %v each in ten minutes, the same decision: %v", forecasts, takes, same == 1)
				}
			})
		}
	}
}

// BenchmarkForesee is what one forecast of a controller takes, of clusters of the size that is named, with as many jobs that wait as run.
func BenchmarkForesee(b *testing.B) {
	for _, servers := range []int{16, 128, 1000} {
		b.Run(fmt.Sprint("servers=", servers), func(b *testing.B) {
			c, now := remembered(300, 500, 900, 4000)
			p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: .1, Previous: alloc.Allocation{}}
			for j := range servers {
				p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("n", j), Capacity: apportion.Resources{8}})
				p.Applications = append(p.Applications, alloc.Application{ID: fmt.Sprint("r", j), Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 8, Max: 8}})
				p.Previous[fmt.Sprint("r", j)] = map[string]int64{fmt.Sprint("n", j): 8}
			}
			for i := range min(servers, 200) {
				p.Applications = append(p.Applications, alloc.Application{ID: fmt.Sprint("w", i), Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 4, Max: 8}})
			}
			d := must.Have(alloc.Reallocate(b.Context(), p, nil))(b)
			for b.Loop() {
				c.foresee(b.Context(), &Taken{Problem: p, Decision: d}, now)
			}
			if c.foresight.Reason.Constraint != "" {
				b.Fatal(c.foresight.Reason.Text)
			}
		})
	}
}
