package forecast_test

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/placement/sim/forecast"
)

// Four GPUs, of which a has three for at most eight hours more. Its user's jobs have used a tenth to a half of their limits.
func ExampleNew() {
	ends := 8 * 3600.0
	p := &alloc.Problem{
		Kinds:   apportion.Kinds{"gpu"},
		Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{4}}},
		Applications: []alloc.Application{
			{ID: "a", Weight: 1, Ends: &ends, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 3, Max: 3}},
			{ID: "b", Weight: 1, Ends: &ends, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 2, Max: 2}},
		},
		Previous: alloc.Allocation{"a": {"s": 3}},
	}
	var runs []forecast.Run
	for i := range 9 {
		runs = append(runs, forecast.Run{User: "ann", Length: 360 * float64(2+i), Limit: 7200})
	}
	history, err := forecast.NewHistory(runs, nil)
	if err != nil {
		panic(err)
	}
	f, err := forecast.New(context.Background(), p, []forecast.Known{{ID: "a", User: "ann"}}, &forecast.Options{History: history})
	if err != nil {
		panic(err)
	}
	start := f.Jobs[0].Start
	fmt.Printf("b starts between %.1f and %.1f h from now, as likely as not before %.1f h\n", *start.P10/3600, *start.P90/3600, *start.P50/3600)
	// Output:
	// b starts between 0.8 and 4.0 h from now, as likely as not before 2.0 h
}
