// This file shows the vocabulary at work.

package apportion_test

import (
	"errors"
	"fmt"

	"github.com/apportion/apportion"
)

func ExampleKinds_Parse() {
	kinds := apportion.Kinds{"cpu", "gpu", "memory"}
	demand, err := kinds.Parse("gpu=1 memory=8 cpu=2")
	fmt.Println(demand, err)
	fmt.Println(kinds.Format(demand))
	_, err = kinds.Parse("gpus=1")
	fmt.Println(err)
	// Output:
	// [2 1 8] <nil>
	// cpu=2 gpu=1 memory=8
	// gpus is unknown: "gpus=1"
}

func ExampleResources_CountIn() {
	container := apportion.Resources{2, 0, 8} // cpu, gpu, memory
	server := apportion.Resources{12, 1, 40}
	fmt.Println(container.CountIn(server))
	// Output: 5
}

func ExampleResources_DominantShare() {
	kinds := apportion.Kinds{"cpu", "memory"}
	total := apportion.Resources{9, 18}
	for _, used := range []apportion.Resources{{3, 12}, {6, 2}} {
		share, kind := used.DominantShare(total)
		fmt.Printf("%.4f of %s\n", share, kinds.Name(kind))
	}
	// Output:
	// 0.6667 of memory
	// 0.6667 of cpu
}

func ExampleAddTimesTo() {
	free := apportion.Resources{12, 40}
	container := apportion.Resources{2, 8}
	if err := apportion.AddTimesTo(free, free, -3, container); err != nil {
		fmt.Println(err)
	}
	fmt.Println(free)
	fmt.Println(apportion.AddTimesTo(free, free, 1<<62, container), free)
	// Output:
	// [6 16]
	// overflows int64 [6 16]
}

func ExampleFaults() {
	servers := []apportion.Server{
		{ID: "a", Capacity: apportion.Resources{8, -1}},
		{ID: "a", Capacity: apportion.Resources{8}},
	}
	var faults apportion.Faults
	apportion.CheckServers(&faults, apportion.Kinds{"cpu", "gpu"}, servers)
	err := faults.Err()
	fmt.Println(err)
	fmt.Println(errors.Is(err, apportion.ErrNegative), errors.Is(err, apportion.ErrOverflow))
	// Output:
	// server "a": Capacity[gpu] is negative: -1
	// server "a": ID is there twice: "a"
	// server "a": Capacity has the wrong length: 1 quantities for 2 kinds
	// true false
}
