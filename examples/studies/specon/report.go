// This file prints the tables, ours beside the thesis', [Zheng] §6.2.2-§6.2.4.

package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/placement/sim"
)

// It stands where the thesis says nothing, and for no moves.
const notGiven = "-"

// x is a part, 1 for all.
func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// change prints two values in seconds and by how much the second is off the first.
func change(before, after float64) string {
	return fmt.Sprintf("%.0f -> %.0f (%+.1f %%)", before, after, 100*(after/before-1))
}

// placement names the way to place new jobs.
func (s *study) placement() string {
	if s.even {
		return "fewest jobs"
	}
	return "random"
}

// reportSchedules prints a row for each schedule, way to place jobs and classifier, and the thesis'.
// The thesis' own row stands before ours, once a schedule.
func reportSchedules(w io.Writer, o *noisy.Options, studies []*study) {
	fmt.Fprintf(w, "DS -> SpeCon (alpha 0.01, interval 30 s), means over %d runs; times in seconds. Sooner: jobs that complete sooner than under DS.\n", o.Seeds)
	table := command.NewTable(w)
	fmt.Fprintln(table, "schedule\tDS places\tclassifier\tsooner\tbest\tmean completion time\tmakespan\tmoves")
	for _, s := range studies {
		if !s.even && s.thesis.sooner > 0 {
			s.thesis.report(table, s.schedule)
		}
		for i := range chosen() {
			m := s.measure(i)
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\n", s.title, s.placement(), s.settings[i].name, percent(m.sooner), percent(m.best),
				change(m.mean, m.meanWith), change(m.makespan, m.makespanWith), m.moves)
		}
	}
	table.End()
}

// It has counts where we have means.
func (t thesis) report(w io.Writer, s *schedule) {
	mean := notGiven
	if t.mean > 0 {
		mean = change(t.mean, t.meanWith)
	}
	fmt.Fprintf(w, "%s\tthesis\tthesis\t%s\t%s\t%s\t%s\t%s\n", s.title, percent(float64(t.sooner)/float64(s.jobs)), percent(t.best),
		mean, change(t.makespan, t.makespanBy), notGiven)
}

// measures are the means over all runs of a study under one setting.
// sooner and best are parts, times are in seconds, moves is the mean number in a run.
type measures struct {
	sooner, best           float64
	mean, meanWith         float64
	makespan, makespanWith float64
	moves                  float64
}

func (s *study) measure(setting int) measures {
	var m measures
	n := float64(len(s.ds))
	for i, ds := range s.ds {
		with := s.with[i][setting]
		sooner, reductions := with.Gains(ds)
		m.sooner += float64(sooner) / float64(len(reductions)) / n
		m.best += slices.Max(reductions) / n
		m.mean += ds.MeanResponse().Seconds() / n
		m.meanWith += with.MeanResponse().Seconds() / n
		m.makespan += ds.Makespan().Seconds() / n
		m.makespanWith += with.Makespan().Seconds() / n
		for j := range with.Jobs {
			m.moves += float64(len(with.Jobs[j].Moves())) / n
		}
	}
	return m
}

// reportParameters prints figures 6.17 and 6.18 as a table.
// The thesis shows single runs, so that ours are means of both placements.
func reportParameters(w io.Writer, studies []*study) {
	fmt.Fprintln(w, "20 VAE in [0, 300 s]: reduction of the mean completion time by SpeCon, by alpha and interval.")
	table := command.NewTable(w)
	fmt.Fprintln(table, "alpha\tinterval\tthesis\tDS places at random\tDS places on the fewest jobs")
	for i, p := range parameters {
		fmt.Fprintf(table, "%.2f\t%v\t%s %%", p.alpha, p.interval, p.thesis)
		for _, s := range studies {
			if s.name == singleRandom {
				m := s.measure(len(chosen()) + i)
				fmt.Fprint(table, "\t"+percent(1-m.meanWith/m.mean))
			}
		}
		fmt.Fprintln(table)
	}
	table.End()
}

// reportJobs prints the jobs of the first run of 30 random jobs: the thesis' figures 6.20 to 6.22.
// It shows who pays for what others gain.
func reportJobs(w io.Writer, studies []*study) {
	s := find(studies, detailed)
	scenario, ds, with := s.scenarios[0], s.ds[0], s.with[0][0]
	_, reductions := with.Gains(ds)
	fmt.Fprintf(w, "%s, first run: completion times in seconds, from each job's submission.\n", s.title)
	table := command.NewTable(w)
	fmt.Fprintln(table, "job\tmodel\tsubmitted\tDS\tSpeCon\tgain\tmoves under SpeCon")
	for j, job := range scenario.Jobs {
		fmt.Fprintf(table, "%s\t%s\t%.1f\t%.1f\t%.1f\t%s\t%s\n", job.ID, job.Model, job.Arrival.Seconds(),
			ds.Jobs[j].Response().Seconds(), with.Jobs[j].Response().Seconds(), percent(reductions[j]), moves(with, j))
	}
	table.End()
}

// moves tells the migrations of a job.
func moves(result *sim.Result, job int) string {
	text := ""
	spans := result.Jobs[job].Spans
	for i, m := range spans {
		if i > 0 && m.Places[0] != spans[i-1].Places[0] {
			text += fmt.Sprintf("%s at %.0f s: worker %d to %d; ", m.Why, m.From.Seconds(), spans[i-1].Places[0].Server+1, m.Places[0].Server+1)
		}
	}
	if text == "" {
		return notGiven
	}
	return text[:len(text)-len("; ")]
}
