// This program reads the queues and workloads of Kueue, as kubectl prints them, and prints the commands that have Kueue preempt what
// loses least: Kueue takes those of the lowest priority first, and the annotation kueue.x-k8s.io/priority-boost counts for that.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// boost is Kueue's annotation, [KEP-7990].
const boost = "kueue.x-k8s.io/priority-boost"

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout, time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "victims:", err)
		os.Exit(1)
	}
}

// run reads a list of ClusterQueues, LocalQueues and Workloads, and writes a command for each annotation that is to change.
func run(ctx context.Context, in io.Reader, out io.Writer, now time.Time) error {
	c, err := read(in)
	if err != nil {
		return err
	}
	for i := range c.queues {
		admitted, waiting := c.of(c.queues[i].Name)
		chosen, err := victims(ctx, &c.queues[i], admitted, waiting, now)
		if err != nil {
			// What is printed is for a shell: every line of an error is a comment.
			fmt.Fprintf(out, "# %s\n", strings.ReplaceAll(err.Error(), "\n", "\n# "))
			continue
		}
		for _, w := range append(admitted, waiting...) {
			if command := change(w, boostOf(w, admitted, chosen)); command != "" {
				fmt.Fprintln(out, command)
			}
		}
	}
	return nil
}

// boostOf is what a workload is to have: those that are chosen come below all others that are admitted. 0: nothing.
func boostOf(w *kueue.Workload, admitted []*kueue.Workload, chosen []string) int64 {
	if !slices.Contains(chosen, nameOf(w)) {
		return 0
	}
	least := priority(w)
	for _, other := range admitted {
		least = min(least, priority(other))
	}
	return int64(least) - 1 - int64(priority(w))
}

// change returns the command that gives a workload a boost, empty where it has that.
func change(w *kueue.Workload, to int64) string {
	now := w.Annotations[boost]
	switch {
	case to == 0 && now == "", strconv.FormatInt(to, 10) == now:
		return ""
	case to == 0:
		return fmt.Sprintf("kubectl annotate workload -n %s %s %s-", w.Namespace, w.Name, boost)
	}
	return fmt.Sprintf("kubectl annotate workload -n %s %s --overwrite %s=%d", w.Namespace, w.Name, boost, to)
}

// cluster is what was read. local are the ClusterQueues of LocalQueues that begin something, by namespace and name.
type cluster struct {
	queues    []kueue.ClusterQueue
	workloads []kueue.Workload
	local     map[string]string
}

func read(in io.Reader) (*cluster, error) {
	var list struct{ Items []json.RawMessage }
	if err := json.NewDecoder(in).Decode(&list); err != nil {
		return nil, err
	}
	c := &cluster{local: map[string]string{}}
	for _, text := range list.Items {
		var of metav1.TypeMeta
		var queue kueue.ClusterQueue
		var local kueue.LocalQueue
		var workload kueue.Workload
		err := json.Unmarshal(text, &of)
		switch of.Kind {
		case "ClusterQueue":
			err = json.Unmarshal(text, &queue)
			c.queues = append(c.queues, queue)
		case "LocalQueue":
			err = json.Unmarshal(text, &local)
			if !stops(local.Spec.StopPolicy) {
				c.local[local.Namespace+"/"+local.Name] = string(local.Spec.ClusterQueue)
			}
		case "Workload":
			err = json.Unmarshal(text, &workload)
			if err == nil {
				err = named(&workload)
			}
			c.workloads = append(c.workloads, workload)
		}
		if err != nil {
			return nil, fmt.Errorf("an object of kind %q: %w", of.Kind, err)
		}
	}
	return c, nil
}

// named reports names that Kubernetes would not give: commands for a shell have them.
func named(w *kueue.Workload) error {
	for _, name := range []string{w.Namespace, w.Name} {
		if faults := validation.IsDNS1123Subdomain(name); len(faults) > 0 {
			return fmt.Errorf("name %q: %s", name, faults[0])
		}
	}
	return nil
}

// stops reports whether a queue begins nothing.
func stops(p *kueue.StopPolicy) bool { return p != nil && *p != kueue.None }

// of returns the workloads of a ClusterQueue that are admitted, and those that wait: not those that are over or inactive, nor those that are
// on their way out, whose quota counts as free, nor those that Kueue does not queue now.
func (c *cluster) of(queue string) (admitted, waiting []*kueue.Workload) {
	for i := range c.workloads {
		w := &c.workloads[i]
		is := func(condition string) bool { return meta.IsStatusConditionTrue(w.Status.Conditions, condition) }
		switch {
		case is(kueue.WorkloadFinished) || w.Status.Admission != nil && is(kueue.WorkloadEvicted) || w.Spec.Active != nil && !*w.Spec.Active:
		case w.Status.Admission != nil && string(w.Status.Admission.ClusterQueue) == queue:
			admitted = append(admitted, w)
		case w.Status.Admission == nil && !meta.IsStatusConditionFalse(w.Status.Conditions, kueue.WorkloadRequeued) && c.local[w.Namespace+"/"+string(w.Spec.QueueName)] == queue:
			waiting = append(waiting, w)
		}
	}
	return admitted, waiting
}
