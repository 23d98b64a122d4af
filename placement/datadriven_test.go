// This file runs the scenarios in testdata/cases: rebalancing and packing step by step.

package placement_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement"
)

// TestCases understands
//
//	rebalance now=200 [literal] [ceiling] [ignore-room]
//	4: a@10 b@20 c@30*2 d@5!       one worker a line: what is free, then its containers with the
//	----                           time of their mark, *demand (1), ! where moved before
//
//	pack rule=best-fit kinds=(cpu,gpu)
//	8 2 : 1                        one server a line: free, containers
//	----
//	place count=3
//	2 1
//	----
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		var packer *placement.Packer
		servers := 0
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "rebalance":
				return rebalanceCase(t, d)
			case "pack":
				packer, servers = packCase(t, d)
				return "ok"
			case "place":
				return placeCase(t, d, packer, servers)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func integers(t *testing.T, text string) (list []int64) {
	t.Helper()
	for _, word := range strings.Fields(text) {
		n := must.Have(strconv.ParseInt(word, 10, 64))(t)
		list = append(list, n)
	}
	return list
}

func rebalanceCase(t *testing.T, d *datadriven.TestData) string {
	var now int
	d.ScanArgs(t, "now", &now)
	request := placement.RebalanceRequest{Now: time.Duration(now), Kinds: cpu}
	for w, text := range strings.Split(d.Input, "\n") {
		room, containers, _ := strings.Cut(text, ":")
		request.Free = append(request.Free, integers(t, room))
		for _, word := range strings.Fields(containers) {
			c := placement.Active{Worker: w, Demand: apportion.Resources{1}, Migrated: true}
			word, c.Rebalanced = strings.CutSuffix(word, "!")
			word, demand, _ := strings.Cut(word, "*")
			if demand != "" {
				c.Demand = integers(t, demand)
			}
			id, since, _ := strings.Cut(word, "@")
			c.ID, c.Since = id, time.Duration(integers(t, since)[0])
			request.Containers = append(request.Containers, c)
		}
	}
	plan, err := placement.Rebalance(request, &placement.RebalanceOptions{
		Literal: d.HasArg("literal"), Ceiling: d.HasArg("ceiling"), IgnoreRoom: d.HasArg("ignore-room"),
	})
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	fmt.Fprintf(&out, "bf %d\n", plan.Factor)
	for _, m := range plan.Transfers {
		fmt.Fprintf(&out, "%s: worker %d -> worker %d\n", request.Containers[m.Container].ID, m.From, m.To)
		request.Containers[m.Container].Worker = m.To
	}
	for w := range request.Free {
		fmt.Fprintf(&out, "worker %d:", w)
		for _, c := range request.Containers {
			if c.Worker == w {
				fmt.Fprintf(&out, " %s", c.ID)
			}
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}

func packCase(t *testing.T, d *datadriven.TestData) (*placement.Packer, int) {
	var name string
	d.ScanArgs(t, "rule", &name)
	var bins []placement.Bin
	for _, text := range strings.Split(d.Input, "\n") {
		parts := strings.Split(text, ":")
		bins = append(bins, placement.Bin{Free: integers(t, parts[0]), Containers: integers(t, parts[1])[0]})
	}
	packer := must.Have(placement.NewPacker(placement.Rule(name), apportion.Kinds{"cpu", "gpu"}, bins))(t)
	return packer, len(bins)
}

func placeCase(t *testing.T, d *datadriven.TestData, packer *placement.Packer, servers int) string {
	var count int
	d.ScanArgs(t, "count", &count)
	placed, ok := packer.Place(integers(t, d.Input), int64(count), nil)
	var out strings.Builder
	if !ok {
		fmt.Fprintln(&out, "does not fit")
	}
	for _, p := range placed {
		fmt.Fprintf(&out, "%d on server %d\n", p.Count, p.Server)
	}
	for j := range servers {
		fmt.Fprintf(&out, "server %d: %v left\n", j, packer.Free(j))
	}
	return out.String()
}
