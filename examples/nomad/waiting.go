// This file reads the containers of others that Nomad has no room for, for which elastic jobs make some.

package nomad

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/checkpoint/controller"
)

// mostQueued bounds the containers of one group that are asked for at once.
const mostQueued = 100

// waiting are the containers that Nomad has queued of jobs that are not elastic, those of the highest priority first. A job with such
// is read once for each version of it.
func (n *nomad) waiting(ctx context.Context, stubs []*api.JobListStub) ([]controller.Waiting, error) {
	stubs = slices.Clone(stubs)
	slices.SortStableFunc(stubs, func(a, b *api.JobListStub) int { return cmp.Compare(b.Priority, a.Priority) })
	var list []controller.Waiting
	queued := map[string]bool{}
	for _, stub := range stubs {
		if isElastic(stub.Meta) || isChild(stub.ID, stub.Meta) || stub.Stop || stub.JobSummary == nil {
			continue
		}
		for name, count := range stub.JobSummary.Summary {
			queued[stub.ID] = queued[stub.ID] || name != "" && count.Queued > 0
		}
		if !queued[stub.ID] {
			continue
		}
		job := n.others[stub.ID]
		if job == nil || value(job.JobModifyIndex) != stub.JobModifyIndex {
			var err error
			if job, _, err = n.client.Jobs().Info(stub.ID, (&api.QueryOptions{}).WithContext(ctx)); err != nil {
				return nil, err
			}
			n.others[stub.ID] = job
		}
		for _, group := range job.TaskGroups {
			list = append(list, waitingOf(job, group, stub.JobSummary.Summary[value(group.Name)].Queued)...)
		}
	}
	maps.DeleteFunc(n.others, func(id string, _ *api.Job) bool { return !queued[id] })
	return list, nil
}

// waitingOf are containers of a group, each by itself, as Nomad begins what has room. A constraint that cannot be read asks for nothing,
// so that room may be made in vain, for as long as the controller holds it.
func waitingOf(j *api.Job, group *api.TaskGroup, n int) []controller.Waiting {
	alone := *j
	alone.TaskGroups = []*api.TaskGroup{group}
	var list []controller.Waiting
	for i := range min(n, mostQueued) {
		one := controller.Waiting{ID: fmt.Sprintf("%s.%s[%d]", *j.ID, value(group.Name), i), Demand: demandOf(group)}
		one.Requires, _ = requirementsOf(&alone)
		list = append(list, one)
	}
	return list
}
