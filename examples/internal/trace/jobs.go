// This file reads traces of submitted jobs.

package trace

import (
	"io"
	"iter"
	"slices"
	"time"
)

// Job is one job that was submitted to a cluster.
type Job struct {
	// ID is unique in a trace only as far as its source is.
	ID string
	// Submit counts from the first job of the trace.
	Submit time.Duration
	// Duration is how long it ran.
	Duration Maybe[time.Duration]
	// GPUs, CPUs and MemGB are totals over the whole job. A GPU that is shared counts in parts.
	GPUs, CPUs, MemGB Maybe[float64]
	// User submitted it. Group is its virtual cluster, project or workload. Empty: unknown.
	User, Group string
	// Tasks is its number of nodes, workers or replicas.
	Tasks Maybe[int64]
	// Queue is how long it waited on the real system, Estimate the run time its user asked for.
	Queue, Estimate Maybe[time.Duration]
	// Status is how it ended; Kind its model, application, class or role. Empty: unknown.
	Status, Kind string
	// Extra holds the columns that only this file has, by name; nil where it has none.
	Extra map[string]string
}

// jobColumns are the columns that every trace has been converted to; a source without one leaves it empty.
var jobColumns = []string{"job_id", "submit_s", "duration_s", "gpus", "cpus", "mem_gb", "user",
	"group", "tasks", "queue_s", "est_s", "status", "kind"}

// Jobs reads a trace of jobs. Every job must have an id and a submit time.
// Rows come in the order of the file, which need not be that of submission.
func Jobs(file string, in io.Reader) iter.Seq2[Job, error] {
	return rows(file, in, jobColumns, decodeJob)
}

// decodeJob reads one job; id wants the submit time to be there, as seconds alone would take an empty one for unknown.
func decodeJob(r *row) Job {
	r.id("submit_s")
	return Job{
		ID:       r.id("job_id"),
		Submit:   r.seconds("submit_s").Value,
		Duration: r.seconds("duration_s"),
		GPUs:     r.number("gpus"),
		CPUs:     r.number("cpus"),
		MemGB:    r.number("mem_gb"),
		User:     r.text("user"),
		Group:    r.text("group"),
		Tasks:    r.count("tasks"),
		Queue:    r.seconds("queue_s"),
		Estimate: r.seconds("est_s"),
		Status:   r.text("status"),
		Kind:     r.text("kind"),
		Extra:    r.extra(jobColumns),
	}
}

// extra returns the columns that are not among known.
func (r *row) extra(known []string) map[string]string {
	var extra map[string]string
	for i, name := range r.table.header {
		if slices.Contains(known, name) {
			continue
		}
		if extra == nil {
			extra = make(map[string]string)
		}
		extra[name] = r.fields[i]
	}
	return extra
}
