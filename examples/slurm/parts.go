// This file reads what runs of elastic jobs have of the cluster: a part for each node, which is a job of Slurm's with a name
// that says whose it is.

package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion"
)

// alive are the states of jobs of which something may live.
// A job in none of them has ended, and its processes with it, as far as Slurm knows: the guards' leases
// cover the rest.
var alive = []string{"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT"}

// nameOf is the name of a part: apportion/JOB/aATTEMPT/NODE.
// The name is all that tells a later master whose the job is: slurmctld keeps it, and nobody has to
// remember a number.
func nameOf(job string, attempt int64, node string) string {
	return fmt.Sprintf("%s/%s/a%d/%s", mark, job, attempt, node)
}

// names are those of parts. A name of a job may have slashes.
var names = regexp.MustCompile(`^` + mark + `/(.*)/a(\d+)/([^/]+)$`)

// readRun reads the line of a job; false: it is no part of a run.
// Whoever submits a job under such a name by hand is taken at their word: it is counted as the controller's
// own.
func readRun(id, name, state, reason, tasks string) (run, bool) {
	parts := names.FindStringSubmatch(name)
	if parts == nil {
		return run{}, false
	}
	attempt, err := strconv.ParseInt(parts[2], 10, 64)
	count, err2 := strconv.ParseInt(tasks, 10, 64)
	return run{id, parts[1], parts[3], state, reason, attempt, count}, err == nil && err2 == nil
}

// ownUse is what a record of a job says about a part of a run: its node, and what it takes there while it lives.
// The demand is what Slurm has allocated and not what was asked for, as Slurm rounds memory and whole cores
// up. It is zero where nothing can live any more.
func ownUse(r record) (node string, demand apportion.Resources, isOwn bool) {
	one, isOwn := readRun(r["JobId"], r["JobName"], r["JobState"], r["Reason"], r["NumTasks"])
	if !isOwn {
		return "", nil, false
	}
	demand = make(apportion.Resources, len(kinds))
	// A part that waits has a node in its name, but takes nothing of it yet.
	if !slices.Contains(alive, one.state) || r["NodeList"] == "" {
		return one.node, demand, true
	}
	// TRES is a list such as cpu=4,mem=2000M,node=1,billing=4.
	for one := range strings.SplitSeq(r["TRES"], ",") {
		key, text, _ := strings.Cut(one, "=")
		switch key {
		case "cpu":
			demand[0], _ = strconv.ParseInt(text, 10, 64) // Slurm's own numbers
		case "mem":
			demand[1], _ = megabytes(text)
		}
	}
	demand[2] = gpus(r["TresPerNode"])
	return one.node, demand, true
}

// runsAge is how old a list of runs may be: many ask for one at the same time.
// The agents of all servers of a run ask in the same moment, and squeue costs slurmctld a lock over all its
// jobs.
const runsAge = 100 * time.Millisecond

// list returns all parts of runs that Slurm still knows.
// The name stands last in the line, as it is the only field in which a separator may occur.
func (s *slurm) list(ctx context.Context) ([]run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.looked) < runsAge {
		return s.runs, nil
	}
	text, err := command(ctx, "", "squeue", "-h", "-t", "all", "--Format", "JobID:|,State:|,Reason:|,NumTasks:|,Name:1024")
	if err != nil {
		return nil, err
	}
	var runs []run
	for line := range strings.SplitSeq(text, "\n") {
		if f := strings.SplitN(line, "|", 5); len(f) == 5 {
			if one, isRun := readRun(f[0], strings.TrimSpace(f[4]), f[1], f[2], f[3]); isRun {
				runs = append(runs, one)
			}
		}
	}
	s.looked, s.runs = time.Now(), runs
	return runs, nil
}

// forgetList has the runs read again when they are asked for next: what was just submitted is not in the list from before.
func (s *slurm) forgetList() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = time.Time{}
}
