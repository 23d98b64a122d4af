// This file plays scenarios without limits and with FlowCon's, [Zheng] §6.1.2.

package main

import (
	"context"
	"io"
	"time"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// setting is one setting of FlowCon.
// alpha is 0 where the classifier has one of its own.
type setting struct {
	name     string
	alpha    float64
	interval time.Duration
	options  flowcon.Options
}

// threshold is the thesis' test under one reading of its alpha, prospect is ours at an alpha.
func threshold(alpha float64, interval time.Duration, n growth.Normalization) setting {
	return setting{"Threshold, " + n.String(), alpha, interval, flowcon.Options{Normalization: n}}
}

// FlowCon's own alpha is then not used.
func prospect(alpha float64, interval time.Duration) setting {
	return setting{"Prospect", 0, interval, flowcon.Options{Classifier: growth.Prospect{Alpha: alpha}}}
}

// patient is the alpha of ours in the tables of completion times: whoever waits for the last of the work loses by an
// early call what he has ahead, however little it is.
const patient = 0.005

// classifiers are what the tables compare at one alpha and interval.
// The raw reading of the thesis' formula is here to show that it cannot be what was meant.
func classifiers(alpha float64, interval time.Duration) []setting {
	return []setting{
		threshold(alpha, interval, growth.FirstValue),
		threshold(alpha, interval, growth.LargestGrowth),
		threshold(alpha, interval, growth.Raw),
		prospect(patient, interval),
	}
}

// play runs a scenario under FlowCon.
// The policy is made anew: it keeps the lists of the thesis.
func (s setting) play(scenario *sim.Scenario) (*sim.Result, error) {
	policy, err := policies.NewFlowCon(flowcon.Config{Interval: s.interval, Alpha: s.alpha}, &s.options)
	if err != nil {
		return nil, err
	}
	return sim.Run(context.Background(), scenario, policy)
}

// pair is a scenario without limits and under each setting.
type pair struct {
	na   *sim.Result
	with []*sim.Result
}

func playPair(scenario *sim.Scenario, settings []setting) (pair, error) {
	na, err := sim.Run(context.Background(), scenario, &policies.Default{})
	if err != nil {
		return pair{}, err
	}
	p := pair{na: na}
	for _, s := range settings {
		result, err := s.play(scenario)
		if err != nil {
			return pair{}, err
		}
		p.with = append(p.with, result)
	}
	return p, nil
}

// study is the random schedules of one size under the settings of the thesis for that size.
// The i-th of scenarios, plain and lossy belong together.
type study struct {
	jobs      int
	settings  []setting
	scenarios []*sim.Scenario
	// plain are the runs on a worker that is shared without loss, lossy those with interference.
	plain, lossy []pair
	thesis       thesisStudy
}

// thesisStudy is what the thesis reports for a size: how many jobs gain, the largest gain, the change
// of the makespan. Times are in seconds.
type thesisStudy struct {
	alpha           float64
	interval        time.Duration
	sooner          int
	best            float64
	naSpan, withFor float64 // 0: only "1 % to 5 %" is given
}

// Reference: [Zheng] §6.1.4, §6.1.5. Of five jobs 4 gain at alpha 3 % and 30 s.
var thesisStudies = map[int]thesisStudy{
	5:  {0.03, 30 * time.Second, 4, 0.4206, 0, 0},
	10: {0.10, 20 * time.Second, 9, 0.412, 1384.9, 1350.7},
	15: {0.10, 20 * time.Second, 11, 0.119, 1980.1, 1950.9},
}

// sizes are the numbers of random jobs.
var sizes = []int{5, 10, 15}

// playRandom plays all random schedules.
// Seeds count from 1, so that a larger -seeds adds schedules and changes none.
func playRandom(o *noisy.Options, stderr io.Writer) ([]*study, error) {
	tick := command.Progress(stderr, o.Seeds*len(sizes), "simulating")
	var studies []*study
	for _, n := range sizes {
		thesis := thesisStudies[n]
		s := &study{jobs: n, thesis: thesis, settings: classifiers(thesis.alpha, thesis.interval)}
		for seed := range o.Seeds {
			if err := s.add(uint64(seed+1), o.Interference); err != nil {
				return nil, err
			}
			tick()
		}
		studies = append(studies, s)
	}
	return studies, nil
}

// Interference costs every job the same, so that it favours whoever lets fewer run at once.
func (s *study) add(seed uint64, interference float64) error {
	scenario, err := randomSchedule(s.jobs, seed)
	if err != nil {
		return err
	}
	plain, err := playPair(scenario, s.settings)
	if err != nil {
		return err
	}
	with := *scenario
	with.Law = sim.Shared{Interference: interference}
	lossy, err := playPair(&with, s.settings)
	s.scenarios = append(s.scenarios, scenario)
	s.plain, s.lossy = append(s.plain, plain), append(s.lossy, lossy)
	return err
}
