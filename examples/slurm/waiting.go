// This file reads the jobs of others that wait for room, for which elastic jobs make some.

package slurm

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller"
)

// waitingOf are those of these jobs that wait for nothing but room, the one that Slurm would begin first in front.
func waitingOf(jobs []*job) []controller.Waiting {
	jobs = slices.DeleteFunc(jobs, func(j *job) bool { return !j.waitsForRoom() })
	slices.SortStableFunc(jobs, func(a, b *job) int { return cmp.Or(cmp.Compare(b.rank(), a.rank()), cmp.Compare(a.ID, b.ID)) })
	var list []controller.Waiting
	for _, j := range jobs {
		list = append(list, j.waiting())
	}
	return list
}

func (j *job) waitsForRoom() bool {
	return j.State == "PENDING" && (j.Reason == "Resources" || j.Reason == "Priority")
}

func (j *job) rank() int64 {
	if j.Priority == nil {
		return 0
	}
	return *j.Priority
}

// waiting is what a job waits for: so many tasks, or where it asks for several nodes as many equal parts, each on a node of its own.
// Of an array it is the next task. Where an amount does not divide each part has a little more.
func (j *job) waiting() controller.Waiting {
	w := controller.Waiting{ID: j.id(), Demand: requestedIn(j.Requested), Count: max(j.Tasks, 1), Requires: j.requires()}
	if j.NodeCount > 1 {
		w.Count, w.PerServer = j.NodeCount, 1
	}
	for k := range w.Demand {
		w.Demand[k] = (w.Demand[k] + w.Count - 1) / w.Count
	}
	return w
}

// units are those of memory in MB, as Slurm writes it.
var units = map[string]int64{"M": 1, "G": 1 << 10, "T": 1 << 20}

// requestedIn reads what a job asks for in all, as cpu=2,mem=1000M,node=1,billing=2,gres/gpu=1.
func requestedIn(text string) apportion.Resources {
	demand := make(apportion.Resources, len(kinds))
	for word := range strings.SplitSeq(text, ",") {
		name, amount, _ := strings.Cut(word, "=")
		k := slices.Index([]string{"cpu", "mem", "gres/gpu"}, name)
		if k < 0 {
			continue
		}
		unit := int64(1)
		if n := len(amount) - 1; n > 0 && units[amount[n:]] > 0 {
			unit, amount = units[amount[n:]], amount[:n]
		}
		if n, err := strconv.ParseInt(amount, 10, 64); err == nil && n >= 0 && n <= most {
			demand[k] = n * unit
		}
	}
	return demand
}
