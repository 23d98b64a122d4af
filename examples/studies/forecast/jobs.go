// This file reads the jobs that are played: those of a trace, or made up.

package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/apportion/apportion/examples/internal/trace"
)

// All times of this program are in seconds.
const (
	hour = 3600.0
	day  = 24 * hour
)

// job is one row of a trace: so many units for so many seconds. limit is what its user asked for, wait how long it waited.
type job struct {
	id, user, queue       string
	submit, length, limit float64
	wait                  float64
	units                 int64
}

// readJobs returns the jobs that are submitted in the days that are played, by submission, counted from their beginning. Jobs of no unit, of
// more than the cluster has, or without a limit are left out.
func readJobs(o *options) ([]job, error) {
	all := madeUp(o.servers * o.size)
	if o.trace != "" {
		var err error
		if all, err = readTrace(o.trace, o.unit); err != nil {
			return nil, err
		}
	}
	all = slices.DeleteFunc(all, func(j job) bool {
		at := j.submit - o.from*day
		return j.units < 1 || j.units > o.servers*o.size || j.length <= 0 || j.limit <= 0 || at < 0 || at >= o.days*day
	})
	for i := range all {
		all[i].submit -= o.from * day
		// What ends with its limit is killed some seconds later: it is as long as its limit for a scheduler, which nobody knew before.
		all[i].length = min(all[i].limit, all[i].length)
	}
	slices.SortStableFunc(all, func(a, b job) int { return cmp.Compare(a.submit, b.submit) })
	return all, nil
}

// readTrace returns all jobs of a trace.
func readTrace(path, unit string) ([]job, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []job
	for row, err := range trace.Jobs(filepath.Base(path), file) {
		if err != nil {
			return nil, err
		}
		j := job{
			id: strconv.Itoa(len(all)), user: row.User, queue: row.Group, submit: row.Submit.Seconds(),
			length: math.Ceil(row.Duration.Value.Seconds()), limit: row.Estimate.Value.Seconds(), wait: row.Queue.Value.Seconds(), units: row.Tasks.Value,
		}
		if unit == "gpus" {
			j.units = int64(row.GPUs.Value)
		}
		all = append(all, j)
	}
	return all, nil
}

// madeUp returns a month without a trace: users who ask for round hours and use a part of their own of them.
func madeUp(units int64) []job {
	random := rand.New(rand.NewPCG(1, 1))
	var jobs []job
	for i := range 480 {
		user := random.IntN(12)
		limit := hour * float64(1+random.IntN(24))
		jobs = append(jobs, job{
			id: strconv.Itoa(i), user: fmt.Sprint("u", user), queue: fmt.Sprint("q", user%3), submit: math.Floor(random.Float64() * 30 * day),
			length: math.Ceil(limit * min(1, 0.05+0.08*float64(user)+0.1*random.Float64())), limit: limit, units: min(units, 1<<random.IntN(5)),
		})
	}
	return jobs
}
