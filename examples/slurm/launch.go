// This file starts and ends tasks by Slurm's commands: for each run and node a job of its own, with a guard around every
// task.

package slurm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	trainer "github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/managed"
)

// Start implements managed.Manager. Slurm forgets jobs that have ended, so that of a run that was asked for before no part is submitted
// again: one that is missing is a fault.
func (s *slurm) Start(ctx context.Context, t managed.Task) error {
	if t.Again {
		return nil
	}
	var declared spec
	if err := json.Unmarshal(t.Spec, &declared); err != nil {
		return err
	}
	if err := t.WriteScript(scriptName, []byte(declared.Script)); err != nil {
		return err
	}
	parts := t.Servers()
	errs := managed.Each(len(parts), callers, func(i int) error {
		args, err := s.arguments(&declared, &t, parts[i])
		if err == nil {
			_, err = command(ctx, s.script(&declared, &t, parts[i]), "sbatch", args...)
		}
		return err
	})
	// A list from before the submission would not have the parts, and Trouble would call them missing.
	s.forgetList()
	return errors.Join(errs...)
}

// callers is how many of Slurm's commands run at the same time: they mostly wait.
const callers = 8

// scriptName is the user's script in the folder of a run.
const scriptName = "job.sh"

// User implements managed.Manager: the parts of a job run as the user that has submitted it.
func (s *slurm) User(text json.RawMessage) (*trainer.User, error) {
	var declared spec
	if err := json.Unmarshal(text, &declared); err != nil {
		return nil, err
	}
	return declared.Job.owner()
}

// arguments are those of sbatch for a part of a run.
func (s *slurm) arguments(declared *spec, t *managed.Task, part managed.Part) ([]string, error) {
	j, n := &declared.Job, int64(part.Count)
	demand, err := j.demand()
	output, err2 := j.output()
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	// The first task's node prints into the file of the user, and the others into the folder of the run, whose name may have a %,
	// which is no pattern of Slurm's.
	if part.First > 0 {
		output = strings.ReplaceAll(filepath.Join(t.Dir, part.Server+".out"), "%", "%%")
	}
	// What is asked for is exact: this node, so many tasks, no requeue, so that Slurm never starts the part
	// anywhere else or again. Memory and GPUs are asked for by node, as the number of tasks on it is known.
	args := []string{"--parsable", "--no-requeue", "--job-name=" + nameOf(t.Job, t.Attempt, part.Server), "--nodelist=" + part.Server, "--nodes=1",
		"--ntasks=" + strconv.Itoa(part.Count), "--cpus-per-task=" + strconv.FormatInt(demand[0], 10), "--mem=" + strconv.FormatInt(demand[1]*n, 10),
		"--chdir=" + j.Dir, "--output=" + output, "--open-mode=append",
		// NONE keeps the controller's environment from the job; the scripts export what the run and the job are told.
		"--export=NONE"}
	if demand[2] > 0 {
		args = append(args, "--gres=gpu:"+strconv.FormatInt(demand[2]*n, 10))
	}
	if j.TimeLimit != nil {
		args = append(args, "--time="+strconv.FormatInt(*j.TimeLimit, 10))
	}
	if s.standing.nice > 0 {
		args = append(args, "--nice="+strconv.Itoa(s.standing.nice))
	}
	for option, value := range map[string]string{"--partition=": cmp.Or(s.standing.partition, j.Partition), "--account=": j.Account,
		"--qos=": cmp.Or(s.standing.qos, j.QOS), "--constraint=": j.Features} {
		if value != "" {
			args = append(args, option+value)
		}
	}
	if t.User != nil {
		args = append(args, fmt.Sprintf("--uid=%d", t.User.UID), fmt.Sprintf("--gid=%d", t.User.GID))
	}
	slices.Sort(args)
	return args, nil
}

// script is the batch script of a part: a guard around every task, and the user's script in it.
// The guard runs inside srun, one for each task, since a guard must see the processes that it ends.
func (s *slurm) script(declared *spec, t *managed.Task, part managed.Part) string {
	words, _ := declared.Job.words()
	save, _ := declare(&alloc.Application{}, words) // which was read before
	// The number of a task on its node is known to the task alone.
	task := fmt.Sprintf("exec %s -rank %d+$SLURM_PROCID -- %s", managed.Quote(s.guard.Command(t.Credential, save)...), part.First,
		managed.Quote(filepath.Join(t.Dir, scriptName)))
	return "#!/bin/sh\n" + managed.Export(t.Environment(part.Server)) + "exec srun --export=ALL --kill-on-bad-exit=0 sh -c " + managed.Quote(task) + "\n"
}

// Stop implements managed.Manager.
func (s *slurm) Stop(ctx context.Context, job string, attempt int64, server string) (left bool, err error) {
	runs, err := s.list(ctx)
	if err != nil {
		return false, err
	}
	for _, one := range runs {
		if one.job != job || one.attempt > attempt || one.node != server || !isAlive(one.state) {
			continue
		}
		left = true
		// scancel does nothing to a part that is completing.
		if one.state != "COMPLETING" {
			if _, err := command(ctx, "", "scancel", one.id); err != nil {
				return true, err
			}
			s.forgetList()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return left && !s.down[server], nil
}

// troubleOf says why a part of a run will not start on a server; "": it may. refused: others have its room. The caller holds the lock.
func (s *slurm) troubleOf(runs []run, job string, attempt int64, server string) (why string, refused bool) {
	for _, one := range runs {
		switch {
		case one.job != job || one.attempt != attempt || one.node != server:
		// Slurm would hold it until somebody resumes the node, which may be never.
		case one.state == "PENDING" && s.closed[server]:
			return fmt.Sprintf("Slurm's job %s waits for a node that is drained: %s", one.id, one.reason), false
		case one.state == "PENDING" && !s.holds(server, job, one.tasks):
			return fmt.Sprintf("Slurm's job %s waits for room that others have taken: %s", one.id, one.reason), true
		case isAlive(one.state):
			return "", false
		default:
			return fmt.Sprintf("Slurm's job %s is %s: %s", one.id, one.state, one.reason), false
		}
	}
	return "Slurm has no job for it", false
}

// holds reports whether a node holds so many tasks of a job beside what others use there, by either of two looks: the lists of one are
// not of one moment. It is true where that is not known.
func (s *slurm) holds(node, job string, tasks int64) bool {
	demand := s.demands[job]
	fits := func(room apportion.Resources) bool {
		for k := range min(len(demand), len(room)) {
			if demand[k] > 0 && tasks > room[k]/demand[k] {
				return false
			}
		}
		return true
	}
	return fits(s.room[node]) || fits(s.before[node])
}

// Trouble implements managed.Manager: a part that has ended without its guards having said a word has not started, and one that Slurm
// does not have was never submitted. One that waits for a node that was drained, by its administrator or by slurmctld itself, has its
// run started elsewhere, as everything else leaves the node; so does one whose room Slurm has given to others meanwhile.
func (s *slurm) Trouble(ctx context.Context, job string, attempt int64, part managed.Part) (why string, refused bool, err error) {
	runs, err := s.list(ctx)
	if err != nil {
		return "", false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	why, refused = s.troubleOf(runs, job, attempt, part.Server)
	return why, refused, nil
}
