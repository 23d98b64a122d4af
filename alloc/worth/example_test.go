package worth_test

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/worth"
)

// Two jobs of measured speeds share eight GPUs. The second one hardly gains by more than three.
func ExampleOf() {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Servers: []apportion.Server{{ID: "node", Capacity: apportion.Resources{8}}}}
	counts := []int64{1, 2, 3, 4, 5, 6}
	for id, speeds := range map[string][]float64{"resnet": {100, 195, 285, 370, 450, 520}, "vae": {100, 160, 190, 195, 196, 196}} {
		w, err := worth.Of(&worth.Job{Speeds: speeds, Fair: worth.FairSpeed(counts, speeds, 4)}, worth.Fair)
		if err != nil {
			fmt.Println(err)
			return
		}
		p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 6, Worth: w.Worth}, IdleWorth: w.Idle})
	}
	d, err := alloc.Reallocate(context.Background(), p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("resnet", d.Allocation.Containers("resnet"), "vae", d.Allocation.Containers("vae"))
	// Output: resnet 5 vae 3
}
