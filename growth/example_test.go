package growth_test

import (
	"fmt"
	"time"

	"github.com/apportion/apportion/growth"
)

// A job that is polled more often than it evaluates stands still at most checks. Prospect waits for
// evidence.
func ExampleProspect() {
	var series growth.Series
	converged := 0
	for check := range 200 {
		evaluations := 1 + check/4
		series.Add(time.Duration(check)*5*time.Second, 3/float64(evaluations), growth.Used(1))
		if check > 0 && (growth.Prospect{Alpha: 0.05}).Judge(&series) == growth.Slow {
			converged = evaluations
			break
		}
	}
	fmt.Println("slow after", converged, "evaluations")
	// Output:
	// slow after 16 evaluations
}

// patience is a classifier of one's own: a job is slow whose exponential average of all readings has not set a
// record for a number of points.
type patience struct {
	Weight float64
	Points int
}

// Judge walks over the history, which is at most 31 points long.
func (p patience) Judge(series *growth.Series) growth.Verdict {
	n := series.History()
	if n <= p.Points {
		return growth.Unsure
	}
	average := series.Point(0).Value
	best, at := average, 0
	for i := range n {
		average += p.Weight * (series.Point(i).Value - average)
		if average < best {
			best, at = average, i
		}
	}
	if n-1-at >= p.Points {
		return growth.Slow
	}
	return growth.Growing
}

// A classifier of one's own reads the history of the series.
func ExampleSeries_History() {
	var series growth.Series
	for check, loss := range []float64{9, 5, 3, 2, 1.5, 1.4, 1.45, 1.5, 1.4, 1.6, 1.7, 1.5, 1.8, 1.7, 1.9} {
		outcome := series.Add(time.Duration(check)*20*time.Second, loss, growth.Used(1))
		if verdict := growth.Judge(patience{0.5, 4}, &series, outcome); verdict == growth.Slow {
			fmt.Println(check, verdict)
			break
		}
	}
	// Output:
	// 12 slow
}
