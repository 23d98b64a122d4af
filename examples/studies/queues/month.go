// This file reads the month that is played: jobs of users in projects, from a trace or made up.

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

// A month has 30 days.
// All times of this program are in seconds.
const (
	hour  = 3600.0
	month = 30 * 24 * hour
)

// job is one row of a trace: so many GPUs for so many seconds.
// submit counts from the beginning of the month.
type job struct {
	id             string
	project, user  string
	submit, length float64
	gpus           int64
}

// readMonth returns the 30 days of a trace in which most GPU time was submitted, from its first second on.
// Jobs of more GPUs than the cluster has, or of none, are left out.
// What is submitted in the month runs to its end, also after it.
func readMonth(path string, gpus int64) ([]job, error) {
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
			id: strconv.Itoa(len(all)), project: row.Group, user: row.User, submit: row.Submit.Seconds(),
			length: math.Ceil(row.Duration.Value.Seconds()), gpus: int64(row.GPUs.Value),
		}
		if j.length > 0 && j.gpus > 0 && j.gpus <= gpus {
			all = append(all, j)
		}
	}
	slices.SortStableFunc(all, func(a, b job) int { return cmp.Compare(a.submit, b.submit) })
	best, from := 0.0, 0.0
	for start := 0.0; len(all) > 0 && start < all[len(all)-1].submit; start += 24 * hour {
		sum := 0.0
		for _, j := range window(all, start) {
			sum += j.length * float64(j.gpus)
		}
		if sum > best {
			best, from = sum, start
		}
	}
	busiest := slices.Clone(window(all, from))
	for i := range busiest {
		busiest[i].submit -= from
	}
	return busiest, nil
}

// window returns the jobs that were submitted in the month from start on; all ascend in submit.
func window(all []job, start float64) []job {
	at := func(t float64) int {
		i, _ := slices.BinarySearchFunc(all, t, func(j job, t float64) int { return cmp.Compare(j.submit, t) })
		return i
	}
	return all[at(start):at(start+month)]
}

// madeUp returns a month without a trace: projects of very different appetite.
func madeUp(gpus int64) []job {
	random := rand.New(rand.NewPCG(1, 1))
	var jobs []job
	for i := range 600 {
		project := int(5 * math.Pow(random.Float64(), 2))
		jobs = append(jobs, job{
			id: strconv.Itoa(i), project: fmt.Sprint("p", project), user: fmt.Sprint("p", project, "-u", random.IntN(1+3*project)),
			submit: math.Floor(random.Float64() * month / 4), length: math.Ceil(hour * random.ExpFloat64() * 20),
			gpus: min(gpus, 1<<random.IntN(4)),
		})
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(a.submit, b.submit) })
	return jobs
}
