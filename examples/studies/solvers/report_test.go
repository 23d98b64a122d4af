// This file prints and draws a study whose times are made up.

package main

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/chart/charttest"
	"github.com/apportion/apportion/internal/must"
)

// madeUp is a study of two instances with the answers of the embedded solver and two others.
func madeUp() *study {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	s := &study{limit: 10 * time.Second, workers: 2, skipped: []string{"scip: it is not there"}}
	for _, ref := range alloctest.References() {
		inst := &instance{Reference: ref}
		switch ref.Name {
		case "table2_20x30_prev_0": // the optimum is 2.1234375
			inst.cells = []*cell{
				{solver: "embedded", form: "quick", points: trace{{ms(2), 2.11, 2.2, false}}},
				{solver: "embedded", form: "default", points: trace{{ms(10), 2.1234375, 2.13, false}}},
				{solver: "embedded", form: "thorough", points: trace{{ms(100), 2.1234375, 2.1234375, true}}},
				{solver: "cp-sat", form: "disjunctive", points: trace{{ms(20), 2.11, 2.13, false}, {ms(400), 2.1234375, 2.1234375, true}}},
				{solver: "highs", form: "class", points: trace{{ms(300), math.NaN(), 2.15, false}}},
				{solver: "highs", form: "disjunctive", points: trace{{ms(5), math.NaN(), 2.3, false}, {ms(50), 2.1234375, 2.2, false}, {ms(10010), 2.1234375, 2.125, false}}},
			}
		case "table2_50x30_prev_0":
			inst.cells = []*cell{
				{solver: "embedded", form: "quick", points: trace{{ms(4), ref.Objective - 0.01, 2.2, false}}},
				{solver: "embedded", form: "default", points: trace{{ms(20), ref.Objective + 0.01, ref.Objective + 0.02, false}}},
				{solver: "embedded", form: "thorough", points: trace{{ms(200), ref.Objective + 0.01, ref.Objective + 0.02, false}}},
				{solver: "cp-sat", form: "disjunctive", failed: errors.New("out of order")},
				{solver: "highs", form: "class", points: trace{{ms(9999), math.NaN(), math.Inf(1), false}}},
				{solver: "highs", form: "disjunctive", points: trace{{ms(700), ref.Objective, 2, false}, {ms(10010), ref.Objective, ref.Objective + 0.02, false}}},
			}
		default:
			continue
		}
		s.instances = append(s.instances, inst)
	}
	return s
}

// wantTables is what madeUp looks like. The second instance has an answer better than its reference.
const wantTables = `Seconds from the instance to an allocation within 1 % and 0.1 % of the best known (found), to the
solver's own certificate of such a gap (certified), and to the end with a proof. Limit 10s, 2 workers.
SKIPPED: scip: it is not there

table2_20x30_prev_0: 20 servers, 30 applications, best known 2.123438
solver    form         found 1 %  0.1 %     certified 1 %  0.1 %     proof     utilization  below best  gap
embedded  quick        0.002      -         -              -         -         2.110000     0.633 %     4.091 %
embedded  default      0.01       0.01      0.01           -         -         2.123438     0.000 %     0.308 %
embedded  thorough     0.1        0.1       0.1            0.1       0.1       2.123438     0.000 %     0.000 %
cp-sat    disjunctive  0.02       0.4       0.02           0.4       0.4       2.123438     0.000 %     0.000 %
highs     class        -          -         -              -         -         -            -           -
highs     disjunctive  0.05       0.05      10             10        > 10      2.123438     0.000 %     0.074 %

table2_50x30_prev_0: 50 servers, 30 applications, best known 1.695865
solver    form         found 1 %  0.1 %     certified 1 %  0.1 %     proof     utilization  below best  gap
embedded  quick        -          -         -              -         -         1.675865     1.179 %     23.824 %
embedded  default      0.02       0.02      0.02           -         -         1.695865     0.000 %     0.586 %
embedded  thorough     0.2        0.2       0.2            -         -         1.695865     0.000 %     0.586 %
highs     class        > 10       > 10      > 10           > 10      > 10      -            -           -
highs     disjunctive  0.7        > 10      > 10           > 10      > 10      1.685865     0.590 %     1.172 %
FAILED: cp-sat, disjunctive: out of order

                                 embedded, default                       first other as good           times   embedded  first other                   times
instance             best known  seconds            below best  gap      solver, form         seconds  sooner  proof     with a proof         seconds  sooner
table2_20x30_prev_0  2.123438    0.01               0.000 %     0.308 %  highs, disjunctive   0.05     5       0.1       cp-sat, disjunctive  0.4      4
table2_50x30_prev_0  1.695865    0.02               0.000 %     0.586 %  -                    > 10     > 500   -         -                    > 10     -
Times sooner, median: 5 to the same utilization, 4 to proof where the embedded solver has one.

`

func TestReport(t *testing.T) {
	s := madeUp()
	var text strings.Builder
	s.reportHead(&text)
	for _, i := range s.instances {
		must.Do(t, i.report(&text, s.limit))
	}
	must.Do(t, s.reportAll(&text))
	must.Equal(t, cmp.Diff(strings.Split(wantTables, "\n"), strings.Split(text.String(), "\n")), "", "tables", &text)
}

func TestFigures(t *testing.T) {
	charttest.Twice(t, func(out string) error {
		_, err := chart.Write(out, madeUp().figures())
		return err
	}, 1+len(goals), "embedded, default", "embedded, thorough")
}

// Full clusters fill the summary; alone, the others do.
func TestSummary(t *testing.T) {
	for _, both := range []bool{true, false} {
		s := madeUp()
		s.instances[0].fresh = true
		if !both {
			s.instances = s.instances[:1]
		}
		figures := s.figures()
		details := 0
		for _, f := range figures {
			if f.Detail {
				details++
			}
		}
		must.Equal(t, details, map[bool]int{true: len(goals), false: 0}[both], len(figures), "figures left out of the summary")
	}
}

// The best form is the one with the least geometric mean; what did not get there counts with the limit.
func TestBestForm(t *testing.T) {
	s := madeUp()
	for _, test := range []struct {
		solver, form string
		seconds      []float64
	}{
		{"embedded", "default", []float64{0.01, 0.02}},
		{"highs", "disjunctive", []float64{0.05, 10}},
		{"cp-sat", "disjunctive", []float64{0.4}},
		{"scip", "", nil},
	} {
		form, points := s.bestForm(s.instances, test.solver, goals[0])
		var got []float64
		for _, p := range points {
			got = append(got, p.Y)
		}
		if form != test.form || !cmp.Equal(got, test.seconds) {
			t.Errorf("%s: %s %v, want %s %v", test.solver, form, got, test.form, test.seconds)
		}
	}
}

func TestSooner(t *testing.T) {
	for _, test := range []struct {
		own, other time.Duration
		want       string
	}{
		{time.Millisecond, time.Second, "1e+03"}, {time.Second, time.Millisecond, "0.001"},
		{time.Second, never, "> 10"}, {never, time.Second, "-"}, {never, never, "-"},
	} {
		must.Equal(t, against(test.own, test.other, 10*time.Second).String(), test.want, test.own, "against", test.other)
	}
	none := sooner{times: math.NaN()}
	for want, all := range map[string][]sooner{
		"-": {none, none}, "> 3": {{9, false}, none, {3, true}, {1, false}}, "2": {{4, false}, {2, false}},
	} {
		must.Equal(t, median(all).String(), want, "median of", all)
	}
}
