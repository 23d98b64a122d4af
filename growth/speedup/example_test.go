package speedup_test

import (
	"fmt"

	"github.com/apportion/apportion/growth/speedup"
)

// A job of 256 samples a step has run on one, two and four GPUs of one server. What could it do with more?
func ExampleCurve_Speeds() {
	job := speedup.Estimator{Request: 4}
	for _, o := range []speedup.Observation{
		{Containers: 1, Servers: 1, Samples: 256, Seconds: 0.80},
		{Containers: 2, Servers: 1, Samples: 256, Seconds: 0.45},
		{Containers: 4, Servers: 1, Samples: 256, Seconds: 0.28},
	} {
		if err := job.Observe(o); err != nil {
			fmt.Println(err)
			return
		}
	}
	curve, err := job.Curve()
	if err != nil {
		fmt.Println(err)
		return
	}
	counts := []int64{5, 6, 8, 104}
	speeds, err := curve.Speeds(append(counts, 4), 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, n := range counts {
		fmt.Printf("%d GPUs: %.2f times as fast\n", n, speeds[i]/speeds[4])
	}
	// Output:
	// 5 GPUs: 1.14 times as fast
	// 6 GPUs: 1.26 times as fast
	// 8 GPUs: 1.45 times as fast
	// 104 GPUs: 1.45 times as fast
}
