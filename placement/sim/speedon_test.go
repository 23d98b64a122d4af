// This file tests speeds by where containers are.

package sim_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// onTypes is 1 for each container on an even server, a quarter on an odd one, and halved on several servers.
func onTypes(on []apportion.Placement) float64 {
	speed := 0.0
	for _, p := range on {
		speed += float64(p.Count) / []float64{1, 4}[p.Server%2]
	}
	if len(on) > 1 {
		speed /= 2
	}
	return speed
}

// A job runs at the speed of where its containers are, not of their number: 2 on a fast server, 2 on a slow one,
// one on each.
func TestSpeedOn(t *testing.T) {
	job := elastic("a", 0, 10*second)
	job.SpeedOn = onTypes
	job.Speedup = func(int64) float64 { return 100 } // which does not count then
	s := onServers([]sim.Job{job}, 4, 4)
	p := &script{orders: []sim.Orders{
		{Places: []sim.Place{{Job: "a", On: []apportion.Placement{{Server: 0, Count: 2}}}}, Next: 2 * second},
		{Places: []sim.Place{{Job: "a", On: []apportion.Placement{{Server: 1, Count: 2}}}}, Next: 4 * second},
		{Places: []sim.Place{{Job: "a", On: []apportion.Placement{{Server: 1, Count: 1}, {Server: 0, Count: 1}}}}},
	}}
	r := must.Have(sim.Run(t.Context(), s, p))(t)
	// 2 s at 2, 2 s at 1/2 and the other 5 at 5/8.
	if got, want := r.Jobs[0].Completion, 12*second; got != want {
		t.Errorf("completed at %v, want %v: %+v", got, want, r.Jobs[0].Spans)
	}
	must.Do(t, simtest.Check(s, r))
}

// The referee knows the speed of a place: a rate that is that of the number alone is refused.
func TestRefereeSpeedOn(t *testing.T) {
	job := elastic("a", 0, 10*second)
	s := onServers([]sim.Job{job}, 4, 4)
	r := must.Have(sim.Run(t.Context(), s, &script{orders: []sim.Orders{place("a", 1, 2)}}))(t)
	s.Jobs[0].SpeedOn = onTypes
	must.Err(t, simtest.Check(s, r), must.ErrAny, "a rate of 2 containers is taken on a server where they have that of a half")
}

// RateOn is 0 on nothing, the rate by number without SpeedOn, and refuses what is no speed.
func TestRateOn(t *testing.T) {
	job := elastic("a", 0, time.Second)
	on := []apportion.Placement{{Server: 1, Count: 3}}
	for want, speed := range map[int64]func([]apportion.Placement) float64{3_000_000: nil, 750_000: onTypes} {
		job.SpeedOn = speed
		if got, err := job.RateOn(on); got != want || err != nil {
			t.Errorf("%d (%v), want %d", got, err, want)
		}
	}
	if got, err := job.RateOn(nil); got != 0 || err != nil {
		t.Errorf("on nothing: %d (%v)", got, err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), 0, -1, 1e13} {
		job.SpeedOn = func([]apportion.Placement) float64 { return bad }
		var fault *apportion.FieldError
		if _, err := job.RateOn(on); !errors.As(err, &fault) || fault.Field != "SpeedOn" || fault.Item.ID != "a" || !errors.Is(err, apportion.ErrRange) {
			t.Errorf("a speed of %v: %v", bad, err)
		}
		if _, err := sim.Run(t.Context(), onServers([]sim.Job{job}, 4), &script{orders: []sim.Orders{place("a", 0, 2)}}); !errors.Is(err, apportion.ErrRange) {
			t.Errorf("a run at %v: %v", bad, err)
		}
	}
}
