// This file implements the way from a decision to a machine: events for applications and allocations,
// [Dorm] §III-C2.

package bridge

import (
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
)

// MaxContainers bounds the containers of one job. A machine lists each of them.
const MaxContainers = 1 << 20

// Submit returns the event that makes an application known to a machine. The error is an
// [*apportion.FieldError] if its Min is more than MaxContainers or negative; all else is checked by the
// machine.
func Submit(app *alloc.Application) (checkpoint.Submit, error) {
	if app.Min < 0 || app.Min > MaxContainers {
		return checkpoint.Submit{}, outOfRange(app.ID, "Min", app.Min)
	}
	return checkpoint.Submit{Job: app.ID, Demand: app.Demand.Clone(), Min: int(max(app.Min, 1))}, nil
}

func outOfRange(id, field string, n int64) error {
	return &apportion.FieldError{Item: apportion.Item{Kind: "application", ID: id}, Field: field, Err: apportion.ErrRange,
		Detail: strconv.FormatInt(n, 10)}
}

// listed returns the list of a job's containers: each server as often as counts says, ascending; nil if
// there are none.
func listed(counts map[string]int64) []string {
	var list []string
	for server, n := range counts {
		list = append(list, slices.Repeat([]string{server}, int(n))...)
	}
	slices.Sort(list)
	return list
}

// Counts is the inverse of Containers.
func Counts(list []string) map[string]int64 {
	counts := map[string]int64{}
	for _, server := range list {
		counts[server]++
	}
	return counts
}

// Goal returns the containers that a job has when all is done that was asked for. The list is shared with j.
func Goal(j *checkpoint.Job) []string {
	if j.Order != 0 {
		return j.Wanted
	}
	return j.Target
}

// Targets returns the event that carries an allocation out: the goals of those applications of the problem
// whose goal is another one now. It has no targets where nothing changes. jobs are those of the machine;
// applications that have ended there meanwhile are left out.
//
// The errors are [apportion.Faults]: an application that the machine does not know (apportion.ErrUnknown),
// and a number of containers that is negative or more than MaxContainers (apportion.ErrRange).
// O(containers).
func Targets(p *alloc.Problem, next alloc.Allocation, jobs []checkpoint.Job) (checkpoint.Adjust, error) {
	known := make(map[string]*checkpoint.Job, len(jobs))
	for i := range jobs {
		known[jobs[i].Name] = &jobs[i]
	}
	adjust := checkpoint.Adjust{Targets: map[string][]string{}}
	var faults apportion.Faults
	for i := range p.Applications {
		id := p.Applications[i].ID
		item := apportion.Item{Kind: "application", ID: id, Index: i}
		j := known[id]
		switch {
		case j == nil:
			faults.Add(item, "ID", apportion.ErrUnknown, "the machine has no such job")
			continue
		case j.Ending != "":
			continue
		}
		if server, n, bad := outside(next[id]); bad {
			faults.Add(item, "Allocation["+server+"]", apportion.ErrRange, strconv.FormatInt(n, 10))
			continue
		}
		if target := listed(next[id]); !slices.Equal(target, Goal(j)) {
			adjust.Targets[id] = target
		}
	}
	return adjust, faults.Err()
}

// outside returns a number of containers that no list can have.
func outside(counts map[string]int64) (server string, n int64, bad bool) {
	total := int64(0)
	for server, n := range counts {
		if n < 0 || n > MaxContainers-total {
			return server, n, true
		}
		total += n
	}
	return "", 0, false
}
