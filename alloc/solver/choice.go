// This file checks and relaxes applications that may run in one of several ways, of which at most one is in use: the
// options H of [Program §2].

package solver

import (
	"fmt"
	"slices"
)

// Options is the constraint that an application uses one of its options, beside those of the paper.
const Options Constraint = "one option"

// inUse returns how many of the entries have containers, at least 2 standing for more.
func (c *Choice) inUse(counts Counts) int {
	used := 0
	for _, i := range c.Apps {
		if len(counts[i]) > 0 {
			used++
		}
	}
	return used
}

// checkChoices returns the first application that uses two options, or none where it must, wrapping ErrViolated, or nil.
func (inst *Instance) checkChoices(counts Counts) error {
	for c := range inst.Choices {
		choice := &inst.Choices[c]
		if used := choice.inUse(counts); used > 1 || used == 0 && choice.Required {
			return fmt.Errorf("%w: %s: %d of applications %v have containers", ErrViolated, Options, used, choice.Apps)
		}
	}
	return nil
}

// unused returns the loss and the worth of having nothing that sums over Apps count too often: an application has one
// share, and as many entries as options.
func (inst *Instance) unused() (share, idle float64) {
	// All options of one choice lose and are worth the same without containers, so that the first stands for them.
	for c := range inst.Choices {
		apps := inst.Choices[c].Apps
		times := float64(len(apps) - 1)
		share += float64(times * inst.Apps[apps[0]].Loss(0))
		idle += float64(times * inst.Apps[apps[0]].Idle)
	}
	return share, idle
}

// Apart returns inst with every option as an application of its own, and what that adds to the objective of a solution
// of inst: every solution of inst is one of it, so that its bounds, less added, are bounds of inst. Without Choices it
// is inst itself.
func (inst *Instance) Apart() (apart *Instance, added float64) {
	if len(inst.Choices) == 0 {
		return inst, 0
	}
	// Without the choice each option loses for itself by having nothing, and the budget grows by that.
	relaxed := *inst
	relaxed.Choices = nil
	share, idle := inst.unused()
	relaxed.LossBudget += share
	return &relaxed, idle - float64(inst.LossPrice*share)
}

// choiceOf returns for every application the position of its Choice, or -1 where it is in none; Validate has refused one that
// is in two.
func (inst *Instance) choiceOf() []int {
	of := slices.Repeat([]int{-1}, len(inst.Apps))
	for c := range inst.Choices {
		for _, i := range inst.Choices[c].Apps {
			of[i] = c
		}
	}
	return of
}
