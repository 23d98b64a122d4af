// This file keeps decisions from moving jobs more often than it is worth: what has just been moved stays, and a move must gain more
// than the pause that it costs.

package controller

import (
	"context"
	"slices"
	"time"

	"github.com/apportion/apportion/alloc"
)

// rested returns a copy of a problem in which the jobs that may not be moved yet are pinned, until when the last of these is, and what
// a move of each job costs: the part of MinRun, which is how long a move lasts at least, in which it does not run. A job of which that is
// not known counts as the others do in the mean. A job with containers where nothing new may be is not pinned, or it would stay there.
func (s *starts) rested(config *Config, p *alloc.Problem, now time.Time) (pinned *alloc.Problem, until time.Time, price map[string]float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total, all, known, pauses := 0, []time.Time{}, 0, time.Duration(0)
	for _, one := range s.jobs {
		one.moves = one.recent(now)
		total += len(one.moves)
		all = append(all, one.moves...)
		if one.pause > 0 {
			known, pauses = known+1, pauses+one.pause
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	var enough time.Time // until when there were moves enough in all
	if config.Moves > 0 && total >= config.Moves {
		enough = all[total-config.Moves].Add(movesAge)
	}
	rested, price := *p, map[string]float64{}
	rested.Applications = slices.Clone(p.Applications)
	for i := range rested.Applications {
		app := &rested.Applications[i]
		one := s.jobs[app.ID]
		if one == nil || p.Previous.Containers(app.ID) == 0 || cordoned(p, app.ID) {
			continue
		}
		pause := one.pause
		if pause == 0 && known > 0 {
			pause = pauses / time.Duration(known)
		}
		if config.MinRun > 0 {
			price[app.ID] = min(1, float64(pause)/float64(config.MinRun))
		}
		end := later(enough, one.since.Add(config.MinRun))
		if n := len(one.moves); config.JobMoves > 0 && n >= config.JobMoves {
			end = later(end, one.moves[n-config.JobMoves].Add(movesAge))
		}
		if end.After(now) {
			app.Pinned = true
			until = later(until, end)
		}
	}
	return &rested, until, price
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// cordoned reports whether a job has containers where nothing new may be, or on a server that is not there.
func cordoned(p *alloc.Problem, id string) bool {
	open := 0
	for i := range p.Servers {
		if p.Previous[id][p.Servers[i].ID] > 0 && !p.Servers[i].Cordoned {
			open++
		}
	}
	held := 0
	for _, n := range p.Previous[id] {
		if n > 0 {
			held++
		}
	}
	return open < held
}

// stay decides for those who wait alone, and returns that in place of a decision that moves jobs for less than it costs. The gain of a
// move is what is used more or what fairness is lost less, whichever is more, in parts of the cluster; its cost is the price of each job
// that the decision moves and the other would not, times the part that it has. What lets more in is never dear.
func stay(ctx context.Context, decide Decide, p *alloc.Problem, d *alloc.Decision, price map[string]float64) (*alloc.Problem, *alloc.Decision, error) {
	fixed := *p
	fixed.Applications = slices.Clone(p.Applications)
	pinned := false
	for i := range fixed.Applications {
		app := &fixed.Applications[i]
		if price[app.ID] > 0 && !app.Pinned && len(changed(p, d, app.ID)) > 0 {
			pinned = true
		}
		app.Pinned = app.Pinned || price[app.ID] > 0
	}
	if !pinned {
		return p, d, nil
	}
	still, err := decide(ctx, &fixed)
	if err != nil || admitted(p, still) < admitted(p, d) {
		return p, d, nil
	}
	gain := max(d.Objective-still.Objective, still.Metrics.FairnessLoss-d.Metrics.FairnessLoss)
	cost := 0.0
	for i := range p.Applications {
		app := &p.Applications[i]
		if len(changed(p, d, app.ID)) > 0 && len(changed(p, still, app.ID)) == 0 {
			cost += price[app.ID] * partOf(p, app)
		}
	}
	if gain > cost {
		return p, d, nil
	}
	return &fixed, still, nil
}

// admitted counts the applications that have containers.
func admitted(p *alloc.Problem, d *alloc.Decision) (n int) {
	for i := range p.Applications {
		if d.Allocation.Containers(p.Applications[i].ID) > 0 {
			n++
		}
	}
	return n
}

// changed are the servers on which an application that runs has another number of containers by a decision.
func changed(p *alloc.Problem, d *alloc.Decision, id string) (servers []string) {
	if p.Previous.Containers(id) == 0 {
		return nil
	}
	for i := range p.Servers {
		if server := p.Servers[i].ID; p.Previous[id][server] != d.Allocation[id][server] {
			servers = append(servers, server)
		}
	}
	return servers
}

// partOf is what an application has of the cluster, summed over the kinds as the objective is.
func partOf(p *alloc.Problem, app *alloc.Application) (part float64) {
	n := p.Previous.Containers(app.ID)
	for k, demand := range app.Demand {
		total := int64(0)
		for i := range p.Servers {
			total += p.Servers[i].Capacity[k]
		}
		if total > 0 {
			part += float64(demand) * float64(n) / float64(total)
		}
	}
	return part
}
