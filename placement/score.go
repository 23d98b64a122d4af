// This file implements the weighted score of a worker, [Zheng] Algorithm 4, lines 2-3.

package placement

import (
	"strconv"

	"github.com/apportion/apportion"
)

// ScoreUnit is how much a score of 1 in the thesis is here: its weights 2, 1.5 and 1 are halves,
// and whole numbers compare exactly.
const ScoreUnit = 2

// weightLimit bounds weights and counts so that no score overflows: 3 * 2^30 * 2^30 < 2^62.
const weightLimit = 1 << 30

// Weights are the weights of the categories in a worker's score, in units of 1/[ScoreUnit]: whole,
// positive, at most 2^30, and Progressing > Watching > Converged.
type Weights struct {
	Progressing, Watching, Converged int64
}

// DefaultWeights returns the thesis' 2, 1.5 and 1, §6.2.1.
func DefaultWeights() Weights { return Weights{Progressing: 4, Watching: 3, Converged: 2} }

// Counts are the sizes of a worker's category sets PC, WC and CC: each in [0, 2^30].
type Counts struct {
	Progressing, Watching, Converged int64
}

// Score returns S_w = |PC_w| w_pc + |WC_w| w_wc + |CC_w| w_cc in units of 1/[ScoreUnit]. A worker
// with a smaller score has less to do.
func (w Weights) Score(c Counts) int64 {
	return c.Progressing*w.Progressing + c.Watching*w.Watching + c.Converged*w.Converged
}

// check adds to faults weights that are not whole, positive and falling.
func (w Weights) check(faults *apportion.Faults) {
	if w.Converged < 1 || w.Watching <= w.Converged || w.Progressing <= w.Watching || w.Progressing > weightLimit {
		faults.Add(apportion.Item{}, "Weights", apportion.ErrRange, "need 2^30 >= Progressing > Watching > Converged >= 1")
	}
}

// Validate returns what is wrong with the weights, or nil.
func (w Weights) Validate() error {
	var faults apportion.Faults
	w.check(&faults)
	return faults.Err()
}

func (c Counts) check(faults *apportion.Faults) {
	for _, count := range [...]struct {
		field string
		n     int64
	}{{"Counts.Progressing", c.Progressing}, {"Counts.Watching", c.Watching}, {"Counts.Converged", c.Converged}} {
		if count.n < 0 || count.n > weightLimit {
			faults.Add(apportion.Item{}, count.field, apportion.ErrRange, strconv.FormatInt(count.n, 10))
		}
	}
}
