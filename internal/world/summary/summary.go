// Package summary is what a run says of itself: the program cluster writes it, and its host reads it.
package summary

// Summary is what came of a run.
type Summary struct {
	Seed uint64 `json:"seed"`
	// Hours are those of the cluster.
	Hours float64 `json:"hours"`
	// Faults are how many came of each kind.
	Faults map[string]int `json:"faults"`
	// Masters have led; jobs were Submitted and Completed, in so many Attempts, with so many Saves that count.
	Masters   int `json:"masters"`
	Submitted int `json:"submitted"`
	Completed int `json:"completed"`
	Attempts  int `json:"attempts"`
	Saves     int `json:"saves"`
	// Calls are those of users that were judged.
	Calls int `json:"calls"`
	// Trace is a sum of all that happened: equal runs have equal ones.
	Trace      string   `json:"trace"`
	Violations []string `json:"violations,omitempty"`
	// Traces are there if they were asked for, until records were lost.
	Traces []Trace `json:"traces,omitempty"`
}

// Trace is what has happened to a job.
type Trace struct {
	Job   string `json:"job"`
	Steps []Step `json:"steps"`
}

// Step is a step of the run protocol, of a Kind of model/TRACE.tla. At and Stamp are milliseconds of the run; servers and attempts are counted
// from 1 on.
type Step struct {
	Kind    string `json:"kind"`
	At      int64  `json:"at"`
	Server  int    `json:"server,omitempty"`
	Attempt int64  `json:"attempt,omitempty"`
	Stamp   int64  `json:"stamp,omitempty"`
	On      []int  `json:"on,omitempty"`
}
