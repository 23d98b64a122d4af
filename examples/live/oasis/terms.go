// This file declares what a job says to the policies of this package, and turns it into theirs.

// Package oasis decides slot by slot for a cluster of real processes: by OASiS, whose schedules say how
// many workers and parameter servers each job has in every slot, and by FIFO for comparison. Jobs arrive
// between slots; decisions are taken when a slot begins.
package oasis

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual"
)

// Terms are what a job is submitted with for the policies of this package.
type Terms struct {
	// Steps is the work of the job, and PerWorkerSlot the part that one worker does in a slot in which it
	// has to start first.
	Steps         int64 `json:"steps"`
	PerWorkerSlot int64 `json:"per_worker_slot"`
	// Most is the greatest number of workers; WorkersPerPS is how many one parameter server serves. A
	// parameter server demands what a worker does: the protocol knows one size of container for a job.
	Most         int64 `json:"most"`
	WorkersPerPS int64 `json:"workers_per_ps"`
	// Worth is the utility by the slots from the one the job was first offered in.
	Worth primaldual.Sigmoid `json:"worth"`
	// Fixed is the number of workers under FIFO.
	Fixed int64 `json:"fixed"`
}

// read returns the terms that a job was submitted with.
// All faults are told at once, by field.
func read(job string, policy json.RawMessage) (*Terms, error) {
	var t Terms
	if err := json.Unmarshal(policy, &t); err != nil {
		return nil, fmt.Errorf("job %q: its terms: %w", job, err)
	}
	var faults apportion.Faults
	for _, f := range []struct {
		name  string
		value int64
	}{{"steps", t.Steps}, {"per_worker_slot", t.PerWorkerSlot}, {"most", t.Most}, {"workers_per_ps", t.WorkersPerPS}, {"fixed", t.Fixed}} {
		if f.value < 1 {
			faults.Add(apportion.Item{Kind: "job", ID: job}, f.name, apportion.ErrRange, strconv.FormatInt(f.value, 10))
		}
	}
	return &t, faults.Err()
}

// Job is the work that is left after some steps, as OASiS knows it, from a slot on.
// At least one step counts as left: a job that is done ends by itself.
func (t *Terms) Job(id string, demand apportion.Resources, arrival int, done int64) primaldual.Job {
	left := math.Ceil(float64(max(1, t.Steps-done)) / float64(t.PerWorkerSlot))
	return primaldual.Job{
		ID: id, Arrival: arrival, Epochs: 1, Chunks: t.Most, Minibatches: 1, MinibatchSlots: left / float64(t.Most),
		WorkerBandwidth: 1, PSBandwidth: t.WorkersPerPS, Worker: demand, PS: demand, Utility: t.Worth,
	}
}
