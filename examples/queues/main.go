// This program shares a cluster between departments and their teams, [Bhattacharya13].

// Queues answers: which team is next, and who has borrowed from whom?
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
		fmt.Fprintln(os.Stderr, "queues:", err)
		os.Exit(1)
	}
}

// run shares 16 GPUs and 128 CPUs between two departments and their guests.
func run(w io.Writer) error {
	kinds, capacity := apportion.Kinds{"gpu", "cpu"}, apportion.Resources{16, 128}
	// A queue without a parent is part of the whole cluster. A guarantee is what it gets before anybody has more than is
	// guaranteed; a ceiling is the most that all below it have together, NoLimit of a kind that has none.
	// Weights count among siblings alone.
	tree, err := drf.NewTree(capacity, []drf.Queue{
		{ID: "research", Weight: 2, Guarantee: apportion.Resources{8, 64}},
		{ID: "vision", Parent: "research", Weight: 1},
		{ID: "speech", Parent: "research", Weight: 1},
		{ID: "product", Weight: 1, Guarantee: apportion.Resources{4, 32}},
		{ID: "guests", Weight: 1, Ceiling: drf.Ceiling{3, drf.NoLimit}},
	})
	if err != nil {
		return err
	}
	// Claims belong to queues that have no queues below them.
	claims := []drf.Claim{
		{ID: "detector", Queue: "vision", Demand: apportion.Resources{2, 8}, Weight: 1, Max: 2},
		{ID: "whisper", Queue: "speech", Demand: apportion.Resources{1, 6}, Weight: 1, Max: 2},
		{ID: "ranker", Queue: "product", Demand: apportion.Resources{1, 4}, Weight: 1, Max: drf.NoMax},
		{ID: "visitor", Queue: "guests", Demand: apportion.Resources{1, 2}, Weight: 1, Max: drf.NoMax},
	}
	// Whole containers, as they would run.
	filling, err := tree.FillWhole(claims)
	if err != nil {
		return err
	}
	// Research leaves a part of its guarantee unused, and the others borrow it.
	explained, err := drf.ExplainTree(kinds, tree, claims, filling)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "who gets what:\n%s", explained)

	if err := next(w, tree, claims); err != nil {
		return err
	}
	return reclaim(w, tree)
}

// next shows the order in which a scheduler would serve clients, container by container.
func next(w io.Writer, tree *drf.Tree, claims []drf.Claim) error {
	// The sorter is the incremental form of the filling: it answers who is next without filling anew.
	sorter := tree.NewSorter()
	for _, claim := range claims {
		if _, err := sorter.Add(claim); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\nfirst come:")
	// Eight containers are as many as fit before the ceiling is reached.
	for range 8 {
		// Next changes nothing. Whoever starts a container tells the sorter by Allocate.
		client := sorter.Next()
		// A container that the cluster or a ceiling has no room for is not started: the client is skipped until
		// something changes.
		if kind, _ := sorter.Room(client); kind >= 0 {
			if err := sorter.Skip(client); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, " %s", client.ID())
		// The sorter knows clients by their IDs, as the claims are named.
		for _, claim := range claims {
			if claim.ID == client.ID() {
				if err := sorter.Allocate(client, claim.Demand); err != nil {
					return err
				}
			}
		}
	}
	fmt.Fprintln(w)
	return nil
}

// reclaim shows what a scheduler would take back to make room for those who are below their guarantees.
func reclaim(w io.Writer, tree *drf.Tree) error {
	// Of what runs here 5 of the 9 GPUs of product are borrowed, since 4 are guaranteed to it.
	// Since is when a container began, in any unit; Loss is what is lost with it.
	taken, err := tree.Reclaim([]drf.Holding{
		{ID: "ranker-1", Queue: "product", Held: apportion.Resources{4, 16}, Since: 10, Loss: 30},
		{ID: "ranker-2", Queue: "product", Held: apportion.Resources{5, 20}, Since: 25, Loss: 5},
		{ID: "visitor-1", Queue: "guests", Held: apportion.Resources{1, 2}, Since: 25, Loss: 2},
		{ID: "detector-1", Queue: "vision", Held: apportion.Resources{2, 8}, Since: 40, Loss: 1},
	})
	if err != nil {
		return err
	}
	// The last that came goes first; of those that came together the one that loses least.
	fmt.Fprintf(w, "\nwhat would be taken back, in this order:")
	for _, holding := range taken {
		fmt.Fprintf(w, " %s", holding.ID)
	}
	fmt.Fprintln(w)
	return nil
}
