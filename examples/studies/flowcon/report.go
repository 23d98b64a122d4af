// This file prints the tables, ours beside the thesis', [Zheng] §6.1.3-§6.1.5.

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/placement/sim"
)

// It stands where the thesis says nothing.
const notGiven = "-"

// Tenths of a second are what the thesis prints.
func secondsOf(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()) }

// x is a part, 1 for all.
func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// table62 holds Table 6.2 and what the text adds: the reduction of the completion time of MNIST-T,
// in percent. Where the table has two values for (10 %, 20 s), both are here.
var table62 = []struct {
	alpha    float64
	interval int
	thesis   string
}{
	{0.10, 20, "26.2 or 19.0"}, {0.10, 30, "32.4"}, {0.10, 40, "14.3"}, {0.10, 50, "15.3"}, {0.10, 60, "3.1"},
	{0.01, 20, "32.1"}, {0.03, 20, "31.0"}, {0.05, 20, "21.4"}, {0.15, 20, "19.8"}, {0.05, 30, "31.9"},
}

// thesisNA holds the completion times without limits, which our three jobs are made to have.
var thesisNA = []string{"394.0", "240.5", "84.7"}

// reportFixed prints the tables of the fixed schedule.
func reportFixed(w io.Writer) error {
	scenario, err := fixedSchedule()
	if err != nil {
		return err
	}
	if err := reportTimes(w, scenario); err != nil {
		return err
	}
	fmt.Fprintln(w, "Table 6.2: reduction of the completion time of MNIST-T, by alpha, interval and classifier.")
	table := command.NewTable(w)
	of := classifiers(1, 1)
	table.Row("alpha\tinterval\tthesis", len(of), func(i int) string { return of[i].name })
	for _, row := range table62 {
		settings := classifiers(row.alpha, time.Duration(row.interval)*time.Second)
		p, err := playPair(scenario, settings)
		if err != nil {
			return err
		}
		table.Row(fmt.Sprintf("%.0f %%\t%d s\t%s %%", 100*row.alpha, row.interval, row.thesis), len(p.with), func(i int) string {
			_, reductions := p.with[i].Gains(p.na)
			return percent(reductions[2])
		})
	}
	table.End()
	return nil
}

// reportTimes prints the completion time of each of the three jobs at alpha 5 % and 30 s, where the
// thesis has 57.7 s for MNIST-T and a makespan of 372.4 s.
// The thesis gives the makespan as the time of its first job.
func reportTimes(w io.Writer, scenario *sim.Scenario) error {
	settings := classifiers(0.05, 30*time.Second)
	p, err := playPair(scenario, settings)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "Fixed schedule, alpha 5 %, interval 30 s: completion times in seconds, from each job's submission.")
	table := command.NewTable(w)
	table.Row("job\tNA thesis\tNA\tFlowCon thesis", len(settings), func(i int) string { return settings[i].name })
	thesis := []string{"372.4", notGiven, "57.7"}
	for i := range scenario.Jobs {
		head := []string{scenario.Jobs[i].Model, thesisNA[i], secondsOf(p.na.Jobs[i].Response()), thesis[i]}
		table.Row(strings.Join(head, "\t"), len(p.with), func(k int) string { return secondsOf(p.with[k].Jobs[i].Response()) })
	}
	table.End()
	return nil
}

// reportRandom prints the tables of the random schedules.
// Below the rows of a size stands the thesis' own.
func reportRandom(w io.Writer, o *noisy.Options, studies []*study) {
	fmt.Fprintf(w, "Random schedules, %d of each size. Sooner: jobs that complete sooner than under NA. Lossy: %.3g of a worker is lost for each job beside the first.\n",
		o.Seeds, o.Interference)
	table := command.NewTable(w)
	fmt.Fprintln(table, "jobs\talpha\tinterval\tclassifier\tsooner\tmean gain\tbest gain\tmakespan\tlossy: sooner\tmean gain\tmakespan")
	for _, s := range studies {
		for i, setting := range s.settings {
			plain, lossy := summarize(s.plain, i), summarize(s.lossy, i)
			fmt.Fprintf(table, "%d\t%s\t%v\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.jobs, alphaOf(setting), setting.interval, setting.name,
				percent(plain.sooner), percent(plain.mean), percent(plain.best), signed(plain.span),
				percent(lossy.sooner), percent(lossy.mean), signed(lossy.span))
		}
		t := s.thesis
		span := "-1 % to -5 %"
		if t.naSpan > 0 {
			span = signed(t.withFor/t.naSpan - 1)
		}
		fmt.Fprintf(table, "%d\t%.0f %%\t%v\tthesis\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.jobs, 100*t.alpha, t.interval,
			percent(float64(t.sooner)/float64(s.jobs)), notGiven, percent(t.best), span, notGiven, notGiven, notGiven)
	}
	table.End()
	for _, s := range studies {
		s.reportJobs(w)
	}
}

// Our classifier's alpha means something else and is not shown in this column.
func alphaOf(s setting) string {
	if s.options.Classifier != nil {
		return notGiven
	}
	return fmt.Sprintf("%.0f %%", 100*s.alpha)
}

// The sign is printed also where it is plus: a change is not a part.
func signed(x float64) string { return fmt.Sprintf("%+.1f %%", 100*x) }

// summary is the measures of one setting over all schedules of a size.
type summary struct {
	// sooner is the share of jobs that gain; mean and best are reductions of the completion time of
	// a job, span is the mean change of the makespan.
	sooner, mean, best, span float64
}

// A job counts as much as any other, in whichever schedule it is.
func summarize(pairs []pair, setting int) summary {
	var all []float64
	s := summary{}
	for _, p := range pairs {
		sooner, reductions := p.with[setting].Gains(p.na)
		s.sooner += float64(sooner)
		all = append(all, reductions...)
		s.span += p.with[setting].Makespan().Seconds()/p.na.Makespan().Seconds() - 1
	}
	for _, reduction := range all {
		s.mean += reduction
	}
	n := float64(len(all))
	return summary{s.sooner / n, s.mean / n, slices.Max(all), s.span / float64(len(pairs))}
}

// shown are the settings whose jobs are listed and drawn: the reading of alpha that comes closest to
// the thesis, and ours.
var shown = []int{1, 3}

// reportJobs prints the completion time of each job of the first schedule.
// A gain is a reduction of the completion time: negative where the job is later.
func (s *study) reportJobs(w io.Writer) {
	fmt.Fprintf(w, "%d jobs, first schedule: completion times in seconds, from each job's submission.\n", s.jobs)
	table := command.NewTable(w)
	table.Row("job\tmodel\tsubmitted\tNA", len(shown), func(i int) string { return s.settings[shown[i]].name + "\tgain" })
	p := s.plain[0]
	for j, job := range s.scenarios[0].Jobs {
		head := []string{job.ID, job.Model, secondsOf(job.Arrival), secondsOf(p.na.Jobs[j].Response())}
		table.Row(strings.Join(head, "\t"), len(shown), func(i int) string {
			with := p.with[shown[i]]
			_, reductions := with.Gains(p.na)
			return secondsOf(with.Jobs[j].Response()) + "\t" + percent(reductions[j])
		})
	}
	table.End()
}

// drawnFixed is the setting of figure 6.5.
var drawnFixed = threshold(0.05, 20*time.Second, growth.FirstValue)
