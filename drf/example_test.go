// This file shows the package at work.

package drf_test

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

func ExampleFill() {
	capacity := apportion.Resources{9, 18} // CPUs, GB
	claims := []drf.Claim{
		{ID: "analytics", Demand: apportion.Resources{1, 4}, Weight: 1, Max: drf.NoMax},
		{ID: "training", Demand: apportion.Resources{3, 1}, Weight: 2, Max: drf.NoMax},
	}
	filling, err := drf.Fill(capacity, claims)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, claim := range filling.Claims {
		fmt.Printf("%s: %.1f containers, share %.1f\n", claim.ID, claim.Containers, claim.Share)
	}
	// Output:
	// analytics: 1.8 containers, share 0.4
	// training: 2.4 containers, share 0.8
}

func ExampleExplain() {
	kinds, capacity := apportion.Kinds{"gpu", "cpu"}, apportion.Resources{3, 20}
	claims := []drf.Claim{
		{ID: "etl", Demand: apportion.Resources{0, 2}, Weight: 1, Max: 2},
		{ID: "vision", Demand: apportion.Resources{2, 2}, Weight: 1, Max: drf.NoMax},
		{ID: "web", Demand: apportion.Resources{0, 1}, Weight: 2, Max: drf.NoMax},
	}
	filling, err := drf.FillWhole(capacity, claims, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	explained, err := drf.Explain(kinds, claims, filling)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(explained)
	// Output:
	// etl     2 containers   share 0.2       level 0.2       at its maximum
	// vision  1 containers   share 0.666667  level 0.666667  short of gpu: one more needs 2, 1 left
	// web     14 containers  share 0.7       level 0.35      short of cpu: one more needs 1, 0 left
}

func ExampleSorter() {
	tree, err := drf.NewTree(apportion.Resources{10, 10}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	sorter, demand := tree.NewSorter(), apportion.Resources{1, 1}
	for _, id := range []string{"a", "b"} {
		if _, err := sorter.Add(drf.Claim{ID: id, Weight: float64(sorter.Len() + 1)}); err != nil { // weights 1, 2
			fmt.Println(err)
			return
		}
	}
	for range 6 {
		client := sorter.Next()
		fmt.Print(client.ID(), " ")
		if err := sorter.Allocate(client, demand); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output: a b b a b b
}
