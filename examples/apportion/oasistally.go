// This file adds up what the jobs of oasis have earned.

package main

import "github.com/apportion/apportion/primaldual"

// oasisTally is what jobs have earned: those that ended, and those that run, in order of admission.
type oasisTally struct {
	// Settled is the sum over jobs that have ended, Running what each of the others will earn.
	Settled float64        `json:"settled"`
	Running []oasisEarning `json:"running"`
}

type oasisEarning struct {
	ID      string  `json:"id"`
	Utility float64 `json:"utility"`
}

// settle moves what a job earned to what is settled.
func (t *oasisTally) settle(id string, utility float64) {
	for i := range t.Running {
		if t.Running[i].ID == id {
			// The order of admission is kept, so that the sum is added up in one order in every run.
			t.Running = append(t.Running[:i], t.Running[i+1:]...)
			t.Settled += utility
			return
		}
	}
}

// change notes the new decision about a job that lost a server.
func (t *oasisTally) change(id string, d *primaldual.Decision) {
	if !d.Admitted {
		t.settle(id, 0)
		return
	}
	for i := range t.Running {
		if t.Running[i].ID == id {
			t.Running[i].Utility = d.Utility
		}
	}
}

// total returns what all jobs have earned or will.
//
// The sum is in the order of admission. A resumed run has the same tally, and so the same last bit.
func (t *oasisTally) total() float64 {
	sum := t.Settled
	for _, earning := range t.Running {
		sum += earning.Utility
	}
	return sum
}
