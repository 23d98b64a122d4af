// This file holds instances with applications that may run in one of several ways.

package solvertest

import (
	"math/rand/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// choices compares random instances with options with enumeration.
func choices(p *probe) error { return p.enumerates("Choices", Choices, p.opts.General) }

func knownChoices(p *probe) error { return p.knows(choiceCases) }

// Choices draws the instance of General with this seed, or that of Worth, and makes two or three of its applications
// the options of one.
func Choices(seed uint64) *solver.Instance {
	inst := General(seed)
	if seed%2 == 1 {
		inst = Worth(seed)
	}
	// A choice of one would be no choice: a second way is drawn where there is one application alone.
	r := rand.New(rand.NewPCG(seed, 7))
	if len(inst.Apps) == 1 {
		// One application has a second option that differs in what it needs and brings. A price of loss of 1 means that
		// nothing but losses counts, here as well.
		other := smallApp(r, inst)
		generalizeApp(r, &other)
		if inst.LossPrice == 1 {
			other.Value = 0
		}
		inst.Apps = append(inst.Apps, other)
	}
	choice := solver.Choice{Required: r.IntN(3) == 0}
	// Of two applications both are options, or there would be no choice.
	skip := r.IntN(len(inst.Apps) + 1) // one stays what it is, or none
	for i := range inst.Apps {
		if i != skip || len(inst.Apps) == 2 {
			choice.Apps = append(choice.Apps, i)
		}
	}
	inst.Choices = []solver.Choice{choice}
	makeOptions(inst, &choice)
	return inst
}

// withOption gives Tiny an application more, other, as the second option of NN; required says that one of both must run.
func withOption(i *solver.Instance, required bool, other solver.App) {
	other.Share = i.Apps[2].Share
	i.Apps = append(i.Apps, other)
	i.Choices = []solver.Choice{{Apps: []int{2, 3}, Required: required}}
	i.Apps[2].Elective, i.Apps[3].Elective = true, true
}

// choiceCases are those of options, one each. Tiny's optimum is 38/16; its NN needs a CPU and the only GPU.
var choiceCases = []knownCase{
	// A container that needs nothing beside is not worth the GPU.
	{"the better of two", func(i *solver.Instance) {
		withOption(i, true, solver.App{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 1, Value: 3. / 16, Delta: 1. / 8})
	}, 2.375},
	// Both would fit, and be worth more.
	{"never both", func(i *solver.Instance) {
		i.Apps = i.Apps[2:]
		i.Apps = append(i.Apps, i.Apps[0])
		i.Apps[1].Demand, i.Apps[1].Value = apportion.Resources{1, 0, 2}, 3./16
		i.Apps[0].Elective, i.Apps[1].Elective = true, true
		i.Choices = []solver.Choice{{Apps: []int{0, 1}}}
	}, 5. / 4},
	// No server has two GPUs, so that only the other option is left.
	{"the only one that fits", func(i *solver.Instance) {
		i.Apps[2].Demand = apportion.Resources{1, 2, 4}
		withOption(i, true, solver.App{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 1, Value: 3. / 16, Delta: 1. / 8})
	}, 2*3./16 + 2*5./16 + 3./16},
	{"none fits", func(i *solver.Instance) {
		i.Apps[2].Demand = apportion.Resources{1, 2, 4}
		withOption(i, true, solver.App{Demand: apportion.Resources{5, 0, 2}, Min: 1, Max: 1, Value: 3. / 16, Delta: 1. / 8})
	}, none},
	// LR runs, and with its other option a container is worth more: one adjustment, which the budget has.
	{"another way to run", func(i *solver.Instance) {
		i.Apps = append(i.Apps[:2:2], i.Apps[0])
		other := &i.Apps[2]
		other.Running, other.Previous, other.Value, other.Min, other.Max = false, nil, 1, 2, 2
		i.Apps[0].Elective, other.Elective = true, true
		i.Choices = []solver.Choice{{Apps: []int{0, 2}, Required: true}}
	}, 2 + 3*5./16},
	// That takes the only adjustment, so that MF cannot have what is free on the second server.
	{"another way takes the budget", func(i *solver.Instance) {
		i.Apps = append(i.Apps[:2:2], i.Apps[0])
		i.Apps[1].Previous[1].Count = 1
		other := &i.Apps[2]
		other.Running, other.Previous, other.Demand, other.Value, other.Min, other.Max = false, nil, apportion.Resources{2, 0, 2}, 1, 1, 1
		i.Apps[0].Elective, other.Elective = true, true
		i.Choices = []solver.Choice{{Apps: []int{0, 2}, Required: true}}
	}, 1 + 2*5./16},
	// The same where no adjustment is allowed.
	{"no other way within the budget", func(i *solver.Instance) {
		i.Apps = append(i.Apps[:2:2], i.Apps[0])
		other := &i.Apps[2]
		other.Running, other.Previous, other.Value, other.Min, other.Max = false, nil, 1, 2, 2
		i.Apps[0].Elective, other.Elective = true, true
		i.Choices, i.AdjustBudget = []solver.Choice{{Apps: []int{0, 2}, Required: true}}, 0
	}, 2*3./16 + 3*5./16},
	// Nothing would be worth more than either, and is not allowed.
	{"the lesser evil", func(i *solver.Instance) {
		withOption(i, true, solver.App{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 1, Worth: []float64{-1}, Delta: 1. / 8})
		i.Apps[2].Value, i.Apps[2].Worth, i.LossBudget = 0, []float64{-2}, 2
	}, 3./16 + 3*5./16 - 1},
	// Worth of having nothing counts once.
	{"nothing is worth more", func(i *solver.Instance) {
		withOption(i, false, solver.App{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 1, Worth: []float64{.5}, Idle: 3})
		i.Apps[2].Value, i.Apps[2].Worth, i.Apps[2].Idle, i.LossBudget = 0, []float64{1}, 3, 3
		i.AdjustBudget = 0
	}, 2*3./16 + 3*5./16 + 3},
}
