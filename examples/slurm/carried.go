// This file implements what a job may ask for: what is carried over to its runs is known, and everything else refuses the job.

package slurm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
)

// known are the fields of `squeue --json` that are carried over, are looked at one by one, or say how a job stands and not what it
// asks for. In any other a value refuses the job.
var known = set(`job_id name user_id user_name group_id group_name job_state state_reason state_description submit_time eligible_time
	accrue_time start_time end_time last_sched_evaluation preempt_time pre_sus_time suspend_time resize_time restart_cnt exit_code
	derived_exit_code comment admin_comment system_comment command requeue cpus minimum_cpus_per_node tasks node_count nodes
	memory_per_cpu memory_per_node tres_per_node tres_per_task tres_req_str tres_alloc_str billable_tres gres_detail job_resources
	batch_host batch_flag partition features account association_id qos priority
	current_working_directory standard_output time_limit cluster federation_origin show_flags flags`)

// standing are the flags that say how a job stands, or that it asked for what the fields show.
var standing = set("HAS_STATE_DIR TRES_STR_CALC JOB_CPUS_SET JOB_MEM_SET JOB_NTASKS_SET JOB_WAS_RUNNING JOB_ACCRUE_OVER TOP_PRIO_TMP BACKFILL_TEST")

func set(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}

// plain are values that ask for nothing.
var plain = set(`null "" 0 false [] {} "/dev/null" "\/dev\/null"`)

// unknown refuses a job, as Slurm shows it, that asks for what is not carried over: the first such field in the order of names.
func unknown(shown json.RawMessage) error {
	var fields map[string]json.RawMessage
	var flags []string
	if err := json.Unmarshal(shown, &fields); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if text := strings.Join(strings.Fields(string(fields[name])), ""); !known[name] && !plain[text] {
			return fmt.Errorf("%s is %.100s, which is not carried over", name, text)
		}
	}
	if err := json.Unmarshal(fields["flags"], &flags); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	for _, flag := range flags {
		if !standing[flag] {
			return fmt.Errorf("flags has %s, which is not carried over", flag)
		}
	}
	return nil
}

// check refuses a job for what is known and yet cannot be carried over.
func (j *job) check() error {
	_, err := j.owner()
	_, err2 := j.output()
	switch {
	case err != nil:
		return err
	case err2 != nil:
		return err2
	case j.Command != "":
		return fmt.Errorf("it was not submitted by %s submit", program.Name)
	case !j.Requeue:
		return errors.New("requeue is false: it could not be held again when somebody releases it")
	case j.Tasks != 1 || j.NodeCount != 1:
		return fmt.Errorf("it asks for %d tasks on %d nodes: it is to ask for what one task takes, and its comment for their number", j.Tasks, j.NodeCount)
	case strings.ContainsAny(j.Partition, ","):
		return fmt.Errorf("its partition is %s: one can be decided by", j.Partition)
	case strings.ContainsAny(j.Features, "|[]()*"):
		return fmt.Errorf("its features are %s: names with & between can be decided by", j.Features)
	}
	return nil
}

func (j *job) isHeld() bool { return j.State == "PENDING" && strings.HasPrefix(j.Reason, "JobHeld") }

// most bounds a request of one kind: sums of these do not overflow.
const most = 1 << 40

// demand is what one task of a job takes.
// Memory is Slurm's by CPU or by node, whichever is set; of one that is set by node each task takes all, as the tasks that share a
// node are not known yet. A job that says nothing of memory would be given whole nodes.
func (j *job) demand() (apportion.Resources, error) {
	node, err := gpusOf(j.PerNode)
	task, err2 := gpusOf(j.PerTask)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	cpu, memory := max(j.MinCPUs, 1), int64(0)
	switch {
	case cpu > 1<<20:
		return nil, fmt.Errorf("%d CPUs are too many", cpu)
	case j.MemoryPerCPU != nil && *j.MemoryPerCPU <= most>>20:
		memory = *j.MemoryPerCPU * cpu
	case j.MemoryPerNode != nil && *j.MemoryPerNode <= most:
		memory = *j.MemoryPerNode
	}
	if memory <= 0 {
		return nil, errors.New("--mem-per-cpu or --mem is to say how much memory a task takes")
	}
	return apportion.Resources{cpu, memory, max(node, task)}, nil
}

// output is the file into which the first task's node prints, by Slurm's rule: slurm-NUMBER.out where nothing is said.
func (j *job) output() (string, error) {
	pattern := j.Output
	if pattern == "" {
		pattern = "slurm-%j.out"
	}
	name := strings.NewReplacer("%j", strconv.FormatInt(j.ID, 10), "%A", strconv.FormatInt(j.ID, 10)).Replace(pattern)
	if !filepath.IsAbs(name) {
		name = filepath.Join(j.Dir, name)
	}
	if strings.ContainsAny(name, `%\`) {
		return "", fmt.Errorf("standard_output is %s: %%j and %%A can be carried over", name)
	}
	return name, nil
}

// requires turns partition and features of a job into requirements on labels, see serverOf.
// Each becomes the existence of a label, which serverOf gives to the nodes that have it.
func (j *job) requires() []apportion.Requirement {
	list := []apportion.Requirement{}
	if j.Partition != "" {
		list = append(list, inPartition(j.Partition))
	}
	for feature := range strings.SplitSeq(j.Features, "&") {
		if feature != "" {
			list = append(list, apportion.Requirement{Key: "feature:" + feature, Op: apportion.Exists})
		}
	}
	return list
}

// inPartition demands nodes of a partition.
func inPartition(name string) apportion.Requirement {
	return apportion.Requirement{Key: "partition:" + name, Op: apportion.Exists}
}
