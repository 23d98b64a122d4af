// This file pins the equations and percentages of [Zheng].

package growth_test

import (
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/growth"
)

const second = time.Second

// Reference: [Zheng] equations (4.1), (4.2) and (5.1).
func TestPaperEfficiency(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"(4.1) falling", growth.Progress(1, 0.4, 20*second), 0.03},
		{"(4.1) rising", growth.Progress(0.4, 1, 20*second), 0.03},
		{"(4.1) half a second", growth.Progress(0, 1, second/2), 2},
		{"(4.2)", growth.Efficiency(0.03, growth.Used(0.25)), 0.12},
		{"(4.2) no progress, no usage", growth.Efficiency(0, growth.Used(0)), 0},
		{"(4.2) progress without usage", growth.Efficiency(0.5, growth.Used(0)), 0.5 / growth.UsageFloor},
		{"(4.2) usage that is not measured", growth.Efficiency(0.5, growth.Usage{}), 0.5},
		{"a loss that falls 65 % in 60 s is below 5 %", growth.Progress(1, 0.35, 60*second), 0.65 / 60},
	} {
		if math.Abs(test.got-test.want) > 1e-12*max(1, test.want) {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
}

// Reference: [Zheng] §6, the percentages that its tables and text derive from its times. Those that
// differ in the last digit are printed truncated.
func TestPaperPercentages(t *testing.T) {
	for _, row := range []struct {
		before, after float64
		printed, want float64
	}{
		{84.7, 57.7, 31.9, 31.9}, {84.7, 59.4, 29.87, 29.87}, {489.4, 396.4, 19.0, 19.0},
		{188.3, 110.8, 41.2, 41.2}, {348.7, 217.6, 37.6, 37.6}, {275.2, 234.7, 14.7, 14.7},
		{1167.8, 799.2, 31.6, 31.6}, {1421, 1070, 24.7, 24.7}, {447.4, 314.9, 29.6, 29.6},
		{799.5, 752.6, 5.9, 5.9}, {467.5, 273.4, 41.5, 41.5}, {2070, 1840, 11.1, 11.1},
		{489.4, 401.6, 17.92, 17.94}, {596.3, 553.0, 7.2, 7.26}, {1640, 1370, 16.4, 16.46},
		// "increases from 1059.6 to 1053.3": a decrease, with no percentage beside it.
		{1059.6, 1053.3, 0.6, 0.59},
	} {
		got := 100 * growth.Progress(row.before, row.after, second) / row.before
		if tolerance := 0.06; math.Abs(got-row.printed) > tolerance+0.02 || math.Abs(got-row.want) > tolerance {
			t.Errorf("%v -> %v: %.4f %%, printed %v, want %v", row.before, row.after, got, row.printed, row.want)
		}
	}
}
