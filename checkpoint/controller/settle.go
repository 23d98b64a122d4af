// This file keeps decisions from moving jobs more often than it is worth: what has just been moved stays, and a move costs what the
// pauses of the moves before say.

package controller

import (
	"cmp"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// rested returns a copy of a problem in which the jobs that may not be moved yet are pinned, and until when the last of these is. Its
// price of a restart is the part of MinRun, which is how long a move lasts at least, that jobs do not run for one in the mean, and of a
// job that was moved before, that its last move took; while no
// pause is known it is as it was, and without a MinRun nothing unless the problem says so. A job with containers where nothing new may be is not pinned, or it would stay there.
func (s *starts) rested(config *Config, p *alloc.Problem, now time.Time) (pinned *alloc.Problem, until time.Time) {
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
	rested := *p
	switch cost := 0.0; {
	case config.MinRun == 0 && p.Options.RestartCost == nil:
		rested.Options.RestartCost = &cost
	case config.MinRun > 0 && known > 0:
		cost = priceOf(pauses/time.Duration(known), config.MinRun)
		rested.Options.RestartCost = &cost
	}
	rested.Applications = slices.Clone(p.Applications)
	waits := slices.ContainsFunc(p.Applications, func(app alloc.Application) bool {
		return s.jobs[app.ID] != nil && p.Previous.Containers(app.ID) == 0
	})
	for i := range rested.Applications {
		app := &rested.Applications[i]
		one := s.jobs[app.ID]
		if one != nil && config.MinRun > 0 && one.pause > 0 && app.StayWorth == nil && app.RestartCost == nil {
			price := priceOf(one.pause, config.MinRun)
			app.RestartCost = &price
		}
		if one == nil || p.Previous.Containers(app.ID) == 0 || cordoned(p, app.ID) {
			continue
		}
		run := config.MinRun
		if config.JobMoves > 0 && len(one.moves) > 0 && !waits {
			run = max(run, movesAge/time.Duration(config.JobMoves)) // moves that nothing asks for are apart from each other
		}
		end := later(enough, one.since.Add(run))
		if n := len(one.moves); config.JobMoves > 0 && n >= config.JobMoves {
			end = later(end, one.moves[n-config.JobMoves].Add(movesAge))
		}
		if end.After(now) {
			app.Pinned = true
			until = later(until, end)
		}
	}
	keepWhatFits(&rested, p)
	return &rested, until
}

// keepWhatFits pins jobs that fit on servers that hold too much since other work has come there: a decision could else move all jobs on
// these. Jobs with few containers stay first. A job that does not fit is pinned only where the problem free pins it, since it may be
// enough that it shrinks.
func keepWhatFits(p, free *alloc.Problem) {
	room := map[string]apportion.Resources{}
	for i := range p.Servers {
		room[p.Servers[i].ID] = p.Servers[i].Capacity.Clone()
	}
	// take takes what a job has from the room of its servers, so often, and reports whether none of them lacks any.
	take := func(app *alloc.Application, times int64) (fits bool) {
		fits = true
		for server, n := range p.Previous[app.ID] {
			left := room[server]
			for k := range min(len(left), len(app.Demand)) {
				left[k] -= times * n * app.Demand[k]
				fits = fits && left[k] >= 0
			}
		}
		return fits
	}
	for i := range p.Applications {
		take(&p.Applications[i], 1)
	}
	var torn []*alloc.Application // jobs with containers on a server that holds too much
	for i := range p.Applications {
		app := &p.Applications[i]
		if !take(app, 0) && !free.Applications[i].Pinned {
			torn = append(torn, app)
		}
	}
	for _, app := range torn {
		take(app, -1)
	}
	slices.SortStableFunc(torn, func(a, b *alloc.Application) int {
		return cmp.Compare(p.Previous.Containers(a.ID), p.Previous.Containers(b.ID))
	})
	for _, app := range torn {
		fits := take(app, 1)
		if app.Pinned = fits && !cordoned(p, app.ID); !app.Pinned {
			take(app, -1)
		}
	}
}

// priceOf is what a restart costs that pauses a job for so long: its part of a run that lasts no longer than it must.
func priceOf(pause, run time.Duration) float64 { return min(1, float64(pause)/float64(run)) }

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
