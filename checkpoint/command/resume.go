// This file implements Resume: it starts the processes of a run, after those of earlier runs are dead.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/internal/flock"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// Resume implements [runner.Runner]. Processes of earlier attempts of the job on this node are
// killed first. Where only some processes could be started they are killed, too, and the error says what
// failed: nothing of the run is then alive, and it can be tried again. The run's directory is made. With
// a Format the checkpoint to resume from is verified, and named to the job.
//
// A runner that is killed here leaves a run half-started; called again, Resume starts it anew.
func (a *Runner) Resume(ctx context.Context, run runner.Run) error {
	return named("resume", &run, a.resume(ctx, &run))
}

// resume is Resume without the words around its errors.
func (a *Runner) resume(ctx context.Context, run *runner.Run) error {
	// The lock is held to the end: two attempts on one node start one after the other, and the later one
	// ends the earlier.
	folder, unlock, err := a.enterAlone(ctx, run)
	if err != nil {
		return err
	}
	defer unlock()
	j := a.folder(run.Job)
	// Asked under the lock: a Stop that came first has its mark there.
	if err := j.live(run.Attempt); err != nil {
		return err
	}
	var mark started
	// The mark answers a repeated call, whatever has become of the processes: a run is started once.
	if err := get(folder.started(), &mark); err == nil {
		return sameRun(&mark.Run, run)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Nothing of an earlier attempt may be alive when the first process of this one begins.
	if err := a.end(ctx, j, sweeping{}); err != nil {
		return err
	}
	if err := a.startAll(ctx, run, folder); err != nil {
		// The context may have ended, but nothing may stay alive.
		return errors.Join(err, a.end(context.WithoutCancel(ctx), j, sweeping{}))
	}
	// Old logs go last, when the run has started: an error there does not undo the start.
	return a.forget(j, run.Attempt)
}

// Needs implements [runner.Chooser].
// Without Options.Needs every part is needed.
func (a *Runner) Needs(run runner.Run, part string) bool {
	return a.options.Needs == nil || a.options.Needs(run, part)
}

// sameRun refuses a run that differs from the one that has the same number.
// Neither answer to it would be true: this run was never started, and its attempt was.
func sameRun(before, run *runner.Run) error {
	if slices.Equal(before.Containers, run.Containers) && before.Dir == run.Dir && before.Restore == run.Restore {
		return nil
	}
	return &apportion.FieldError{Field: "Run", Err: apportion.ErrConflict, Detail: "the attempt was started with other containers or directories"}
}

// startAll starts the processes of all ranks on this node and marks the run as started.
// The job's lock is held, and nothing of the job is alive. After an error some ranks may be: the caller ends them.
func (a *Runner) startAll(ctx context.Context, run *runner.Run, folder runFolder) (err error) {
	// What an earlier try has left says nothing about the processes of this one.
	// The processes of that try are dead: end has seen to it. The folder itself stays, for it makes the attempt the highest.
	left, err := os.ReadDir(string(folder))
	for _, e := range left {
		err = errors.Join(err, os.RemoveAll(folder.file(e.Name())))
	}
	if err = errors.Join(err, os.MkdirAll(folder.own(), 0o700), os.MkdirAll(run.Dir, 0o700)); err != nil {
		return err
	}
	if err := a.handOver(run, folder); err != nil {
		return err
	}
	// The whole run is kept, so that a repeated call can be compared with it.
	mark := started{Run: *run, Ranks: a.ranks(run)}
	restore := ""
	if run.Restore != "" && a.options.Format != nil {
		// The directory holds one checkpoint and nothing else, so all of it belongs together.
		found, err := a.newest(run.Restore, list(run.Restore).files())
		if err != nil {
			return err
		}
		// Progress begins at this step, before the first line that a process prints.
		restore, mark.Step = found.Name, max(0, found.Step)
	}
	// From here on whoever looks finds the lock taken, until the last process has ended.
	held, err := hold(folder)
	if err != nil {
		return err
	}
	defer held.Close() // the processes keep theirs, and the lock with it
	for _, rank := range mark.Ranks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.start(run, folder, rank, a.environment(run, folder, rank, restore), held); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	a.noteStart(run.Job, folder, mark.Ranks)
	// The mark comes after the last process: a runner that dies before leaves a run that is started anew.
	return put(folder.started(), mark, vfs.WriteFile)
}

// noteStart notes when the first process of the job's newest run began. Where one of them had ended before it could be asked
// it may have left others behind that are older than the rest, and what was noted before is still right.
func (a *Runner) noteStart(job string, folder runFolder, ranks []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := uint64(math.MaxUint64)
	for _, rank := range ranks {
		first = min(first, a.children[folder.process(rank)].process.Start)
	}
	// A process that was not asked has the start 0.
	if len(ranks) > 0 && first > 0 {
		a.since[job] = first
	}
}

// hold makes the file that the processes of the run hold the lock of. It has the lock before it has the
// name under which others look at it.
func hold(folder runFolder) (*os.File, error) {
	name := folder.held() + ".new"
	held, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	// Nobody else knows the name yet, so the lock is free.
	locked, err := flock.Try(held)
	if err == nil && !locked {
		err = errors.New("the lock of a new run is taken")
	}
	if err == nil {
		err = os.Rename(name, folder.held())
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// start starts the process of one rank and records it. Its output goes to a file, not through this
// process, whose end would take a pipe with it.
func (a *Runner) start(run *runner.Run, folder runFolder, rank int, env []string, held *os.File) error {
	// Start does for both where there is no command to resume.
	argv := a.commands.Start
	if run.Restore != "" && len(a.commands.Resume) > 0 {
		argv = a.commands.Resume
	}
	argv, err := a.guarded(argv, folder, rank)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(folder.log(rank), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	// A program may open its output by its name in /dev.
	if u := a.options.User; u != nil {
		if err := log.Chown(int(u.UID), int(u.GID)); err != nil {
			return err
		}
	}
	// CommandContext would kill the process with the context of Resume, which ends long before the job.
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = env, run.Dir
	if a.options.Dir != "" {
		cmd.Dir = a.options.Dir
	}
	// The first of ExtraFiles is descriptor 3 of the process; closing it is in its hands only.
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{held}
	cmd.SysProcAttr = ownGroup()
	if err := a.launch(cmd); err != nil {
		return err
	}
	// Before the process is waited for, its number is its own.
	p, alive := a.identify(cmd.Process.Pid)
	// The child is noted before reap runs, so that who looks for its end finds somebody who waits.
	c := &child{done: make(chan struct{}), process: p}
	a.mu.Lock()
	a.children[folder.process(rank)] = c
	a.mu.Unlock()
	go a.reap(cmd, c, folder.ended(rank))
	if !alive {
		return nil // it has ended already, and how is recorded
	}
	// After a crash of the machine no process is left that the record could find, so it need not be durable.
	return put(folder.process(rank), p, vfs.ReplaceFile)
}

// reap waits for the end of a process and records it: for the runner that comes after this one. If the
// disk does not take it, that one says that the end is not known.
// It is one goroutine for each process that this runner has started, and ends with the process.
func (a *Runner) reap(cmd *exec.Cmd, c *child, record string) {
	_ = cmd.Wait() // how it ended is in the state
	c.exit = exitOf(cmd.ProcessState)
	_ = put(record, c.exit, vfs.ReplaceFile)
	// The exit is set and on record before done is closed: who was waiting reads both without a lock.
	close(c.done)
}

// forget removes the folders of runs that are too old to keep.
// attempt is the newest. Its folder stays, for it is what refuses the earlier ones.
func (a *Runner) forget(j jobFolder, attempt int64) error {
	attempts, err := j.attempts()
	if err != nil {
		return err
	}
	// The newest of the earlier runs keep their logs.
	slices.Sort(attempts)
	attempts = slices.DeleteFunc(attempts, func(n int64) bool { return n >= attempt })
	var errs []error
	for _, old := range attempts[:max(0, len(attempts)-a.options.KeepRuns)] {
		// One folder that cannot be removed does not keep the others.
		errs = append(errs, os.RemoveAll(string(j.run(old))))
		a.drop(j.run(old))
	}
	return errors.Join(errs...)
}
