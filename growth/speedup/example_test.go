package speedup_test

import (
	"fmt"

	"github.com/apportion/apportion/growth/speedup"
)

// A job of 256 samples a step has run on one, two and four GPUs of one server. What could it do with more?
func ExampleCurve_Outlook() {
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
	steps, err := curve.Outlook(4, 8, 1, 2, 4, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range steps {
		fmt.Printf("%d GPUs: %.2f times as fast, at least %.2f\n", s.Containers, s.Speed, s.Low)
	}
	// Output:
	// 5 GPUs: 1.14 times as fast, at least 1.13
	// 6 GPUs: 1.26 times as fast, at least 1.24
	// 8 GPUs: 1.45 times as fast, at least 1.43
	// 104 GPUs: 1.45 times as fast, at least 1.43
}
