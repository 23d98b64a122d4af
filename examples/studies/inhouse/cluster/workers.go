// This file checks what the workers of all jobs have written themselves.

package cluster

import (
	"os"

	"github.com/apportion/apportion/checkpoint/workerlog"
)

// CheckWorkers returns what the logs of all workers of a cluster say against it: that a job ran twice at the same time, or
// lost what the samples have shown to be confirmed. It is to be asked when the jobs have ended.
func (p Place) CheckWorkers(samples []Sample) error {
	lines, err := workerlog.ReadAll(os.DirFS(p.Shared()))
	if err != nil {
		return err
	}
	return workerlog.Check(lines, &workerlog.Options{Confirmed: confirmed(samples)})
}

// confirmed are the checkpoints that masters have shown, each when it was first seen.
// A step is noted once, with the earliest time, which is the strictest.
func confirmed(samples []Sample) []workerlog.Confirmed {
	var all []workerlog.Confirmed
	newest := map[string]int64{}
	for i := range samples {
		for _, v := range samples[i].List.Jobs {
			if step := v.Checkpoint.Step; v.Checkpoint.Number > 0 && step > newest[v.Job.Name] {
				newest[v.Job.Name] = step
				all = append(all, workerlog.Confirmed{Job: v.Job.Name, Step: step, At: samples[i].Seen.UnixNano()})
			}
		}
	}
	return all
}
