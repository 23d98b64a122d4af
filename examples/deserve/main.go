// This program divides one pool of resources by dominant resource fairness, [Ghodsi11].

// Deserve answers: who deserves how much?
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

// The program is in run, which writes wherever it is told to; so its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "deserve:", err)
		os.Exit(1)
	}
}

// run divides 16 GPUs and 128 CPUs among three teams, first in fractions, then in whole containers.
func run(w io.Writer) error {
	// Kinds name the positions of every vector below: the first number is GPUs, the second CPUs. Units are
	// the caller's own; they need only be whole.
	kinds, capacity := apportion.Kinds{"gpu", "cpu"}, apportion.Resources{16, 128}
	claims := []drf.Claim{
		// Demand is what one container needs. Weight says how large a share is due, beside the others'
		// weights.
		{ID: "vision", Demand: apportion.Resources{2, 8}, Weight: 2, Max: drf.NoMax}, // counts twice
		{ID: "speech", Demand: apportion.Resources{1, 6}, Weight: 1, Max: drf.NoMax},
		{ID: "etl", Demand: apportion.Resources{0, 10}, Weight: 1, Max: 4}, // wants no more than 4
	}

	// A claim's dominant share is its largest share of any kind. Shares rise together, in proportion to the
	// weights, until something that a claim needs runs out.
	fractions, err := drf.Fill(capacity, claims)
	if err != nil {
		return err
	}
	// vision and speech need both kinds, etl none of the GPUs: so it goes on when these are gone.
	fmt.Fprintln(w, "divisible:")
	for _, claim := range fractions.Claims {
		fmt.Fprintf(w, "  %-7s %6.3f containers, dominant share %.3f\n", claim.ID, claim.Containers, claim.Share)
	}

	// Containers are whole: the next one goes to the claim with the least share for its weight.
	whole, err := drf.FillWhole(capacity, claims, nil)
	if err != nil {
		return err
	}
	// Explain has the same as data, for a program: which kind stopped whom, and how much of it was left.
	explained, err := drf.Explain(kinds, claims, whole)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nin whole containers, and why not more:\n%s", explained)
	fmt.Fprintf(w, "unused: %s\n", kinds.Format(whole.Unused))

	// Any division can be checked, also one that somebody wrote by hand.
	byHand := []int64{4, 8, 4}
	// Five properties are looked at, among them that nobody envies another and that nothing useful is left
	// over.
	report, err := drf.Verify(capacity, claims, byHand)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nby hand %v, what is unfair:\n", byHand)
	for _, violation := range report {
		fmt.Fprintf(w, "  %s\n", violation)
	}
	return nil
}
