package page

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

// remembered are forecasts of a scheduler that has seen jobs end after so many seconds, and one that runs since 100 s; old ran before it.
func remembered(lengths ...int) (*Forecasts, time.Time) {
	f, now := &Forecasts{QueueOf: func(string) string { return "" }, Before: []checkpoint.Job{{Name: "old", Attempt: 1}}}, time.Unix(1_000_000, 0)
	take := func(job string, phase checkpoint.Phase, attempt int64) {
		f.Take(checkpoint.Record{Jobs: []checkpoint.Job{{Name: job, Phase: phase, Attempt: attempt}}}, now)
	}
	for i, length := range lengths {
		job := fmt.Sprint("past", i)
		take(job, checkpoint.Creating, 1)
		now = now.Add(time.Duration(length/2) * time.Second)
		take(job, checkpoint.Creating, 2) // it was moved
		now = now.Add(time.Duration(length-length/2) * time.Second)
		take(job, checkpoint.Ended, 2)
	}
	take("old", checkpoint.Ended, 1)
	take("a", checkpoint.Idle, 0)
	take("a", checkpoint.Creating, 1)
	return f, now.Add(100 * time.Second)
}

// pair is a server that a has, and b waits for it.
func pair(t *testing.T) (*alloc.Problem, *alloc.Decision) {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Servers: []apportion.Server{{ID: "n", Capacity: apportion.Resources{4}}}, Previous: alloc.Allocation{"a": {"n": 4}}}
	for _, id := range []string{"a", "b"} {
		p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 4, Max: 4}})
	}
	d := must.Have(alloc.Reallocate(t.Context(), p, nil))(t)
	return p, d
}

// Jobs ran for 300 s from their first run on, and a has run for 100: b begins in 200 s, and at once without a. One that has
// seen nothing end says that it does not know.
func TestForecasts(t *testing.T) {
	f, now := remembered(300, 300)
	p, d := pair(t)
	f.foresee(t.Context(), p, d, now)
	b := f.Newest().Starts["b"]
	if b == nil || !b.Early.Equal(now.Add(200*time.Second)) || !b.Late.Equal(b.Early) || b.Without != "a" || !b.Then.Equal(now) {
		t.Errorf("%+v", b)
	}
	// It is told to whoever asks why the job waits, and not to others.
	for q, want := range map[Question]bool{{Job: "b"}: true, {Job: "b", If: true}: false, {Job: "a"}: false} {
		if text := must.Have(f.Newest().Answer(t.Context(), p, d, q))(t); strings.Contains(text, "\nIt starts at ") != want {
			t.Errorf("%+v: %s", q, text)
		}
	}
	f, now = remembered()
	f.foresee(t.Context(), p, d, now)
	if f.Newest().Reason.Constraint != forecast.UnknownLengths || !strings.Contains(f.Newest().Text("b"), "nothing is known") {
		t.Errorf("%+v", f.Newest())
	}
	// One that cannot be made says so, and one is not made where nothing waits.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f, now = remembered(300)
	if f.foresee(ended, p, d, now); !strings.Contains(f.Newest().Text("b"), "no forecast could be made: ") {
		t.Errorf("%+v", f.Newest())
	}
	d.Waiting = nil
	if f.foresee(t.Context(), p, d, now); f.Newest() != nil {
		t.Errorf("%+v", f.Newest())
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
				d, forecasts := &alloc.Decision{}, 0
				f := &Forecasts{Last: func() (*alloc.Problem, *alloc.Decision, time.Time) { return nil, d, time.Now() }, Pause: time.Second}
				f.run(ctx, func(context.Context, *alloc.Problem, *alloc.Decision, time.Time) {
					forecasts++
					time.Sleep(takes)
					if same == 0 {
						d = &alloc.Decision{}
					}
				})
				if forecasts < want-1 || forecasts > want+1 {
					t.Errorf("%d forecasts of %v each in ten minutes, the same decision: %v", forecasts, takes, same == 1)
				}
			})
		}
	}
}

// BenchmarkForesee is what one forecast of a scheduler takes, of clusters of the size that is named, with as many jobs that wait as run.
func BenchmarkForesee(b *testing.B) {
	for _, servers := range []int{16, 128, 1000} {
		b.Run(fmt.Sprint("servers=", servers), func(b *testing.B) {
			f, now := remembered(300, 500, 900, 4000)
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
				f.foresee(b.Context(), p, d, now)
			}
			must.Equal(b, f.Newest().Reason.Constraint, "", f.Newest().Reason.Text)
		})
	}
}
