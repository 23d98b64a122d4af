// This program places jobs on racks, [Program §13] of package alloc: within one, in slices, and on the fewest.

// Racks answers: how does a job get into one rack, why does it wait, and how few racks can there be?
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// The program is in run, which writes wherever it is told to; so its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "racks:", err)
		os.Exit(1)
	}
}

// run asks for the same cluster again and again, each time for other jobs.
func run(w io.Writer) error {
	form := func(gpus int64) alloc.Form {
		return alloc.Form{Demand: apportion.Resources{1}, Min: gpus, Max: gpus}
	}
	for _, question := range []struct {
		name string
		jobs []alloc.Application
	}{
		{"12 GPUs, anywhere", []alloc.Application{{ID: "a", Weight: 1, Form: form(12)}}},
		{"12 GPUs within one rack", []alloc.Application{{ID: "a", Weight: 1, Form: form(12), Within: "rack"}}},
		{"20 GPUs within one rack", []alloc.Application{{ID: "a", Weight: 1, Form: form(20), Within: "rack"}}},
		{"20 GPUs within one zone, on few racks", []alloc.Application{{ID: "a", Weight: 1, Form: form(20), Within: "zone", Prefer: "rack"}}},
		{"48 GPUs as 3 slices of 16, each within one rack", []alloc.Application{{ID: "a", Weight: 1, Form: form(48),
			Slices: &alloc.Slices{Containers: 16, Within: "rack"}}}},
		{"30 and 10 GPUs on few racks", []alloc.Application{{ID: "a", Weight: 1, Form: form(30), Prefer: "rack"}, {ID: "b", Weight: 1, Form: form(10), Prefer: "rack"}}},
	} {
		fmt.Fprintf(w, "%s:\n", question.name)
		if err := ask(w, question.jobs); err != nil {
			return err
		}
	}
	return nil
}

// cluster is two zones of two racks, each with servers of 10 and 8 GPUs. A job holds 8 GPUs of the first rack, and may not be moved.
func cluster() *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Topology: []string{"zone", "rack"}, Theta1: .1, Theta2: .1,
		Applications: []alloc.Application{{ID: "old", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 8, Max: 8}, Pinned: true}},
		Previous:     alloc.Allocation{"old": {"s0": 8}}}
	for j := range 8 {
		labels := map[string]string{"zone": fmt.Sprint("z", j/4), "rack": fmt.Sprint("r", j/2)}
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{10 - 2*int64(j%2)}, Labels: labels})
	}
	return p
}

// ask decides for these jobs, and says in which racks they are, or why they wait.
func ask(w io.Writer, jobs []alloc.Application) error {
	p := cluster()
	p.Applications = append(p.Applications, jobs...)
	d, err := alloc.Reallocate(context.Background(), p, nil)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if racks := racksOf(p, d.Allocation[job.ID]); racks != "" {
			fmt.Fprintf(w, "  %s: %s\n", job.ID, racks)
		}
	}
	for _, waiting := range d.Waiting {
		fmt.Fprintf(w, "  %s waits: %s\n", waiting.ID, waiting.Reason.Text)
	}
	fmt.Fprintf(w, "  beyond the fewest of an empty cluster: %d zones, %d racks\n", d.Metrics.ExtraDomains["zone"], d.Metrics.ExtraDomains["rack"])
	explanation, err := alloc.Explain(p, d)
	if err == nil && explanation.Domains != "" {
		fmt.Fprintf(w, "  %s\n", explanation.Domains)
	}
	return err
}

// racksOf says how many containers are in each rack.
func racksOf(p *alloc.Problem, places map[string]int64) string {
	in := make(map[string]int64)
	for _, server := range p.Servers {
		if n := places[server.ID]; n > 0 {
			in[server.Labels["zone"]+"/"+server.Labels["rack"]] += n
		}
	}
	var parts []string
	for _, rack := range slices.Sorted(maps.Keys(in)) {
		parts = append(parts, fmt.Sprintf("%d in %s", in[rack], rack))
	}
	return strings.Join(parts, ", ")
}
