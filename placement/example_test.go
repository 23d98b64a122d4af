package placement_test

import (
	"fmt"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement"
)

// A job that converged on the busy worker-4 moves to the worker with the least to do.
func ExampleChooseHost() {
	workers := []placement.Worker{
		{ID: "worker-1", Counts: placement.Counts{Progressing: 3}, Free: apportion.Resources{4000}},
		{ID: "worker-2", Counts: placement.Counts{Progressing: 1, Watching: 1}, Free: apportion.Resources{1000}},
		{ID: "worker-3", Counts: placement.Counts{Progressing: 2}, Free: apportion.Resources{9000}},
		{ID: "worker-4", Counts: placement.Counts{Progressing: 5, Converged: 1}, Free: apportion.Resources{0}},
	}
	for _, millicores := range []int64{1000, 2000} {
		host, err := placement.ChooseHost(placement.HostRequest{
			Kinds: apportion.Kinds{"millicores"}, Workers: workers, Current: 3, Demand: apportion.Resources{millicores}, Containers: 1,
		}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(millicores, "millicores:", workers[host.Worker].ID, "-", host.Reason)
	}
	// Output:
	// 1000 millicores: worker-2 - least score
	// 2000 millicores: worker-3 - best of those with room
}

// Two jobs of worker 0 have finished; one of the two that are left takes its place.
func ExampleRebalance() {
	containers := []placement.Active{
		{ID: "c3", Worker: 1, Demand: apportion.Resources{2}, Migrated: true, Since: 5 * time.Second},
		{ID: "c4", Worker: 1, Demand: apportion.Resources{2}, Migrated: true, Since: 9 * time.Second},
	}
	plan, err := placement.Rebalance(placement.RebalanceRequest{
		Now: 20 * time.Second, Kinds: apportion.Kinds{"cpu"},
		Free: []apportion.Resources{{4}, {0}}, Containers: containers,
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range plan.Transfers {
		fmt.Printf("%s from worker %d to worker %d\n", containers[m.Container].ID, m.From, m.To)
	}
	// Output: c4 from worker 1 to worker 0
}

// A gang is placed as a whole or not at all.
func ExamplePacker_Place() {
	packer, err := placement.NewPacker(placement.BestFit, apportion.Kinds{"cpu", "gpu"}, []placement.Bin{
		{Free: apportion.Resources{16, 4}},
		{Free: apportion.Resources{8, 0}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(packer.Place(apportion.Resources{4, 0}, 3, nil))
	fmt.Println(packer.Place(apportion.Resources{4, 1}, 4, nil))
	fmt.Println(packer.Place(apportion.Resources{4, 1}, 3, nil))
	// Output:
	// [{1 2} {0 1}] true
	// [] false
	// [{0 3}] true
}
