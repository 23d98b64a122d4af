// This file starts and ends tasks by Slurm's commands: for each run and node a job of its own, with a guard around every
// task.

package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apportion/apportion/alloc"
	trainer "github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/managed"
)

// start is what keeps starts of a job apart.
// Its callers hold the lock while they submit, and Trouble tries it, to learn whether somebody is
// submitting just now.
func (s *slurm) start(job string) *sync.Mutex {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starts[job] == nil {
		s.starts[job] = &sync.Mutex{}
	}
	return s.starts[job]
}

// Start implements managed.Manager. A note of each part is made before it is submitted, so that none is submitted twice:
// Slurm forgets jobs that have ended. Whoever finds a note waits until what it says is done: a part that Slurm does not have
// is a fault from then on.
func (s *slurm) Start(ctx context.Context, t managed.Task) error {
	// Every server of the run calls this with the same task. The first submits all parts; the others find
	// the notes.
	one := s.start(t.Job)
	one.Lock()
	defer one.Unlock()
	var declared spec
	if err := json.Unmarshal(t.Spec, &declared); err != nil {
		return err
	}
	if err := os.MkdirAll(s.notes(t.Job), 0o700); err != nil {
		return err
	}
	if err := t.WriteScript(scriptName, []byte(declared.Script)); err != nil {
		return err
	}
	parts := t.Servers()
	faults := make([]error, len(parts))
	// The channel bounds how many sbatch run beside each other.
	room := make(chan struct{}, submitters)
	var all sync.WaitGroup
	for i, part := range parts {
		room <- struct{}{}
		all.Go(func() {
			faults[i] = s.submit(ctx, &declared, &t, part)
			<-room
		})
	}
	all.Wait()
	// A list from before the submission would not have the parts, and Trouble would call them missing.
	s.forgetList()
	return errors.Join(faults...)
}

// submitters is how many parts of a run are submitted at the same time: sbatch mostly waits.
const submitters = 8

// submit submits a part, unless there is a note that this was begun before.
// That the note is there and the job is not, since the master died in between, is found by Trouble, and
// costs an attempt: nothing ever runs twice for it.
func (s *slurm) submit(ctx context.Context, declared *spec, t *managed.Task, part managed.Part) error {
	args, err := arguments(declared, t, part)
	if err != nil {
		return err
	}
	// O_EXCL decides among all who try: exactly one makes the file.
	note, err := os.OpenFile(s.noteOf(t.Job, t.Attempt, part.Server), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(note.Sync(), note.Close())
	}
	if err == nil {
		_, err = command(ctx, s.script(declared, t, part), "sbatch", args...)
	}
	return err
}

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
// They are sorted, so that tests and logs show the same command each time.
func arguments(declared *spec, t *managed.Task, part managed.Part) ([]string, error) {
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
	for option, value := range map[string]string{"--partition=": j.Partition, "--account=": j.Account, "--qos=": j.QOS, "--constraint=": j.Features} {
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
	var text strings.Builder
	text.WriteString("#!/bin/sh\n")
	// The order of the exports does not matter to the shell; it is sorted for the tests.
	env := t.Environment(part.Server)
	for _, key := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintf(&text, "export %s=%s\n", key, quote(env[key]))
	}
	words, _ := declared.Job.words()
	save, _ := declare(&alloc.Application{}, words) // which was read before
	// The number of a task on its node is known to the task alone.
	fmt.Fprintf(&text, "exec srun --export=ALL --kill-on-bad-exit=0 sh -c %s\n", quote(fmt.Sprintf(
		`exec %s -url %s -token-file %s -every %s -save "%s" -rank %d+$SLURM_PROCID -- %s`,
		quote(s.guard.Program), quote(s.guard.URL), quote(t.Credential), s.guard.Every, save, part.First,
		quote(filepath.Join(t.Dir, scriptName)))))
	return text.String()
}

// quote quotes a text for the shell.
// A quote inside is closed, escaped and opened again, which every POSIX shell understands.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Stop implements managed.Manager.
// It returns when nothing of the attempt, or of one before it, can live on the server by Slurm's word, or
// when Slurm does not reach the node: there only the leases of the guards say when it is over, and the
// caller waits for these.
func (s *slurm) Stop(ctx context.Context, job string, attempt int64, server string) error {
	// Each part is cancelled once; after that it is only watched, as scancel of a job that is completing
	// does nothing.
	for asked := map[string]bool{}; ; {
		runs, err := s.list(ctx)
		if err != nil {
			return err
		}
		left := false
		for _, one := range runs {
			// An attempt that is later than the one to stop is somebody else's business.
			if one.job != job || one.attempt > attempt || one.node != server || !isAlive(one.state) {
				continue
			}
			left = true
			if !asked[one.id] {
				if _, err := command(ctx, "", "scancel", one.id); err != nil {
					return err
				}
				asked[one.id] = true
			}
		}
		s.mu.Lock()
		down := s.down[server]
		s.mu.Unlock()
		if !left || down {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(runsAge):
		}
	}
}

// troubleOf says why a part of a run will not start on a server, which may be closed; "": it may.
// It is a function of the list alone, so that its cases can be tested without a cluster.
func troubleOf(runs []run, job string, attempt int64, server string, closed bool) string {
	for _, one := range runs {
		switch {
		case one.job != job || one.attempt != attempt || one.node != server:
		// Slurm would hold it until somebody resumes the node, which may be never.
		case one.state == "PENDING" && closed:
			return fmt.Sprintf("Slurm's job %s waits for a node that is drained: %s", one.id, one.reason)
		case isAlive(one.state):
			return ""
		default:
			return fmt.Sprintf("Slurm's job %s is %s: %s", one.id, one.state, one.reason)
		}
	}
	return "Slurm has no job for it"
}

// Trouble implements managed.Manager: a part that has ended without its guards having said a word has not started, and one
// that Slurm does not have was asked for while nobody answered. One that was not asked for yet, or is just being submitted, which
// a busy slurmctld takes seconds for, is no trouble: the question may be there first. One that waits for a node that was drained,
// by its administrator or by slurmctld itself, has its run started elsewhere, as everything else leaves the node.
func (s *slurm) Trouble(ctx context.Context, job string, attempt int64, server string) (string, error) {
	one := s.start(job)
	// Somebody is submitting this job's parts: whether one is missing cannot be said now, and is asked
	// again soon.
	if !one.TryLock() {
		return "", nil
	}
	defer one.Unlock()
	// Without a note nobody has submitted the part yet.
	if _, err := os.Stat(s.noteOf(job, attempt, server)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return "", err
	}
	runs, err := s.list(ctx)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	closed := s.closed[server]
	s.mu.Unlock()
	return troubleOf(runs, job, attempt, server, closed), nil
}
