// This file implements the curve of a running job: measurements come one by one, and old ones make room for new ones, [Qiao21] §4.1.

package speedup

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
)

const (
	// mostKept is how many configurations an Estimator remembers, mostTimes how many times of each: a median of nine
	// is right with four wrong ones.
	// Both bound what a fit of a long job costs and what a snapshot holds.
	mostKept, mostTimes = 64, 9
)

// Kept are the newest times of one configuration.
type Kept struct {
	Containers int64   `json:"containers"`
	Servers    int64   `json:"servers"`
	Samples    float64 `json:"samples"`
	// Seconds are at most nine, the oldest first.
	Seconds []float64 `json:"seconds"`
	// Newest is the number of the newest of them, counted over all measurements of the job.
	Newest int64 `json:"newest"`
}

// Estimator learns the curve of one job while it runs. It is a plain value that survives encoding/json: all that it knows is in
// its fields. The zero Estimator is of a job that nothing is known of, not even a request.
//
// It holds the newest nine times of each of 64 configurations, so a job whose steps have become slower is known by its newest
// ones, and single wrong measurements are outvoted. It is not safe for concurrent use.
type Estimator struct {
	// Model is the form of the curve; the zero value is Auto.
	Model Model `json:"model"`
	// Request is the number of containers that the user asked for; 0: nobody did.
	Request int64 `json:"request"`
	// Kept are the measurements, by configuration, in the order in which those were first seen; Count is how many there were.
	Kept  []Kept `json:"kept,omitempty"`
	Count int64  `json:"count"`
}

// Observe takes a measurement. Errors are those of an observation of [Fit]; then nothing changes.
func (e *Estimator) Observe(o Observation) error {
	var faults apportion.Faults
	if o.check(&faults, int(min(e.Count, 1<<30))); len(faults) > 0 {
		return faults
	}
	e.Count++
	at := slices.IndexFunc(e.Kept, func(k Kept) bool { return k.configuration() == o.configuration() })
	if at < 0 {
		if len(e.Kept) == mostKept {
			e.Kept = slices.Delete(e.Kept, e.oldest(), e.oldest()+1)
		}
		at, e.Kept = len(e.Kept), append(e.Kept, Kept{Containers: o.Containers, Servers: o.Servers, Samples: o.Samples})
	}
	k := &e.Kept[at]
	if len(k.Seconds) == mostTimes {
		k.Seconds = slices.Delete(k.Seconds, 0, 1)
	}
	k.Seconds, k.Newest = append(k.Seconds, o.Seconds), e.Count
	return nil
}

// configuration is what the times were measured on.
func (k *Kept) configuration() configuration {
	return configuration{k.Containers, k.Servers, k.Samples}
}

// oldest returns the place of the configuration that was not measured for longest.
func (e *Estimator) oldest() int {
	oldest := slices.MinFunc(e.Kept, func(a, b Kept) int { return cmp.Compare(a.Newest, b.Newest) })
	return slices.IndexFunc(e.Kept, func(k Kept) bool { return k.Newest == oldest.Newest })
}

// Observations returns all that is kept, for a fit of one's own.
func (e *Estimator) Observations() []Observation {
	var all []Observation
	for i := range e.Kept {
		k := &e.Kept[i]
		for _, seconds := range k.Seconds {
			all = append(all, Observation{k.Containers, k.Servers, k.Samples, seconds})
		}
	}
	return all
}

// Curve returns what is known now: the fit of what is kept, at the samples of the newest measurement, or [Cold] before the first
// one. Without a request a cold job is promised one container.
//
// Errors, as apportion.Faults: what is wrong with the fields, where a caller has set them.
func (e *Estimator) Curve() (*Curve, error) {
	if len(e.Kept) == 0 {
		return Cold(max(e.Request, 1))
	}
	newest := slices.MaxFunc(e.Kept, func(a, b Kept) int { return cmp.Compare(a.Newest, b.Newest) })
	c, err := Fit(e.Observations(), &Options{Model: e.Model, Request: e.Request, Samples: newest.Samples})
	if err != nil {
		return nil, err
	}
	return c, nil
}
