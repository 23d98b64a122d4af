// This file plays two hours of plain and elastic jobs through the decisions of a controller, without a manager: what the limits on moves
// cost and bring.

package controller

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// BenchmarkHours plays ten users' jobs as `make hours` does, in the times of a real cluster: a job that moves is saved for 5 s and starts
// for 15. The rows are values of Config.JobMoves; 0 is any number.
func BenchmarkHours(b *testing.B) {
	const plays = 20
	for _, moves := range []int{0, 12, 6, 3, 2, 1} {
		b.Run(fmt.Sprintf("moves=%d", moves), func(b *testing.B) {
			var sum played
			for b.Loop() {
				sum = played{}
				for seed := range uint64(plays) {
					one := newPlay(100+seed, moves).run(b)
					sum.restarts += one.restarts
					sum.used += one.used
					sum.wait += one.wait
				}
			}
			b.ReportMetric(sum.restarts/plays, "restarts/job-hour")
			b.ReportMetric(100*sum.used/plays, "%used")
			b.ReportMetric(sum.wait/plays, "s-waited")
		})
	}
}

// played is what a play has come to: restarts by elastic job and hour, the part of the slots at work, and what plain jobs waited, in
// seconds in the mean.
type played struct{ restarts, used, wait float64 }

// The cluster and its load: as many jobs of both kinds, a length in seconds, and what a move takes.
const (
	playServers, playSlots = 3, 8
	playElastic, playPlain = 5, 30
	playLength             = 7200
	playSave, playStart    = 5, 15
)

// play is a cluster of slots, second by second.
type play struct {
	config  Config
	starts  *starts
	pace    pace
	waits   waits
	last    Taken
	jobs    []*playJob
	names   []string
	work    float64 // slots at work, times seconds
	present float64 // seconds of elastic jobs that have not ended
	moves   float64
}

// playJob is an elastic job, or a plain one with a fixed number of slots.
type playJob struct {
	id    string
	at    int
	plain int64 // slots of a plain job; 0: it is elastic
	left  float64
	goal  map[string]int64 // where it is to be
	on    map[string]int64 // whose slots it has
	// since is when it has got them, or was told to stop where stopping is set.
	since            int
	stopping, isOver bool
}

func newPlay(seed uint64, moves int) *play {
	r := rand.New(rand.NewPCG(seed, 0))
	p := &play{starts: newStarts(nil), pace: pace{again: patience{first: DefaultSettle}}}
	p.config = Config{Problem: alloc.Problem{Kinds: apportion.Kinds{"cpu"}, Theta1: 0.2, Theta2: 0.3}, MinRun: time.Minute, JobMoves: moves, Hold: DefaultHold}
	const all = playServers * playSlots
	for i := range playElastic {
		p.jobs = append(p.jobs, &playJob{id: fmt.Sprintf("elastic-%d", i), at: r.IntN(playLength / 20), left: 0.6 * all * playLength / playElastic})
	}
	for i := range playPlain {
		n := 1 + r.Int64N(all/4)
		p.jobs = append(p.jobs, &playJob{id: fmt.Sprintf("plain-%02d", i), at: playLength/10 + r.IntN(playLength*8/10), plain: n, left: float64(n * (120 + r.Int64N(600)))})
	}
	slices.SortStableFunc(p.jobs, func(a, b *playJob) int { return a.at - b.at })
	for i := range playServers {
		p.names = append(p.names, fmt.Sprintf("n%d", i))
	}
	return p
}

// run plays until all jobs have ended.
func (p *play) run(t testing.TB) played {
	t.Helper()
	now, waited := 0, 0.0
	for ; slices.ContainsFunc(p.jobs, func(j *playJob) bool { return !j.isOver }); now++ {
		if now > 5*playLength {
			t.Fatal("the play does not end")
		}
		for _, j := range p.jobs {
			p.goOn(j, now)
		}
		for _, plain := range []bool{true, false} { // others' jobs begin first
			for _, j := range p.jobs {
				if j.at <= now && !j.isOver && len(j.on) == 0 && plain == (j.plain > 0) {
					p.begin(j, now)
				}
				if plain && j.plain > 0 && j.at <= now && len(j.on) == 0 && !j.isOver {
					waited++
				}
			}
		}
		p.decide(t, now)
	}
	return played{restarts: p.moves / (p.present / 3600), used: p.work / float64(now*playServers*playSlots), wait: waited / playPlain}
}

// goOn lets a second of a job pass.
func (p *play) goOn(j *playJob, now int) {
	if j.at > now || j.isOver {
		return
	}
	if j.plain == 0 {
		p.present++
	}
	switch one := p.starts.jobs[j.id]; {
	case j.stopping && now >= j.since+playSave:
		j.on, j.stopping = nil, false
	case len(j.on) == 0 || j.stopping || j.plain == 0 && now < j.since+playStart:
	default:
		if j.plain == 0 && !one.stopped.IsZero() {
			one.pause, one.stopped = p.clock(now).Sub(one.stopped), time.Time{}
		}
		n := float64(containers(j.on))
		p.work, j.left = p.work+n, j.left-n
		if j.left <= 0 {
			j.isOver, j.on, j.goal = true, nil, nil
			delete(p.starts.jobs, j.id)
		}
	}
}

// begin gives a job its slots if they are free: a plain one any, an elastic one those that were decided.
func (p *play) begin(j *playJob, now int) {
	free := map[string]int64{}
	for _, name := range p.names {
		free[name] = playSlots
	}
	for _, other := range p.jobs {
		for name, n := range other.on {
			free[name] -= n
		}
	}
	on, left := j.goal, int64(0)
	if j.plain > 0 {
		on, left = map[string]int64{}, j.plain
		for _, name := range p.names {
			if n := min(left, free[name]); n > 0 {
				on[name], left = n, left-n
			}
		}
	}
	for name, n := range on {
		left = max(left, n-free[name])
	}
	if left == 0 {
		j.on, j.since = maps.Clone(on), now
	}
}

// decide takes a decision if one is due, and tells jobs to move.
func (p *play) decide(t testing.TB, now int) {
	t.Helper()
	problem, others := p.problem(now)
	shape := shapeOf(problem)
	if !p.pace.isDue(shape, p.clock(now)) {
		return
	}
	rested, until := p.starts.rested(&p.config, problem, p.clock(now))
	_, decision, err := decideBeside(t.Context(), func(ctx context.Context, p *alloc.Problem) (*alloc.Decision, error) {
		return alloc.Reallocate(ctx, p, nil)
	}, rested, problem, others)
	must.Do(t, err)
	p.last = Taken{Decision: decision}
	targets := map[string][]string{}
	for _, j := range p.jobs {
		goal := decision.Allocation[j.id]
		one := p.starts.jobs[j.id]
		if one == nil || maps.Equal(goal, j.goal) || len(goal)+len(j.goal) == 0 {
			continue
		}
		targets[j.id] = slices.Sorted(maps.Keys(goal))
		if !one.since.IsZero() && len(goal) > 0 {
			p.moves++
			one.moves = append(one.recent(p.clock(now)), p.clock(now))
		}
		if len(j.on) > 0 && !j.stopping {
			j.stopping, j.since, one.stopped = true, now, p.clock(now)
		}
		j.goal, one.since = maps.Clone(goal), p.clock(now)
	}
	p.pace.decided(shape, targets, nil, p.clock(now))
	p.pace.until = until
}

// problem is what there is to decide, as a controller sees it: what others leave, and what of theirs waits.
func (p *play) problem(now int) (problem *alloc.Problem, others int) {
	made := p.config.Problem
	made.Previous = alloc.Allocation{}
	view := &View{}
	for _, name := range p.names {
		made.Servers = append(made.Servers, apportion.Server{ID: name, Capacity: apportion.Resources{playSlots}})
	}
	for _, j := range p.jobs {
		switch {
		case j.at > now || j.isOver:
		case j.plain == 0:
			p.starts.jobs[j.id] = cmp.Or(p.starts.jobs[j.id], &runs{})
			made.Applications = append(made.Applications, alloc.Application{ID: j.id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: playServers * playSlots}})
			if len(j.goal) > 0 {
				made.Previous[j.id] = maps.Clone(j.goal)
			}
		case len(j.on) == 0:
			view.Waiting = append(view.Waiting, Waiting{ID: j.id, Demand: apportion.Resources{1}, Count: j.plain})
		}
		for i, name := range p.names {
			if j.plain > 0 {
				made.Servers[i].Capacity[0] -= j.on[name]
			}
		}
	}
	for i := range made.Servers {
		view.Servers = append(view.Servers, Server{Server: made.Servers[i]})
	}
	p.waits.count(view, p.last.hasRoom, p.config.Hold, p.clock(now))
	waiting := outside(view, &made, nil)
	made.Applications = append(made.Applications, waiting...)
	return &made, len(waiting)
}

func (p *play) clock(now int) time.Time { return time.Unix(int64(now), 0).Add(24 * time.Hour) }

func containers(on map[string]int64) (n int64) {
	for _, k := range on {
		n += k
	}
	return n
}
