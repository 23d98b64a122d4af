// This file decides by trial whether jobs can end by their deadlines: every schedule of whole workers, slot by slot.

package oasisoracle

// Timed is a job of a deadline: units of work left, units of one worker, most workers, and its deadline in slots from now.
type Timed struct {
	Left, Unit, Width int64
	By                int
}

// InTime reports whether some schedule ends all jobs in time. It tries all; for a handful of jobs and slots.
func InTime(jobs []Timed, capacity int64) bool {
	done := true
	for _, j := range jobs {
		done = done && j.Left == 0
		if j.Left > 0 && j.By < 1 {
			return false
		}
	}
	return done || slot(jobs, 0, make([]Timed, len(jobs)), capacity, capacity)
}

// slot tries every number of workers for the jobs from the i-th on, in what is free of this slot.
func slot(jobs []Timed, i int, next []Timed, free, capacity int64) bool {
	if i == len(jobs) {
		return InTime(append([]Timed(nil), next...), capacity)
	}
	j := jobs[i]
	for workers := min(j.Width, j.Left/j.Unit, free/j.Unit); workers >= 0; workers-- {
		next[i] = j
		next[i].Left -= workers * j.Unit
		next[i].By--
		if slot(jobs, i+1, next, free-workers*j.Unit, capacity) {
			return true
		}
	}
	return false
}
