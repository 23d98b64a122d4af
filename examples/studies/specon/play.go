// This file plays schedules under DS and under SpeCon, [Zheng] §6.2.1.

package main

import (
	"context"
	"io"
	"math/rand/v2"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// playAll plays every schedule under both ways to place jobs.
func playAll(o *noisy.Options, stderr io.Writer) ([]*study, error) {
	tick := command.Progress(stderr, 2*o.Seeds*len(schedules), "simulating")
	var studies []*study
	for i := range schedules {
		for _, even := range []bool{false, true} {
			s := &study{schedule: &schedules[i], even: even, settings: chosen()}
			if s.name == singleRandom {
				for _, p := range parameters {
					s.settings = append(s.settings, p.setting)
				}
			}
			for seed := range o.Seeds {
				if err := s.play(uint64(seed+1), o.Interference); err != nil {
					return nil, err
				}
				tick()
			}
			studies = append(studies, s)
		}
	}
	return studies, nil
}

// play plays the schedule once. DS and SpeCon place new jobs by the same rule and the same draws.
func (s *study) play(seed uint64, interference float64) error {
	scenario, err := s.scenario(seed)
	if err != nil {
		return err
	}
	scenario.Law = sim.Shared{Interference: interference}
	if s.even {
		for i := range scenario.Jobs {
			// Equal requests let the default scheduler count jobs.
			scenario.Jobs[i].Request = 1
		}
	}
	place := func() policies.Default { return policies.Default{Ties: rand.New(rand.NewPCG(seed, 1))} }
	ds := place()
	base, err := sim.Run(context.Background(), scenario, &ds)
	if err != nil {
		return err
	}
	var with []*sim.Result
	for _, setting := range s.settings {
		policy, err := policies.NewSpeCon(specon.Config{Interval: setting.interval, Alpha: setting.alpha}, &setting.options)
		if err != nil {
			return err
		}
		policy.Place = place()
		result, err := sim.Run(context.Background(), scenario, policy)
		if err != nil {
			return err
		}
		with = append(with, result)
	}
	s.scenarios, s.ds, s.with = append(s.scenarios, scenario), append(s.ds, base), append(s.with, with)
	return nil
}
