// This file judges the classifiers on real learning curves: how early they call a job converged, and
// how much of its improvement was still to come.

package growth_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/trace"
)

// curve is one real run, its time stretched to [0, 1].
type curve struct {
	name   string
	sign   float64 // 1 where smaller is better, -1 where larger is
	at     []float64
	values []float64
	smooth []float64 // sign * mean of the newest 5 % of the finite points
}

// curves reads all runs.
func curves(t testing.TB) []curve {
	t.Helper()
	folder := filepath.Join("testdata", "curves")
	file := open(t, filepath.Join(folder, "INDEX.csv"))
	var all []curve
	for info, err := range trace.CurveIndex("INDEX.csv", file) {
		if err != nil {
			t.Fatal(err)
		}
		c := curve{name: info.File, sign: 1}
		if info.Better == "max" {
			c.sign = -1
		}
		c.read(t, filepath.Join(folder, info.File), info.TimeIs != "")
		all = append(all, c)
	}
	return all
}

func open(t testing.TB, path string) *os.File {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func (c *curve) read(t testing.TB, path string, timed bool) {
	t.Helper()
	for point, err := range trace.Curve(path, open(t, path)) {
		if err != nil {
			t.Fatal(err)
		}
		at := point.Step.Value
		if timed && point.At.Known {
			at = point.At.Value.Seconds()
		}
		c.at = append(c.at, at)
		c.values = append(c.values, point.Value.Value)
	}
	first, last := c.at[0], c.at[len(c.at)-1]
	for i := range c.at {
		c.at[i] = (c.at[i] - first) / (last - first)
	}
	c.average()
}

// average fills smooth. A point that is not finite is as bad as the worst finite one.
func (c *curve) average() {
	width := max(1, len(c.values)/20)
	worst := math.Inf(-1)
	for _, v := range c.values {
		if v := c.sign * v; !math.IsNaN(v) && !math.IsInf(v, 0) {
			worst = max(worst, v)
		}
	}
	for i := range c.values {
		sum, n := 0.0, 0.0
		for j := max(0, i-width+1); j <= i; j++ {
			v := c.sign * c.values[j]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				v = worst
			}
			sum, n = sum+v, n+1
		}
		c.smooth = append(c.smooth, sum/n)
	}
}

// value returns the newest reading at a time in [0, 1].
func (c *curve) value(at float64) float64 {
	i := 0
	for i+1 < len(c.at) && c.at[i+1] <= at+1e-12 {
		i++
	}
	return c.values[i]
}

// ahead returns the share of all improvement that comes after a time.
func (c *curve) ahead(at float64) float64 {
	best, bestAt := c.smooth[0], c.smooth[0]
	for i, v := range c.smooth {
		best = min(best, v)
		if c.at[i] <= at+1e-12 {
			bestAt = min(bestAt, v)
		}
	}
	if best == c.smooth[0] {
		return 0
	}
	return (bestAt - best) / (c.smooth[0] - best)
}

// verdicts is what a classifier made of one curve.
type verdicts struct {
	first float64 // when converged was first said, as a share of the run; 1: never
	ahead float64 // share of the improvement that came after
	never bool
	back  int // times that converged was taken back
}

// judged runs SpeCon's ladder over a curve that is stretched to a length, with a check at each interval.
func (c *curve) judged(classifier growth.Classifier, length, interval time.Duration) verdicts {
	var series growth.Series
	result := verdicts{first: 1, never: true}
	category := growth.Progressing
	for at := time.Duration(0); at <= length; at += interval {
		share := at.Seconds() / length.Seconds()
		outcome := series.Add(at, c.value(share), growth.Used(1))
		verdict := growth.Unsure
		switch outcome {
		case growth.Diverged:
			verdict = growth.Slow
		case growth.Measured, growth.Repeated:
			verdict = classifier.Judge(&series)
		}
		was := category
		category = category.After(verdict)
		switch {
		case category == growth.Converged && result.never:
			result = verdicts{first: share, ahead: c.ahead(share), back: result.back}
		case was == growth.Converged && category != growth.Converged:
			result.back++
		}
	}
	return result
}

// summary is what a classifier made of all curves.
type summary struct {
	first, ahead, worst float64 // mean, mean, largest
	over, never, back   int     // curves with more than 10 % ahead; never called converged; taken back, all together
}

func judgeAll(all []curve, classifier growth.Classifier, length, interval time.Duration) summary {
	var s summary
	for i := range all {
		v := all[i].judged(classifier, length, interval)
		s.first += v.first / float64(len(all))
		s.ahead += v.ahead / float64(len(all))
		s.worst = max(s.worst, v.ahead)
		s.back += v.back
		if v.ahead > 0.1 {
			s.over++
		}
		if v.never {
			s.never++
		}
	}
	return s
}

// contestants are the classifiers and thresholds of the comparison.
func contestants() []struct {
	name       string
	classifier growth.Classifier
} {
	type row = struct {
		name       string
		classifier growth.Classifier
	}
	var rows []row
	for _, alpha := range []float64{0.0001, 0.001, 0.01, 0.05} {
		rows = append(rows, row{fmt.Sprintf("threshold alpha=%g", alpha), growth.Threshold{Alpha: alpha}})
	}
	for _, alpha := range []float64{0.01, 0.1} {
		rows = append(rows, row{fmt.Sprintf("threshold/largest alpha=%g", alpha), growth.Threshold{Alpha: alpha, Normalization: growth.LargestGrowth}})
	}
	for _, alpha := range []float64{0.001, 0.003, 0.01, 0.05} {
		rows = append(rows, row{fmt.Sprintf("decline alpha=%g", alpha), growth.Decline{Alpha: alpha}})
	}
	for _, alpha := range []float64{0.003, 0.01, 0.02, 0.03, 0.05, 0.1} {
		rows = append(rows, row{fmt.Sprintf("prospect alpha=%g", alpha), growth.Prospect{Alpha: alpha}})
	}
	return rows
}

// TestCurvesTable prints the comparison with -v; what it asserts is what the documentation of
// Prospect claims.
func TestCurvesTable(t *testing.T) {
	if testing.Short() {
		t.Skip("judges 27 curves with many settings")
	}
	all := curves(t)
	if len(all) != 27 {
		t.Fatalf("%d curves, want 27", len(all))
	}
	for _, setting := range []struct{ length, interval time.Duration }{
		{400 * time.Second, 20 * time.Second}, {400 * time.Second, 30 * time.Second}, {400 * time.Second, 60 * time.Second},
		{2000 * time.Second, 20 * time.Second}, {8000 * time.Second, 20 * time.Second},
	} {
		t.Logf("runs of %v, a check every %v", setting.length, setting.interval)
		t.Logf("%-30s %8s %8s %8s %5s %5s %5s", "classifier", "marked", "ahead", "worst", ">10%", "never", "back")
		for _, row := range contestants() {
			s := judgeAll(all, row.classifier, setting.length, setting.interval)
			t.Logf("%-30s %7.1f%% %7.1f%% %7.1f%% %5d %5d %5d", row.name, 100*s.first, 100*s.ahead, 100*s.worst, s.over, s.never, s.back)
		}
	}
	t.Logf("each curve, runs of 33m20s, a check every 20s: marked at, ahead of the mark, taken back")
	t.Logf("%-50s %22s %22s", "curve", "decline alpha=0.003", "prospect alpha=0.05")
	for i := range all {
		d := all[i].judged(growth.Decline{Alpha: 0.003}, 2000*time.Second, 20*time.Second)
		p := all[i].judged(growth.Prospect{Alpha: 0.05}, 2000*time.Second, 20*time.Second)
		t.Logf("%-50s %7.0f%% %7.1f%% %5d %7.0f%% %7.1f%% %5d", all[i].name, 100*d.first, 100*d.ahead, d.back, 100*p.first, 100*p.ahead, p.back)
	}
	for _, share := range []float64{0.01, 0.02, 0.05, 0.1} {
		t.Logf("in hindsight, at most %2g%% is ahead from %4.1f%% of a run on", 100*share, 100*hindsight(all, share))
	}
}

// hindsight returns the mean time from which at most a share of the improvement is ahead.
func hindsight(all []curve, share float64) (mean float64) {
	for i := range all {
		at := 0.0
		for all[i].ahead(at) > share {
			at += 0.001
		}
		mean += at / float64(len(all))
	}
	return mean
}

// TestProspectOnCurves asserts what the comparison shows and the documentation of Prospect claims:
// that alpha means the same in runs of any length, that little improvement is ahead of the mark
// at a small one, and that marks are rarely taken back, each better than the thesis' tests when those mark as
// early.
func TestProspectOnCurves(t *testing.T) {
	all := curves(t)
	const interval = 20 * time.Second
	short := judgeAll(all, growth.Prospect{Alpha: 0.03}, 100*interval, interval)
	long := judgeAll(all, growth.Prospect{Alpha: 0.03}, 400*interval, interval)
	if math.Abs(short.first-long.first) > 0.05 {
		t.Errorf("marked at %.3f of a short run and %.3f of a long one", short.first, long.first)
	}
	for _, s := range []summary{short, long} {
		if s.ahead > 0.05 || s.back > 10 || s.first > 0.5 {
			t.Errorf("marked at %.3f with %.3f ahead, %d taken back", s.first, s.ahead, s.back)
		}
	}
	decline := judgeAll(all, growth.Decline{Alpha: 0.003}, 100*interval, interval)
	prospect := judgeAll(all, growth.Prospect{Alpha: 0.05}, 100*interval, interval)
	if prospect.first > decline.first+0.01 || prospect.ahead > decline.ahead || prospect.back >= decline.back {
		t.Errorf("prospect %+v is not better than decline %+v", prospect, decline)
	}
}
