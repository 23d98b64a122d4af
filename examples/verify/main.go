// This program checks a decision that comes from elsewhere, without a solver.

// Verify answers: is the bound right?
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "verify:", err)
		os.Exit(1)
	}
}

// run records a decision, as a scheduler logs it, and checks what it reads back.
func run(w io.Writer) error {
	document, err := logged()
	if err != nil {
		return err
	}

	// Elsewhere: nothing but the document is known.
	var record alloc.Record
	if err := json.Unmarshal(document, &record); err != nil {
		return err
	}
	// Verify counts the allocation again and computes the bound from the prices in the certificate: no
	// search, and nobody to be trusted.
	proof, err := record.Verify()
	if err != nil {
		return err
	}
	// The certificate's bound may be weaker than the claimed one, since a search can rule out more.
	fmt.Fprintf(w, "utilization %.4f; claimed: at most %.4f; the certificate proves %.4f\n",
		record.Decision.Objective, record.Decision.Bound, proof.Bound)

	// The solver may have ruled out more than prices prove. Doing it again shows that.
	// The record has all that the search depended on, and no clock: the same comes out on any machine.
	// nil takes the solver that the record names.
	differences, err := record.Replay(context.Background(), nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "taken again: %d differences\n", len(differences))

	// Nobody needs to trust the document: whatever was changed in it does not fit the rest.
	// The change is undone afterwards, so that each lie stands alone.
	record.Decision.Allocation["bert"]["node-1"]++
	if _, err := record.Verify(); errors.Is(err, alloc.ErrMismatch) {
		fmt.Fprintln(w, "one container more:", err)
	}
	record.Decision.Allocation["bert"]["node-1"]--
	record.Decision.Bound = record.Decision.Objective - 0.1
	if _, err := record.Verify(); errors.Is(err, alloc.ErrMismatch) {
		fmt.Fprintln(w, "a bound too low:", err)
	}
	return nil
}

// logged takes a decision and returns its document.
func logged() ([]byte, error) {
	// Two servers of different shape, so that the best division is not plain to see.
	problem := &alloc.Problem{
		Kinds: apportion.Kinds{"gpu", "cpu"},
		Servers: []apportion.Server{
			{ID: "node-1", Capacity: apportion.Resources{4, 16}},
			{ID: "node-2", Capacity: apportion.Resources{2, 24}},
		},
		// Either server is best for one of the two.
		Applications: []alloc.Application{
			{ID: "bert", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 2}, Min: 1, Max: 6}},
			{ID: "etl", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{0, 3}, Min: 1, Max: 10}},
		},
		Theta1: 0.5, Theta2: 0.5,
	}
	decision, err := alloc.Reallocate(context.Background(), problem, nil)
	if err != nil {
		return nil, err
	}
	// A record is plain JSON. A scheduler that logs one for each decision can answer for them years later.
	return json.Marshal(alloc.NewRecord(problem, decision))
}
