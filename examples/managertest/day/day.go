// This file declares a day of jobs on a cluster, and takes its jobs from a trace.

// Package day holds days of jobs that were played on real clusters: what arrived, who worked when, and what that comes to.
package day

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Job is a job of a day. Times are in seconds of the play, from its beginning.
// It is written to the record as it was played, and the study reads nothing else.
type Job struct {
	Name string  `json:"name"`
	At   float64 `json:"at"`
	// Fixed is how many containers its user asked for in the trace; Max how many it can use.
	Fixed int64 `json:"fixed"`
	Max   int64 `json:"max"`
	// Work is how long one container needs for it, in seconds.
	Work float64 `json:"work"`
	// Ended is when its work was done; 0: never.
	// A record with such a job cannot be measured.
	Ended float64 `json:"ended,omitzero"`
}

// Life is a container of a job that was at work.
// It begins when the worker's own log says that it was at work, not when the manager says that it was
// started.
type Life struct {
	Job   string  `json:"job"`
	From  float64 `json:"from"`
	Until float64 `json:"until"`
}

// Record is a day that was played.
// It is JSON in examples/studies/clusters/data, made by TestDay of each controller.
type Record struct {
	// Manager is the cluster's, Policy who decided.
	Manager string `json:"manager"`
	Policy  string `json:"policy"`
	// Slots is how many containers the cluster holds.
	Slots int64  `json:"slots"`
	Jobs  []Job  `json:"jobs"`
	Lives []Life `json:"lives"`
}

// What a job of a trace becomes.
// Both were chosen so that twenty jobs keep the cluster busy and the day still ends.
const (
	// elastic: a job on g GPUs can use up to elastic x g containers.
	elastic = 4
	// longest is the part of the day that a job may take with its fixed containers: what is longer is cut.
	longest = 0.5
)

// Jobs returns n jobs of a trace that spans a day, picked evenly from it, with the day made as short as length: submit
// times, durations and numbers of GPUs are the trace's, a container stands for a GPU.
// Jobs without GPUs or without a known duration are left out. Work is that of one container: a job on g
// GPUs for d seconds has d x g. Errors name the file and its row.
func Jobs(file string, text []byte, n int, slots int64, length time.Duration) ([]Job, error) {
	rows, err := read(file, text)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > len(rows) {
		return nil, fmt.Errorf("%s has %d jobs, not %d", file, len(rows), n)
	}
	if slots < 1 || length <= 0 {
		return nil, errors.New("a day without a cluster, or without an end")
	}
	// faster is how many seconds of the trace pass in a second of the play.
	faster := float64(24*time.Hour) / float64(length)
	var jobs []Job
	for i := range n {
		row := &rows[i*len(rows)/n]
		gpus := min(int64(math.Round(row.gpus)), slots)
		took := min(row.duration/faster, longest*length.Seconds())
		jobs = append(jobs, Job{Name: fmt.Sprintf("job-%02d", i+1), At: row.submit / faster, Fixed: gpus,
			Max: min(elastic*gpus, slots), Work: took * float64(gpus)})
	}
	return jobs, nil
}

// traced is a job of a trace; submit and duration are in seconds.
type traced struct{ submit, duration, gpus float64 }

// read reads the jobs of a trace that have a duration and at least one GPU. Its first row names the columns.
func read(file string, text []byte) ([]traced, error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s: no trace: %w", file, err)
	}
	submit, duration, gpus := slices.Index(rows[0], "submit_s"), slices.Index(rows[0], "duration_s"), slices.Index(rows[0], "gpus")
	if min(submit, duration, gpus) < 0 {
		return nil, fmt.Errorf("%s has no submit_s, duration_s or gpus", file)
	}
	var jobs []traced
	for i, row := range rows[1:] {
		if row[duration] == "" || row[gpus] == "" {
			continue
		}
		at, err := strconv.ParseFloat(row[submit], 64)
		took, err2 := strconv.ParseFloat(row[duration], 64)
		n, err3 := strconv.ParseFloat(row[gpus], 64)
		if err := errors.Join(err, err2, err3); err != nil {
			return nil, fmt.Errorf("%s, row %d: %w", file, i+2, err)
		}
		if n >= 1 {
			jobs = append(jobs, traced{at, took, n})
		}
	}
	return jobs, nil
}
