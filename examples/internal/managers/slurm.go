// This file reads what commands of Slurm print with --json.

package managers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/apportion/apportion"
)

// slurm gathers nodes and jobs.
type slurm struct {
	nodes []slurmNode
	jobs  []slurmJob
}

type slurmNode struct {
	Name       string      `json:"name"`
	State      words       `json:"state"`
	Flags      []string    `json:"state_flags"`
	Features   words       `json:"features"`
	Partitions []string    `json:"partitions"`
	CPUs       slurmNumber `json:"cpus"`
	Memory     slurmNumber `json:"real_memory"` // in MB
	Generic    string      `json:"gres"`
}

type slurmJob struct {
	ID            int64       `json:"job_id"`
	Name          string      `json:"name"`
	State         words       `json:"job_state"`
	Reason        string      `json:"state_reason"`
	CPUs          slurmNumber `json:"cpus"`
	NodeCount     slurmNumber `json:"node_count"`
	Nodes         string      `json:"nodes"`
	MemoryPerCPU  slurmNumber `json:"memory_per_cpu"`
	MemoryPerNode slurmNumber `json:"memory_per_node"`
	PerNode       string      `json:"tres_per_node"`
	Partition     string      `json:"partition"`
	Features      string      `json:"features"`
	Priority      slurmNumber `json:"priority"`
	Dependency    string      `json:"dependency"`
}

// slurmNumber is a number as old releases write it, or {"set": true, "infinite": false, "number": 4}; 0 where it is not set.
type slurmNumber int64

func (n *slurmNumber) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	if text[0] != '{' {
		return json.Unmarshal(text, (*int64)(n))
	}
	var long struct {
		Set      bool  `json:"set"`
		Infinite bool  `json:"infinite"`
		Number   int64 `json:"number"`
	}
	err := json.Unmarshal(text, &long)
	if long.Set && !long.Infinite {
		*n = slurmNumber(long.Number)
	}
	return err
}

// words is a list of texts, which old releases write as one with commas between them.
type words []string

func (w *words) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(w))
	}
	var one string
	err := json.Unmarshal(text, &one)
	for _, word := range strings.Split(one, ",") {
		if word != "" {
			*w = append(*w, word)
		}
	}
	return err
}

func (s *slurm) take(document json.RawMessage) (bool, error) {
	var answer struct {
		Meta   json.RawMessage   `json:"meta"`
		Errors []json.RawMessage `json:"errors"`
		Nodes  []slurmNode       `json:"nodes"`
		Jobs   []slurmJob        `json:"jobs"`
		Groups json.RawMessage   `json:"sinfo"`
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(document, &fields) != nil || fields["meta"] == nil || fields["nodes"] == nil && fields["jobs"] == nil && fields["sinfo"] == nil {
		return false, nil
	}
	if err := json.Unmarshal(document, &answer); err != nil {
		return true, err
	}
	if len(answer.Errors) > 0 {
		return true, fmt.Errorf("errors of the command: %s", answer.Errors[0])
	}
	if answer.Groups != nil {
		return true, fmt.Errorf("%w: this release prints groups of nodes; take scontrol show nodes --json", ErrUnknownDocument)
	}
	s.nodes, s.jobs = append(s.nodes, answer.Nodes...), append(s.jobs, answer.Jobs...)
	return true, nil
}

func (s *slurm) end(c *cluster) {
	for n := range s.nodes {
		s.node(c, &s.nodes[n])
	}
	for n := range s.jobs {
		s.job(c, &s.jobs[n])
	}
}

// gpuIn are the GPUs in a list of generic resources, as gpu:a100:2(S:0-1), gres:gpu:1 and gres/gpu=2, of all types.
var gpuIn = regexp.MustCompile(`(?:^|,|gres[:/])gpu(?:(?::[^:,()=]+)??[:=](\d+))?`)

func gpus(list string) (total int64) {
	for _, found := range gpuIn.FindAllStringSubmatch(list, -1) {
		n := int64(1) // none is said: one
		if found[1] != "" {
			n, _ = strconv.ParseInt(found[1], 10, 32) // digits
		}
		total += n
	}
	return total
}

// node adds a server. Partitions and features become labels.
func (s *slurm) node(c *cluster, n *slurmNode) {
	states := append(slices.Clone(n.State), n.Flags...)
	has := func(state string) bool {
		return slices.ContainsFunc(states, func(one string) bool { return strings.EqualFold(one, state) })
	}
	for _, gone := range []string{"DOWN", "FAIL", "POWERED_DOWN", "NOT_RESPONDING", "INVALID", "FUTURE"} {
		if has(gone) {
			c.leaveOut("node", n.Name, "it is %s", strings.ToLower(gone))
			return
		}
	}
	labels := make(map[string]string)
	for _, partition := range n.Partitions {
		labels["partition:"+partition] = ""
	}
	for _, feature := range n.Features {
		labels["feature:"+feature] = ""
	}
	c.servers[n.Name] = &server{has: map[string]int64{"cpu": int64(n.CPUs), "memory": int64(n.Memory), "gpu": gpus(n.Generic)}, labels: labels,
		cordoned: has("DRAIN") || has("DRAINED") || has("DRAINING") || has("MAINTENANCE")}
}

// job adds a job that runs, or waits for room alone. A container is its part of one node.
func (s *slurm) job(c *cluster, j *slurmJob) {
	// A name is what a user has written; the number tells jobs apart.
	id := fmt.Sprintf("%s.%d", strings.Map(printable, j.Name), j.ID)
	if slices.Contains(j.State, "PENDING") && (j.Priority == 0 || j.Dependency != "" || strings.HasPrefix(j.Reason, "JobHeld")) {
		c.leaveOut("job", id, "it is held, or waits for another")
		return
	}
	runs := slices.ContainsFunc(j.State, func(state string) bool { return state == "RUNNING" || state == "SUSPENDED" || state == "COMPLETING" })
	if !runs && !slices.Contains(j.State, "PENDING") {
		return // over
	}
	count := max(1, int64(j.NodeCount))
	cpus := plus(int64(j.CPUs), count-1) / count
	w := work{id: id, count: count, demand: map[string]int64{"cpu": cpus, "memory": max(int64(j.MemoryPerNode), times(int64(j.MemoryPerCPU), cpus)), "gpu": gpus(j.PerNode)},
		priority: int64(j.Priority), spread: true}
	var err error
	if w.requires, err = j.requires(); err == nil && runs {
		w.on, err = nodesIn(j.Nodes)
	}
	if err != nil {
		c.leaveOut("job", id, "%v", err)
		names, _ := nodesIn(j.Nodes)
		for node := range names {
			c.occupy(node, w.demand)
		}
		return
	}
	c.work = append(c.work, w)
}

// printable puts a question mark in the place of what cannot be printed.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}

// requires returns where a job may stand.
func (j *slurmJob) requires() (list []apportion.Requirement, err error) {
	if strings.Contains(j.Partition, ",") {
		return nil, fmt.Errorf("it may run in any of the partitions %s", j.Partition)
	}
	if j.Partition != "" {
		list = append(list, apportion.Requirement{Key: "partition:" + j.Partition, Op: apportion.Exists})
	}
	if strings.ContainsAny(j.Features, "|*()[]") {
		return nil, fmt.Errorf("its constraint is %s", j.Features)
	}
	for _, feature := range strings.FieldsFunc(j.Features, func(r rune) bool { return r == '&' || r == ',' }) {
		list = append(list, apportion.Requirement{Key: "feature:" + feature, Op: apportion.Exists})
	}
	return list, nil
}

// hostRange matches an entry of a list of nodes, as n[01-03,7]-x or n1.
var hostRange = regexp.MustCompile(`([^,\[\]]*)(?:\[([^\]]*)\])?([^,\[\]]*)(?:,|$)`)

// mostNodes is the largest list of nodes that is written out.
const mostNodes = 1 << 20

// nodesIn writes out a list of nodes, each with one container.
func nodesIn(list string) (map[string]int64, error) {
	on := make(map[string]int64)
	for _, part := range hostRange.FindAllStringSubmatch(list, -1) {
		if part[2] == "" {
			if part[1] != "" {
				on[part[1]] = 1
			}
			continue
		}
		for _, span := range strings.Split(part[2], ",") {
			from, to, _ := strings.Cut(span, "-")
			to = cmp.Or(to, from)
			first, err1 := strconv.Atoi(from)
			last, err2 := strconv.Atoi(to)
			if err1 != nil || err2 != nil || last < first || last-first > mostNodes {
				return nil, fmt.Errorf("%q is no list of nodes", list)
			}
			for n := first; n <= last; n++ {
				on[fmt.Sprintf("%s%0*d%s", part[1], len(from), n, part[3])] = 1
			}
		}
	}
	if len(on) == 0 {
		return nil, fmt.Errorf("%q is no list of nodes", list)
	}
	return on, nil
}
