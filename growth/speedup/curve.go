// This file implements a job's curve: fitted step times, and what they make of other numbers of containers, [Qiao21] §4.1.

package speedup

import (
	"math"

	"github.com/apportion/apportion"
)

// Curve is what is known of a job's step times. It is a plain value that survives encoding/json; [Fit] and
// [Cold] make one.
type Curve struct {
	// Model is the form of the curve, never Auto; Params are its parameters, see the package comment.
	Model  Model     `json:"model"`
	Params []float64 `json:"params,omitempty"`
	// Points are the rates of a Table, by servers and then containers.
	Points []Point `json:"points,omitempty"`
	// Samples is what a step of the job trains on, at which speeds are compared.
	Samples float64 `json:"samples"`
	// Most is the number of containers beyond which nothing more is promised.
	Most int64 `json:"most"`
	// Measured is the largest number of containers that was measured; 0 where nothing was.
	Measured int64 `json:"measured"`
	// Configurations is how many unlike combinations of containers, servers and samples were measured.
	Configurations int `json:"configurations"`
	// Error is by how much the curve is off where it was not measured: the root mean square, over configurations that were left
	// out in turn, of ln(predicted/measured). LeftOut is how many those were; 0: too few to tell, and Error says nothing.
	Error   float64 `json:"error"`
	LeftOut int     `json:"left_out"`
}

// Options are the choices of a fit; nil means all defaults.
type Options struct {
	// Model is the form of the curve; the zero value is Auto.
	Model Model
	// Request is the number of containers that the job's user asked for; 0: nobody did, and a curve is trusted
	// up to twice what was measured.
	Request int64
	// Samples is what a step of the job trains on; 0 means the samples of the observation with the most containers.
	Samples float64
}

func (o *Options) check(faults *apportion.Faults) {
	if o.Model > Table {
		faults.Add(apportion.Item{}, "Model", apportion.ErrUnknown, o.Model.String())
	}
	if o.Request != 0 {
		checkRequest(faults, o.Request)
	}
	if o.Samples != 0 {
		checkPositive(faults, apportion.Item{}, "Samples", o.Samples)
	}
}

// Cold returns the curve of a job of which nothing is known: linear up to the request of its user, at least 1, and nothing beyond
// it. ErrRange for a request below 1 or above 2^20.
func Cold(request int64) (*Curve, error) {
	var faults apportion.Faults
	if checkRequest(&faults, request); len(faults) > 0 {
		return nil, faults
	}
	return &Curve{Model: Linear, Params: []float64{1}, Samples: 1, Most: request}, nil
}

// StepTime returns the seconds that the curve expects a step of some samples to take on containers on servers; +Inf
// for counts that are none: fewer than 1, or more servers than containers. It does not stop at Most, and may rise with containers.
func (c *Curve) StepTime(containers, servers int64, samples float64) float64 {
	if containers < 1 || servers < 1 || servers > containers {
		return math.Inf(1)
	}
	at := configuration{containers, servers, samples}
	switch c.Model {
	case Table:
		if len(c.Points) == 0 {
			return math.Inf(1)
		}
		return samples / lookUp(c.Points, containers, servers)
	case Pollux:
		// A curve that somebody has cut short counts what is missing as 0.
		var params [polluxParams]float64
		copy(params[:], c.Params)
		return twoPhase(&params, at)
	default:
		return sum(c.Params[:min(len(c.Params), mostTerms)], at)
	}
}

// rate returns the samples a second of the job on containers that are packed on as few servers as hold them.
func (c *Curve) rate(containers, perServer int64) float64 {
	// Rounded up without an overflow; containers is at least 1.
	servers := (containers-1)/perServer + 1
	return c.Samples / c.StepTime(containers, servers, c.Samples)
}

// Speeds returns how many times faster the job is on each number of containers than on one, packed on servers that hold
// perServer of them. A count of 0 has speed 0. Speeds never fall with the count and rise no more from Most on. Counts may be in any
// order.
//
// Errors: ErrRange for a count outside [0, 2^20] or perServer below 1. O(the largest count).
func (c *Curve) Speeds(counts []int64, perServer int64) ([]float64, error) {
	if err := checkSpeeds(counts, perServer); err != nil {
		return nil, err
	}
	// Nothing beyond Most is computed, however large a count is.
	most := int64(0)
	for _, n := range counts {
		most = max(most, min(n, c.Most))
	}
	// rising[n] is the best that a job can do with n: it may leave some of them idle.
	rising := make([]float64, most+1)
	// Speeds are ratios of rates, so that the unit of the samples does not matter.
	one := c.rate(1, perServer)
	for n := int64(1); n <= most; n++ {
		rising[n] = max(rising[n-1], c.rate(n, perServer)/one)
	}
	speeds := make([]float64, len(counts))
	for i, n := range counts {
		speeds[i] = rising[min(n, most)]
	}
	return speeds, nil
}
