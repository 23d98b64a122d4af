// This file implements Stop: every process of a run is dead when it returns.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// anyAttempt is an attempt up to which all are.
const anyAttempt = math.MaxInt64

// Stop implements [runner.Runner]. It ends the groups of the processes that were started, every
// process that was started with the run's environment, and all their children, until none is left and
// nobody holds the run's lock. A run that was never started is stopped, too: it cannot be resumed any
// more. When the context ends first, the error names who is alive, and Stop can be called again.
func (a *Runner) Stop(ctx context.Context, run runner.Run) error {
	return named("stop", &run, a.stop(ctx, &run))
}

// stop is Stop without the words around its errors.
func (a *Runner) stop(ctx context.Context, run *runner.Run) error {
	if err := checkRun(run); err != nil {
		return err
	}
	// 1. The processes end first. A disk that hangs or is full, and a method that holds the lock and hangs there, keep
	// none of them alive.
	since := a.lastStart(run.Job)
	if err := a.endSeen(ctx, run, since); err != nil {
		return err
	}
	// 2. That it stays so needs the disk.
	folder, unlock, err := a.enterAlone(ctx, run)
	if err != nil {
		return err
	}
	defer unlock()
	// Whatever happens to this runner, no Resume of the attempt starts anything from now on.
	if err := put(folder.stopped(), run.Attempt, vfs.WriteFile); err != nil {
		return err
	}
	// endSeen has looked last and found nobody.
	return a.end(ctx, a.folder(run.Job), sweeping{grace: a.options.Grace, since: since, quiet: 1})
}

// endSeen ends what can be seen without a disk of the job's attempts up to this one: the processes that this runner has
// started, their groups, and what names a run of the job in its environment. A later attempt is left alone, whoever asks.
func (a *Runner) endSeen(ctx context.Context, run *runner.Run, since uint64) error {
	j := a.folder(run.Job)
	find := func(leaders, known map[int]process) (map[int]process, error) {
		return a.members(j, run.Attempt, leaders, known, since)
	}
	return a.sweepFound(ctx, sweeping{leaders: a.ownLeaders(j, run.Attempt), find: find, grace: a.options.Grace, enough: 1})
}

// lastStart returns when the first process of the job's newest run began, in the unit of process.Start; 0: it is not known. What was
// alive before is of no run of the job.
func (a *Runner) lastStart(job string) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.since[job]
}

// ownLeaders returns the processes that this runner has started for the job up to an attempt and that are alive, by
// their number.
func (a *Runner) ownLeaders(j jobFolder, upTo int64) map[int]process {
	a.mu.Lock()
	defer a.mu.Unlock()
	leaders := map[int]process{}
	for name, c := range a.children {
		folder, ok := strings.CutPrefix(filepath.Dir(name), j.runs())
		attempt, err := strconv.ParseInt(folder, 10, 64)
		if ok && err == nil && attempt <= upTo && a.alive(c.process) {
			leaders[c.process.PID] = c.process
		}
	}
	return leaders
}

// end ends everything that belongs to any run of the job, and waits until the ends of the processes that
// this runner started itself are recorded.
//
// That nothing is left is marked in the folders of the runs, which a start makes anew: it need not be
// found out twice.
func (a *Runner) end(ctx context.Context, j jobFolder, s sweeping) error {
	// Runs that are known to be over cost nothing.
	open, err := j.open()
	if err != nil || len(open) == 0 {
		return err
	}
	if err := a.sweep(ctx, j, s); err != nil {
		return err
	}
	// The map is copied: waiting under the lock would block every other job of this runner.
	a.mu.Lock()
	children := maps.Clone(a.children)
	a.mu.Unlock()
	// The exit of each is recorded before over is: Progress must not find a run that is over and an end that
	// is not known.
	for name, c := range children {
		if !strings.HasPrefix(name, j.runs()) {
			continue
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	// Only the runs that were open before the sweep are marked: one that another runner makes meanwhile was
	// not looked at.
	for _, folder := range open {
		if err := put(folder.over(), true, vfs.ReplaceFile); err != nil {
			return err
		}
	}
	return nil
}

// open returns the folders of the runs of which something may be alive.
// A folder that cannot be read is an error, for something of its run may be alive.
func (j jobFolder) open() ([]runFolder, error) {
	attempts, err := j.attempts()
	if err != nil {
		return nil, err
	}
	var open []runFolder
	for _, attempt := range attempts {
		files, err := os.ReadDir(string(j.run(attempt)))
		if err != nil {
			return nil, err
		}
		over := slices.ContainsFunc(files, func(e fs.DirEntry) bool { return e.Name() == overName })
		// A start begins by a file that all processes are given: where there is nothing, nothing was started.
		if len(files) > 0 && !over {
			open = append(open, j.run(attempt))
		}
	}
	return open, nil
}

// sweep ends everything that belongs to any run of the job: politely for the time of grace, then not.
// Processes may start others while this looks, so it ends when twice in a row nobody was found.
func (a *Runner) sweep(ctx context.Context, j jobFolder, s sweeping) error {
	leaders, err := a.leaders(j)
	if err != nil {
		return err
	}
	// A look that did not know of a leader may have missed those who are known by it alone.
	if len(leaders) > 0 {
		s.quiet = 0
	}
	s.leaders, s.enough = leaders, 2
	s.find = func(leaders, known map[int]process) (map[int]process, error) {
		return a.present(j, leaders, known, s.since)
	}
	return a.sweepFound(ctx, s)
}

// finder returns the processes to end that are alive: what belongs to leaders, what was known before, and more.
// What it returns is known at the next look.
type finder func(leaders, known map[int]process) (map[int]process, error)

type sweeping struct {
	// leaders are the leaders of process groups that were recorded and are alive, by their number.
	leaders map[int]process
	find    finder
	// grace is the time between SIGTERM and SIGKILL; 0: SIGKILL at once.
	grace time.Duration
	// since is a time at which nothing of the job was alive, in the unit of process.Start; 0: it is not known.
	since uint64
	// quiet is how many looks in a row have found nobody until now, and enough how many end the sweep.
	quiet, enough int
}

// sweepFound ends what is found, until often enough in a row nobody was.
func (a *Runner) sweepFound(ctx context.Context, s sweeping) (err error) {
	// known carries what was found from round to round: a child whose parent has died is found by having
	// been known.
	began, polite := time.Now(), s.grace > 0
	known, asked := map[int]process{}, map[process]bool{}
	for {
		if known, err = s.find(s.leaders, known); err != nil {
			return err
		}
		// One quiet round is not enough: a process that was just forked may not be listed yet when its
		// parent is gone. The next look will list it, so there is nothing to wait for.
		if len(known) > 0 {
			s.quiet = 0
		} else if s.quiet++; s.quiet >= s.enough {
			return nil
		}
		switch {
		case !polite:
			a.killAll(s.leaders, known)
		// The time of grace is over: the next round kills.
		case time.Since(began) >= s.grace:
			polite = false
			continue
		default:
			a.askAll(s.leaders, known, asked)
		}
		if err := a.awaitEnds(ctx, known, a.options.Poll); err != nil {
			// The numbers are sorted, so that two messages about the same processes read the same.
			alive := slices.Sorted(maps.Keys(known))
			return fmt.Errorf("processes %v: %w", alive, err)
		}
	}
}

// askAll asks each process once to end, but for guards: they would ask their trainers again.
func (a *Runner) askAll(leaders, members map[int]process, asked map[process]bool) {
	for pid, p := range members {
		if len(a.options.Guard) > 0 && leaders[pid] == p {
			continue
		}
		if !asked[p] {
			// A second SIGTERM would be taken by some programs for an order to end at once.
			asked[p] = true
			_ = a.signal(p, terminate) // it may have ended
			_ = a.signal(p, proceed)
		}
	}
}

// killAll ends the groups first, whose members cannot start others in between, and then every process that
// was found by another sign.
func (a *Runner) killAll(leaders, members map[int]process) {
	for _, p := range leaders {
		a.killGroup(p)
	}
	for _, p := range members {
		_ = a.signal(p, kill) // it may have ended
	}
}

// present returns the processes of the job that are alive. Who holds a lock of a run but is found by no
// other sign is looked for among all open files, which takes longer.
func (a *Runner) present(j jobFolder, leaders, known map[int]process, since uint64) (map[int]process, error) {
	members, err := a.members(j, anyAttempt, leaders, known, since)
	if err != nil || len(members) > 0 {
		return members, err
	}
	// No folder has no leaders: the job was never here.
	attempts, err := j.attempts()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, attempt := range attempts {
		held, err := j.run(attempt).isHeld()
		if err != nil {
			return nil, err
		}
		if held {
			return a.held(j)
		}
	}
	return members, nil
}

// held returns the holders of locks. There may be none for a moment: who held it has just ended, or is
// between fork and exec.
func (a *Runner) held(j jobFolder) (map[int]process, error) {
	holders := a.holders(j)
	if len(holders) == 0 {
		holders[0] = process{} // nobody that can be signalled, but not quiet
	}
	return holders, nil
}

// leaders returns the recorded processes of all runs of the job, by their number, which is that of their
// group.
// A record that cannot be read is passed over: a job may have spoilt it, and its processes have other signs.
func (a *Runner) leaders(j jobFolder) (map[int]process, error) {
	attempts, err := j.attempts()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	leaders := map[int]process{}
	for _, attempt := range attempts {
		for _, name := range j.run(attempt).ofRanks(processEnding) {
			var p process
			// Number 1 would make a signal to its group one to every process, and 0 one to this runner's own.
			if err := get(name, &p); err == nil && p.PID > 1 && a.alive(p) {
				leaders[p.PID] = p
			}
		}
	}
	return leaders, nil
}
