// This file tests what a desk makes of the ends that it is told.

package guard_test

import (
	"testing"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/internal/must"
)

// Runs that die by themselves count until one has come further; those that somebody has ended, and good ends, do not.
func TestDeaths(t *testing.T) {
	step := int64(7)
	failed, usr1 := guard.End{Code: 1}, guard.End{Code: -1, Signal: "user defined signal 1"}
	for name, c := range map[string]struct {
		runs []guard.Claim
		want guard.Deaths
	}{
		"none":                     {nil, guard.Deaths{}},
		"good ends":                {[]guard.Claim{run(0, &guard.End{})}, guard.Deaths{}},
		"no step further":          {[]guard.Claim{run(5, &failed), run(5, &failed), run(3, &failed)}, guard.Deaths{Futile: 3, Last: failed}},
		"the second was further":   {[]guard.Claim{run(5, &failed), run(6, &failed), run(0, &failed)}, guard.Deaths{Futile: 2, Last: failed}},
		"somebody has ended it":    {[]guard.Claim{run(0, &guard.End{Code: -1, Signal: "killed", Why: guard.LeaseOver})}, guard.Deaths{}},
		"ended by the save signal": {[]guard.Claim{asked(run(5, &usr1)), asked(run(9, &usr1))}, guard.Deaths{Futile: 1, BySave: 2, Last: usr1}},
		"that signal, not asked":   {[]guard.Claim{run(0, &usr1)}, guard.Deaths{Futile: 1, Last: usr1}},
		"it has saved meanwhile":   {[]guard.Claim{asked(run(0, &usr1)), saved(run(0, nil), &step), run(0, &failed)}, guard.Deaths{Futile: 2, Last: failed}},
		"saved without a step":     {[]guard.Claim{run(0, &failed), saved(run(0, nil), nil), run(0, &failed)}, guard.Deaths{Futile: 1, Last: failed}},
	} {
		d, _ := desk()
		for i, claimed := range c.runs {
			claimed.Attempt = int64(i + 1)
			d.Begin("lr", claimed.Attempt)
			// A claim is made again and again, and a run has more than one container.
			for _, claimed.Rank = range []int{0, 0, 1} {
				must.Have(d.Answer(claimed))(t)
			}
		}
		must.Equal(t, d.Deaths("lr"), c.want, name)
		d.Forget("lr")
		must.Equal(t, d.Deaths("lr"), (guard.Deaths{}), name, "of a job that is forgotten")
	}
}

// run is the claim of a run at a step, which has ended or not.
func run(step int64, end *guard.End) guard.Claim {
	c := claim(1, "a")
	c.State = guard.State{Started: true, Ended: end}
	c.State.Progress.Step = step
	return c
}

// asked is such a claim of a guard that has heard of a save.
func asked(c guard.Claim) guard.Claim {
	c.Asked = 1
	return c
}

func saved(c guard.Claim, step *int64) guard.Claim {
	c.State.Checkpoint = &command.Acknowledgement{Request: 1, Step: step, Files: []string{"f"}}
	return asked(c)
}
