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
	// slow after 20 evaluations
}
