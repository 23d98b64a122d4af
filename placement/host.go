// This file implements the choice of a host for a slow container, [Zheng] Algorithm 4.

package placement

import (
	"fmt"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Worker is a worker as the manager sees it.
type Worker struct {
	// ID names the worker; not empty, unique.
	ID string
	// Counts are its category sets, the container in question included on its own worker.
	Counts Counts
	// Usage is R(w, t), its resource consumption, which decides between equal scores; finite.
	Usage float64
	// Free is what is left of its capacity, over the kinds of the request. Its own containers are
	// counted as used.
	Free apportion.Resources
}

// HostRequest asks for a host for one job.
type HostRequest struct {
	// Kinds names the kinds of Demand and Free.
	Kinds   apportion.Kinds
	Workers []Worker
	// Current is the position in Workers of the job's worker.
	Current int
	// Demand is what one container of the job needs.
	Demand apportion.Resources
	// Containers is the number of containers of the job, which move together or not at all; at
	// least 1.
	Containers int64
}

// HostOptions are the choices; nil means all defaults.
type HostOptions struct {
	// Weights of the score; the zero Weights, which no valid ones are, mean [DefaultWeights].
	Weights Weights
	// IgnoreRoom chooses among all workers, whether or not they have room, as the thesis does.
	// Otherwise a worker without room for all containers of the job is no candidate.
	IgnoreRoom bool
}

// HostReason says why a host was chosen.
type HostReason string

// The reasons.
const (
	// Stays: the current worker has the least score, so the job stays for good.
	Stays HostReason = "stays: no worker has a smaller score"
	// LeastScore: the host alone has the least score.
	LeastScore HostReason = "least score"
	// LeastUsage: several workers have the least score; none of them uses less than the host.
	LeastUsage HostReason = "least usage among the least scores"
	// NoRoom: workers with a smaller score exist, but none has room. The job stays and may ask
	// again.
	NoRoom HostReason = "stays: no worker with a smaller score has room"
	// BestWithRoom: a worker with a smaller score, or with the same score and less usage, has no
	// room; the host is the best of those that have.
	BestWithRoom HostReason = "best of those with room"
)

// Host is the decision.
type Host struct {
	// Worker is the position of the chosen worker; the current one where the job stays.
	Worker int
	// Decided says that the job is to be marked as migrated, even where it stays: the thesis
	// decides once for each job. Only [NoRoom] leaves it open.
	Decided bool
	Reason  HostReason
	// Scores holds the score of every worker, in units of 1/ScoreUnit.
	Scores []int64
}

// fits reports whether worker w has room for all containers of the job.
func (r *HostRequest) fits(w int) bool {
	return r.Demand.CountIn(r.Workers[w].Free) >= r.Containers
}

// before reports whether worker a is a better host than b by score and usage.
func (r *HostRequest) before(a, b int, scores []int64) bool {
	if scores[a] != scores[b] {
		return scores[a] < scores[b]
	}
	return r.Workers[a].Usage < r.Workers[b].Usage
}

// reason returns why the host was chosen; lower says that some worker has a smaller score than the
// current one.
func (r *HostRequest) reason(host Host, lower bool) HostReason {
	if host.Worker == r.Current {
		if lower {
			return NoRoom
		}
		return Stays
	}
	reason := LeastScore
	for w, score := range host.Scores {
		switch {
		case r.before(w, host.Worker, host.Scores):
			return BestWithRoom
		case w != host.Worker && score == host.Scores[host.Worker]:
			reason = LeastUsage
		}
	}
	return reason
}

func (r *HostRequest) validate(options *HostOptions) error {
	var faults apportion.Faults
	options.Weights.check(&faults)
	if r.Current < 0 || r.Current >= len(r.Workers) {
		faults.Add(apportion.Item{}, "Current", apportion.ErrRange, fmt.Sprintf("%d of %d workers", r.Current, len(r.Workers)))
	}
	if r.Containers < 1 {
		faults.Add(apportion.Item{}, "Containers", apportion.ErrRange, strconv.FormatInt(r.Containers, 10)+" is below 1")
	}
	check.Resources(&faults, r.Kinds, r.Demand, apportion.Item{}, "Demand")
	seen := make(map[string]bool, len(r.Workers))
	for i, w := range r.Workers {
		before := len(faults)
		check.ID(&faults, seen, w.ID, apportion.Item{})
		w.Counts.check(&faults)
		checkFinite(&faults, w.Usage, "Usage")
		checkFree(&faults, r.Kinds, w.Free)
		attribute(faults[before:], "worker", w.ID, i)
	}
	return faults.Err()
}

// ChooseHost chooses a host for a job whose growth is slow: the worker with the least score, the
// current one if it is among them, otherwise the one with the least usage; ties go to the first in
// the input. The score of the current worker counts the job itself. O(workers). All faults of the
// input are returned at once, as apportion.Faults.
func ChooseHost(request HostRequest, options *HostOptions) (Host, error) {
	var chosen HostOptions
	if options != nil {
		chosen = *options
	}
	if chosen.Weights == (Weights{}) {
		chosen.Weights = DefaultWeights()
	}
	if err := request.validate(&chosen); err != nil {
		return Host{}, err
	}
	host := Host{Scores: make([]int64, len(request.Workers))}
	for w := range request.Workers {
		host.Scores[w] = chosen.Weights.Score(request.Workers[w].Counts)
	}
	best, lower := request.Current, false
	for w := range request.Workers {
		if host.Scores[w] < host.Scores[request.Current] {
			lower = true
			if (chosen.IgnoreRoom || request.fits(w)) && request.before(w, best, host.Scores) {
				best = w
			}
		}
	}
	host.Worker = best
	host.Reason = request.reason(host, lower)
	host.Decided = host.Reason != NoRoom
	return host, nil
}
