// This file reads below which switches nodes are, as topology.conf has it and `scontrol show topology` prints it.

package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/apportion/apportion/checkpoint/controller"
)

// labelSwitches gives each server the label switch:N with the switch of each level N that it is below, 0 for the one that it is at. A
// cluster without a topology has no switches, and a node may be below none.
func labelSwitches(ctx context.Context, servers []controller.Server) error {
	text, err := command(ctx, "", "scontrol", "show", "topology")
	if err != nil {
		return err
	}
	switches, err := switchesIn(text)
	if err != nil {
		return fmt.Errorf("scontrol show topology: %w", err)
	}
	for i := range servers {
		for level, name := range switches[servers[i].ID] {
			servers[i].Labels["switch:"+level] = name
		}
	}
	return nil
}

// switchesIn returns by node and level the switch that a node is below, from lines like
//
//	SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-11]
func switchesIn(text string) (map[string]map[string]string, error) {
	below := make(map[string]map[string]string)
	for line := range strings.Lines(text) {
		words := make(map[string]string)
		for word := range strings.FieldsSeq(line) {
			key, value, _ := strings.Cut(word, "=")
			words[key] = value
		}
		// What is no line of a switch says in words that there are none, or is of another sort of topology.
		if words["SwitchName"] == "" || words["Level"] == "" {
			continue
		}
		nodes, err := hostsIn(words["Nodes"])
		if err != nil {
			return nil, err
		}
		for _, node := range nodes {
			if below[node] == nil {
				below[node] = make(map[string]string)
			}
			below[node][words["Level"]] = words["SwitchName"]
		}
	}
	return below, nil
}

// mostHosts bounds a list: Slurm has no larger clusters, and a wrong number would fill the memory.
const mostHosts = 1 << 16

// hostsIn returns the names in a list of hosts, as tux[0-2,07],login.
func hostsIn(list string) ([]string, error) {
	names := []string{""}
	var all []string
	for list != "" {
		at := strings.IndexAny(list, ",[")
		switch {
		case at < 0:
			return append(all, with(names, []string{list})...), nil
		case list[at] == ',':
			all, names, list = append(all, with(names, []string{list[:at]})...), []string{""}, list[at+1:]
			continue
		}
		inner, rest, closed := strings.Cut(list[at+1:], "]")
		if !closed {
			return nil, fmt.Errorf("no end of %q", list[at:])
		}
		numbers, err := numbersIn(inner)
		if err != nil {
			return nil, err
		}
		if names = with(with(names, []string{list[:at]}), numbers); len(names) > mostHosts {
			return nil, fmt.Errorf("more than %d hosts", mostHosts)
		}
		if list = rest; list == "" || list[0] == ',' {
			all, names, list = append(all, names...), []string{""}, strings.TrimPrefix(list, ",")
		}
	}
	return all, nil
}

// with returns every name followed by every end.
func with(names, ends []string) []string {
	var all []string
	for _, name := range names {
		for _, end := range ends {
			all = append(all, name+end)
		}
	}
	return all
}

// numbersIn returns the numbers of ranges, as 0-2,07, with as many digits as the first of a range has.
func numbersIn(ranges string) ([]string, error) {
	var all []string
	for part := range strings.SplitSeq(ranges, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, errToo := strconv.Atoi(last)
		if err != nil || errToo != nil || from < 0 || to < from || to-from > mostHosts {
			return nil, fmt.Errorf("%q is no range of numbers", part)
		}
		for n := from; n <= to; n++ {
			all = append(all, fmt.Sprintf("%0*d", len(first), n))
		}
	}
	return all, nil
}
