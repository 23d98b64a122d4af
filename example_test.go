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

func ExampleFaults() {
	err := apportion.Kinds{"cpu", "gpu type", "cpu"}.Validate()
	fmt.Println(err)
	fmt.Println(errors.Is(err, apportion.ErrDuplicate), errors.Is(err, apportion.ErrOverflow))
	var fault *apportion.FieldError
	if errors.As(err, &fault) {
		fmt.Println(fault.Field)
	}
	// Output:
	// Kinds[1] is out of range: "gpu type" has a space, a control character or =
	// Kinds[2] is there twice: "cpu"
	// true false
	// Kinds[1]
}
