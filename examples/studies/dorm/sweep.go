// This file shows how the results move with what the paper leaves open.

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/placement/sim"
)

// variant is one choice of what the paper leaves open.
// change gets the settings of the long study.
type variant struct {
	name   string
	change func(*settings)
}

// serialPart is the serial part of an application in the variant without linear speed-up: on 32
// containers it runs 19.8 times as fast as on one.
const serialPart = 0.02

// Amdahl's law refuses a serial part outside of 0 to 1, which the constant is not.
func variants() ([]variant, error) {
	amdahl, err := sim.Amdahl(serialPart)
	if err != nil {
		return nil, err
	}
	return []variant{
		{"long, a quarter as long", func(s *settings) { s.scale = 0.25 }},
		{"long, half as long (short)", func(s *settings) { s.scale = shortScale }},
		{"long, three quarters as long", func(s *settings) { s.scale = 0.75 }},
		{"long (median 8 h)", func(*settings) {}},
		{"long, but median 7 h", func(s *settings) { s.median = 7 * time.Hour }},
		{"long, but median 10 h", func(s *settings) { s.median = 10 * time.Hour }},
		{"long, but median 14 h", func(s *settings) { s.median = 14 * time.Hour }},
		{"short, 2 % of the work serial", func(s *settings) { s.scale, s.speedup = shortScale, amdahl }},
		{"short, adjusting costs nothing", func(s *settings) { s.scale, s.cost = shortScale, 0 }},
		{"short, loss (15) not rounded up", func(s *settings) { s.scale, s.reading.NoCeil15 = shortScale, true }},
		{"short, adjusting costs 15 min", func(s *settings) { s.scale, s.cost = shortScale, 15*time.Minute }},
	}, nil
}

// sweepPolicies are the baseline and the paper's middle setting.
var sweepPolicies = []string{"Swarm", "Dorm-3"}

// sweepColumns are the measures of the sweep, with the paper's numbers for Dorm-3.
var sweepColumns = []struct {
	title, paper string
	of           func(s *study, run, base *played) float64
	decimals     int
}{
	{"utilization\tfactor", "2.32", utilizationFactor, 2},
	{"loss\tfactor", "1.52", lossFactor, 2},
	{"largest\tloss", "0.6", maxLoss, 2},
	{"most\tadjusted", "2", mostAdjusted, 1},
	{"adjusted\tin all", "76", totalAdjusted, 0},
	{"most\trunning", "", mostRunning, 1},
	{"speed-up\trunning", "2.72", speedup, 2},
	{"speed-up\tresponse", "", responseSpeedup, 2},
}

// sweep plays every variant under Swarm and Dorm-3 and prints a line for each.
func sweep(ctx context.Context, stdout, stderr io.Writer, o *options) error {
	all, err := variants()
	if err != nil {
		return err
	}
	studies := make([]*study, len(all))
	for v := range all {
		set := baseSettings(o)
		all[v].change(&set)
		studies[v] = paperStudy(o, all[v].name, "", set)
		studies[v].policies = sweepPolicies
	}
	if err := play(ctx, stderr, studies); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Dorm-3 beside Swarm, means. Workloads: %d; applications in each: %d; period: %.4g h.\n", o.seeds, o.apps, o.hours)
	table := command.NewTable(stdout)
	for line, head := range []string{"\tabove", "durations\t6 h"} {
		table.Row(head, len(sweepColumns), func(i int) string { return strings.Split(sweepColumns[i].title, "\t")[line] })
	}
	for _, s := range studies {
		table.Row(fmt.Sprintf("%s\t%.0f %%", s.name, 100*s.longShare()), len(sweepColumns), func(i int) string {
			m := measure{of: sweepColumns[i].of}
			return number(mean(m.over(s, 1)), sweepColumns[i].decimals) // its only policy beside the baseline is at 1
		})
	}
	table.Row("paper\t90 %", len(sweepColumns), func(i int) string { return sweepColumns[i].paper })
	return table.Flush()
}
