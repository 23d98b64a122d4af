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
}
