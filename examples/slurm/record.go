// This file reads what Slurm's commands print: JSON, in which no text of a user can pass for a field.

package slurm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	trainer "github.com/apportion/apportion/checkpoint/command"
)

// command runs one of Slurm's commands and returns what it prints.
// Its error has the command and the beginning of what that wrote to stderr, as Slurm's exit codes say
// little.
func command(ctx context.Context, stdin string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, fault bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &fault
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %.300s", name, strings.Join(args, " "), err, strings.TrimSpace(fault.String()))
	}
	return out.String(), nil
}

// ask returns the list that a command prints under a key with --json. An answer without the list, or with errors, is none.
func ask[T any](ctx context.Context, name, key string) ([]T, error) {
	text, err := command(ctx, "", name, "--json")
	if err != nil {
		return nil, err
	}
	var answer map[string]json.RawMessage
	var faults []any
	var list []T
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return nil, fmt.Errorf("%s --json: %w", name, err)
	}
	if err := errors.Join(json.Unmarshal(answer["errors"], &faults), json.Unmarshal(answer[key], &list)); err != nil || len(faults) > 0 {
		return nil, fmt.Errorf("%s --json: %w, errors %v", name, err, faults)
	}
	return list, nil
}

// job is a job as `squeue --json` of Slurm 22.05 shows it: what decides something or is carried over. A number that Slurm does not
// know is null there.
type job struct {
	ID            int64   `json:"job_id"`
	Name          string  `json:"name"`
	UID           *uint32 `json:"user_id"`
	GID           *uint32 `json:"group_id"`
	State         string  `json:"job_state"`
	Reason        string  `json:"state_reason"`
	Submitted     int64   `json:"submit_time"`
	Comment       string  `json:"comment"`
	Command       string  `json:"command"`
	Requeue       bool    `json:"requeue"`
	CPUs          int64   `json:"cpus"`
	MinCPUs       int64   `json:"minimum_cpus_per_node"`
	Tasks         int64   `json:"tasks"`
	NodeCount     int64   `json:"node_count"`
	Nodes         string  `json:"nodes"`
	MemoryPerCPU  *int64  `json:"memory_per_cpu"`
	MemoryPerNode *int64  `json:"memory_per_node"`
	PerNode       string  `json:"tres_per_node"`
	PerTask       string  `json:"tres_per_task"`
	Partition     string  `json:"partition"`
	Features      string  `json:"features"`
	Account       string  `json:"account"`
	QOS           string  `json:"qos"`
	Dir           string  `json:"current_working_directory"`
	Output        string  `json:"standard_output"`
	TimeLimit     *int64  `json:"time_limit"` // in minutes
	Priority      *int64  `json:"priority"`
	Requested     string  `json:"tres_req_str"`
}

// node is a node as `sinfo --json` shows it. Memory is in MB.
type node struct {
	Name        string   `json:"name"`
	State       string   `json:"state"`
	Flags       []string `json:"state_flags"`
	Features    string   `json:"features"`
	Partitions  []string `json:"partitions"`
	CPUs        *int64   `json:"cpus"`
	UsedCPUs    *int64   `json:"alloc_cpus"`
	Memory      *int64   `json:"real_memory"`
	UsedMemory  *int64   `json:"alloc_memory"`
	Generic     string   `json:"gres"`
	UsedGeneric string   `json:"gres_used"`
}

// id names a job of Slurm as an application.
// Names are not unique in Slurm and numbers say little to people; together they are both. numberOf reads the number back.
func (j *job) id() string { return j.Name + "." + strconv.FormatInt(j.ID, 10) }

func numberOf(id string) string { return id[strings.LastIndex(id, ".")+1:] }

// words are those of the comment of a job; false: it is not for the controller.
func (j *job) words() ([]string, bool) {
	list := strings.Fields(j.Comment)
	if len(list) == 0 || list[0] != mark {
		return nil, false
	}
	return list[1:], true
}

// owner returns the user and the group whom the job is started as; nil: those of this program. A controller that is not root starts
// jobs of its own user alone, and root's are started by root alone.
func (j *job) owner() (*trainer.User, error) {
	own := os.Geteuid()
	switch {
	case j.UID == nil || j.GID == nil:
		return nil, errors.New("it is not said whose it is")
	case int64(*j.UID) == int64(own):
		return nil, nil
	case own != 0:
		return nil, fmt.Errorf("it is a job of user %d, and this controller starts those of user %d alone", *j.UID, own)
	}
	u := &trainer.User{UID: *j.UID, GID: *j.GID}
	return u, u.Validate()
}

// generic is a request for GPUs without a type, as Slurm writes it.
var generic = regexp.MustCompile(`^gres:gpu(?::(\d+))?$`)

var errGeneric = errors.New("gpu:N is all of generic resources that can be decided by")

// gpusOf reads a request for GPUs.
func gpusOf(text string) (int64, error) {
	found := generic.FindStringSubmatch(text)
	switch {
	case text == "":
		return 0, nil
	case found == nil:
		return 0, fmt.Errorf("%q: %w", text, errGeneric)
	case found[1] == "":
		return 1, nil
	}
	n, err := strconv.ParseInt(found[1], 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", text, errGeneric)
	}
	return n, nil
}

// installed are the GPUs in the list of a node's generic resources, as gpu:a100:2(S:0-1) or gpu:4(IDX:0-1), of all types.
var installed = regexp.MustCompile(`(?:^|,)gpu(?::[^:,()]+)??:(\d+)`)

func gpusIn(list string) int64 {
	total := int64(0)
	for _, found := range installed.FindAllStringSubmatch(list, -1) {
		n, _ := strconv.ParseInt(found[1], 10, 32) // digits of a number that slurm.conf has
		total += n
	}
	return total
}
