//go:build unix

// This file starts and ends containers by the holder: each on its node and no other, with a guard around its command.

package yarn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/managed"
)

// open has the holder hold the application of a job, and says why it does not yet; "": it does.
func (y *yarn) open(ctx context.Context, s *submission) (why string, err error) {
	var answer held
	if s.Application != "" {
		answer, err = y.masters.follow(s.Application, s.Job, s.User)
	} else {
		err = y.openHeld(ctx, s, &answer)
	}
	switch {
	case err != nil || answer.State == "open":
		return "", err
	case answer.State == "opening":
		return cmp.Or(answer.Why, "YARN has not let its application in yet"), nil
	}
	return cmp.Or(answer.Why, "its application is "+answer.State), nil
}

// openHeld has the holder hold the application of a job.
// The stamp becomes a tag, by which a later controller knows which submission the application is for.
func (y *yarn) openHeld(ctx context.Context, s *submission, answer *held) error {
	return y.holder.call(ctx, map[string]any{"op": "open", "job": s.Job, "user": s.User, "queue": s.Queue, "label": s.Label,
		"priority": s.Priority, "stamp": s.Stamp}, answer)
}

// end has the application of a job end.
// status is SUCCEEDED, FAILED or KILLED, as YARN's history shows it.
func (y *yarn) end(ctx context.Context, job, status, why string) error {
	id, err := y.followerOf(job)
	if err != nil {
		return err
	}
	if id != "" {
		return y.masters.order(id, func(o *orders) { o.Status, o.Why = status, why })
	}
	return y.order(ctx, job, map[string]any{"op": "end", "status": status, "why": why})
}

// followerOf is the application of a job whose master follows; "": it has none.
// Of several that have followed for a job of this name the newest counts.
func (y *yarn) followerOf(job string) (id string, err error) {
	y.mu.Lock()
	id, seen := y.followed[job]
	y.mu.Unlock()
	if seen {
		return id, nil
	}
	// Its file is gone, and this controller has not seen it.
	// It is looked up by the folders, which outlive the file.
	known, err := y.masters.known()
	for one, of := range known {
		if of == job && (id == "" || numberOf(one) > numberOf(id)) {
			id = one
		}
	}
	return id, err
}

// order sends an order about a job. One that is not held has no application in which anything could be done, or is about
// to be held.
// Where the application is over or was never there, there is nothing to order, and nil says so.
func (y *yarn) order(ctx context.Context, job string, order map[string]any) error {
	order["job"] = job
	err := y.holder.call(ctx, order, &struct{}{})
	// The application may have ended just now, which YARN knows and the holder need not have heard.
	var refused refusal
	if !errors.As(err, &refused) {
		return err
	}
	apps, listErr := y.applications(ctx, nil)
	if listErr != nil {
		return errors.Join(err, listErr)
	}
	if slices.ContainsFunc(apps, func(a application) bool { return a.Name == job && !a.isOver() }) {
		return err
	}
	return nil
}

// Start implements managed.Manager. Of a run that was asked for before nothing is asked for again.
func (y *yarn) Start(ctx context.Context, t managed.Task) error {
	if t.Again {
		return nil
	}
	var s submission
	if err := json.Unmarshal(t.Spec, &s); err != nil {
		return err
	}
	// It has the user's variables, which nobody else can read there.
	if err := t.WriteScript(scriptName, []byte(y.script(&s, &t))); err != nil {
		return err
	}
	// The order has what the holder asks YARN for, server by server, with the rank of the first container there.
	parts := []map[string]any{}
	for _, part := range t.Servers() {
		parts = append(parts, map[string]any{"server": part.Server, "first": part.First, "count": part.Count})
	}
	// The names of the variables go along: the holder knows nothing of this library.
	order := map[string]any{"op": "start", "job": t.Job, "attempt": t.Attempt, "parts": parts, "command": launchCommand(t.Dir),
		"server_variable": command.EnvServer, "rank_variable": command.EnvRank}
	// YARN has fields for the two kinds of every cluster, and a list for all others.
	others := map[string]int64{}
	for name, amount := range s.Demand {
		switch name {
		case memoryKind:
			order["memory"] = amount
		case vcoreKind:
			order["vcores"] = amount
		default:
			others[name] = amount
		}
	}
	order["resources"] = others
	// Its master reads that when it looks the next time; nobody answers here.
	if s.Application != "" {
		return y.masters.order(s.Application, func(o *orders) { o.Run = order })
	}
	return y.holder.call(ctx, order, &struct{}{})
}

// scriptName is the script of a run in its folder.
const scriptName = "start.sh"

// launchCommand is the command of a container, for the shell within the quotes that YARN puts around it.
// These are double quotes, within which four characters mean something to bash. <LOG_DIR> is YARN's word for the
// folder from which it collects logs.
func launchCommand(dir string) string {
	name := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(managed.Quote(filepath.Join(dir, scriptName)))
	return "exec /bin/sh " + name + " 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"
}

// User implements managed.Manager.
func (y *yarn) User(spec json.RawMessage) (*command.User, error) {
	var s submission
	if err := json.Unmarshal(spec, &s); err != nil {
		return nil, err
	}
	name := y.conf.runsAs(s.User)
	if name == "" {
		return nil, nil
	}
	return managed.LookupUser(name)
}

// script is what every container of a run runs: a guard, and the user's command in it. Server and rank come from the
// holder. The files by which saves are asked for are in the container's own folder.
// The environment of the job comes first, so that no job can name another job, attempt or folder than its
// own.
func (y *yarn) script(s *submission, t *managed.Task) string {
	env := map[string]string{}
	maps.Copy(env, s.Env)
	maps.Copy(env, t.Environment(""))
	// All containers of a run have the same script: the guard asks its node for the name.
	delete(env, command.EnvServer)
	guard := managed.Quote(y.guard.Command(t.Credential, s.SaveSignal)...)
	return "#!/bin/sh\n" + managed.Export(env) + "exec " + guard + ` -dir "$PWD" -- ` + managed.Quote(s.Command...) + "\n"
}

// Stop implements managed.Manager. What is given back is YARN's again at once, whether its node answers or not; what lives
// there is the guards' to say.
// It says nothing of one server, since a run is given up as a whole; the fence of the agent has seen to it
// that no earlier attempt is asked for again.
func (y *yarn) Stop(ctx context.Context, job string, attempt int64, _ string) (left bool, err error) {
	id, err := y.followerOf(job)
	if err != nil {
		return false, err
	}
	if id != "" {
		return false, y.masters.order(id, func(o *orders) { o.Stop = max(o.Stop, attempt) })
	}
	return false, y.order(ctx, job, map[string]any{"op": "stop", "attempt": attempt})
}

// Trouble implements managed.Manager: a container that is over without its guard having said a word has not started, and
// one that nobody asked YARN for will not come.
// An answer says why the run is to be started elsewhere or again. While it cannot be known it is empty, and
// the question comes again with the next look.
func (y *yarn) Trouble(ctx context.Context, job string, attempt int64, part managed.Part) (why string, refused bool, err error) {
	all, err := y.standing(ctx)
	if err != nil {
		return "", false, err
	}
	one, isHeld := all[job]
	if !isHeld || one.State == "opening" {
		return "", false, nil // it is about to be held again
	}
	id, err := y.followerOf(job)
	if err != nil || id != "" && one.Begun < attempt {
		return "", false, err // its master is about to read of it
	}
	return troubleOf(&one, attempt, part.Server, part.Count), false, nil
}

// standing says how all applications stand, by job.
// The applications that the holder holds and those whose masters follow answer in one form; a master whose
// answer cannot be read is as one that has not said a word.
func (y *yarn) standing(ctx context.Context) (map[string]held, error) {
	all, err := y.holder.list(ctx)
	if err != nil {
		return nil, err
	}
	known, err := y.masters.known()
	for _, job := range known {
		id, ofErr := y.followerOf(job)
		if ofErr != nil || id == "" {
			err = errors.Join(err, ofErr)
			continue
		}
		one, fault := y.masters.stands(id)
		if fault != nil {
			one = held{State: "opening", Why: fault.Error()} // whatever its user writes there, it is that job's alone
		}
		all[job] = one
	}
	return all, err
}

// troubleOf says why so many containers of a run will not start on a server; "": they may.
func troubleOf(h *held, attempt int64, server string, count int) string {
	for _, c := range h.Containers {
		if c.Attempt != attempt || c.Server != server {
			continue
		}
		if c.State == "over" {
			return fmt.Sprintf("container %d, %s, is over: %d %s", c.Rank, c.ID, c.Exit, c.Why)
		}
		count--
	}
	if count > 0 {
		return fmt.Sprintf("YARN was not asked for %d containers: %s", count, h.Why)
	}
	return ""
}

// lostExit is the exit status that the ResourceManager gives containers whose node it has lost.
// It is YARN's ContainerExitStatus.ABORTED.
const lostExit = -100

// ghosts are the nodes on which containers may live that YARN has lost, with the reason why nothing may run there: a node
// that was lost and is back does not know what its processes are. They are gone when their run was stopped, since their
// guards end then.
func (y *yarn) ghosts(ctx context.Context) map[string]string {
	if y.holder == nil {
		return nil
	}
	all, err := y.standing(ctx)
	if err != nil {
		return nil // the guards are heard whoever holds the applications
	}
	return ghostsOf(all)
}

// ghostsOf finds them in what the holder says.
// Jobs are looked at in the order of their names, so that a node with two ghosts names the same one each
// time.
func ghostsOf(all map[string]held) map[string]string {
	found := map[string]string{}
	for _, job := range slices.Sorted(maps.Keys(all)) {
		for _, c := range all[job].Containers {
			if c.State == "over" && c.Exit == lostExit && c.Attempt > all[job].Stopped {
				found[c.Server] = fmt.Sprintf("YARN has lost container %s of job %s, which may live", c.ID, job)
			}
		}
	}
	return found
}
