// This file reads what runs of elastic jobs have of the cluster: a part for each node, which is a job of Slurm's with a name
// that says whose it is.

package slurm

import (
	"context"
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// over are the states of jobs that have ended, and their processes with them, as far as Slurm knows: the guards' leases cover the
// rest. Of a job in any other something may live.
var over = []string{"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"}

func isAlive(state string) bool { return !slices.Contains(over, state) }

// nameOf is the name of a part: apportion/JOB/aATTEMPT/NODE.
// The name is all that tells a later master whose the job is: slurmctld keeps it, and nobody has to
// remember a number.
func nameOf(job string, attempt int64, node string) string {
	return fmt.Sprintf("%s/%s/a%d/%s", mark, job, attempt, node)
}

// names are those of parts. A name of a job may have slashes, and line ends.
var names = regexp.MustCompile(`(?s)^` + mark + `/(.*)/a(\d+)/([^/]+)$`)

// read fills in what the name of a part says; false: it is no part of a run. owners has the user of each job that Slurm shows, by
// number: a job that somebody else has submitted under such a name is none. Where Slurm has forgotten the job, the guards' leases say
// when its parts are over.
func (r *run) read(name string, user int64, owners map[string]int64) bool {
	found := names.FindStringSubmatch(name)
	if found == nil {
		return false
	}
	var err error
	r.job, r.node = found[1], found[3]
	r.attempt, err = strconv.ParseInt(found[2], 10, 64)
	owner, there := owners[numberOf(r.job)]
	return err == nil && there && owner == user
}

// ownUse is what a job says about a part of a run: its node, and what it takes there while it lives.
// It is zero where nothing can live any more. Memory is always asked for by node, see options, and Slurm does not round that.
func ownUse(j *job, owners map[string]int64) (node string, demand apportion.Resources, isOwn bool) {
	var one run
	if j.UID == nil || !one.read(j.Name, int64(*j.UID), owners) {
		return "", nil, false
	}
	demand = make(apportion.Resources, len(kinds))
	// A part that waits has a node in its name, but takes nothing of it yet.
	if isAlive(j.State) && j.Nodes != "" && j.MemoryPerNode != nil {
		gpus, _ := gpusOf(j.PerNode) // which options has written
		demand = apportion.Resources{j.CPUs, *j.MemoryPerNode, gpus}
	}
	return one.node, demand, true
}

// runsAge is how old a list of runs may be: many ask for one at the same time.
// The agents of all servers of a run ask in the same moment, and squeue costs slurmctld a lock over all its
// jobs.
const runsAge = 500 * time.Millisecond

// list returns all parts of runs that Slurm still knows.
// It is asked for often, and JSON of all jobs is long. What is between the fields is drawn anew each time, so that no text of a
// user can hold it.
func (s *slurm) list(ctx context.Context) ([]run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.looked) < runsAge {
		return s.runs, nil
	}
	between := "S" + rand.Text()
	format := strings.Join([]string{"JobID", "UserID", "NumTasks", "State", "Reason", "Name", ""}, ":"+between+",")
	text, err := command(ctx, "", "squeue", "-h", "-t", "all", "--Format", strings.TrimSuffix(format, ","))
	if err != nil {
		return nil, err
	}
	runs, err := readRuns(text, between)
	if err != nil {
		return nil, err
	}
	s.looked, s.runs = time.Now(), runs
	return runs, nil
}

// readRuns reads a list with this text after each field.
func readRuns(text, between string) ([]run, error) {
	fields := strings.Split(text, between)
	const width = 6
	if len(fields)%width != 1 {
		return nil, fmt.Errorf("squeue prints %d fields, which are no multiple of %d", len(fields)-1, width)
	}
	owners := map[string]int64{}
	for rest := fields; len(rest) > width; rest = rest[width:] {
		rest[0] = strings.TrimPrefix(rest[0], "\n")
		user, err := strconv.ParseInt(rest[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("squeue: the user of job %q: %w", rest[0], err)
		}
		owners[rest[0]] = user
	}
	var runs []run
	for rest := fields; len(rest) > width; rest = rest[width:] {
		one := run{id: rest[0], state: rest[3], reason: rest[4]}
		if !one.read(rest[5], owners[rest[0]], owners) {
			continue
		}
		var err error
		if one.tasks, err = strconv.ParseInt(rest[2], 10, 64); err != nil {
			return nil, fmt.Errorf("squeue: the tasks of job %q: %w", rest[0], err)
		}
		runs = append(runs, one)
	}
	return runs, nil
}

// forgetList has the runs read again when they are asked for next: what was just submitted is not in the list from before.
func (s *slurm) forgetList() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = time.Time{}
}

// Running implements external.Cluster.
func (s *slurm) Running(ctx context.Context) (alloc.Allocation, error) {
	runs, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	running := alloc.Allocation{}
	for _, one := range runs {
		if !isAlive(one.state) {
			continue
		}
		if running[one.job] == nil {
			running[one.job] = map[string]int64{}
		}
		running[one.job][one.node] += one.tasks
	}
	return running, nil
}
