// This file starts and ends containers by Nomad's API: a child job for each elastic job, with a group for each node of its
// newest attempt.

package nomad

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/managed"
)

// attemptOf is the attempt that a group belongs to; 0: it is no group of a child.
func attemptOf(group string) int64 {
	number, _, _ := strings.Cut(strings.TrimPrefix(group, "a"), "-")
	attempt, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return attempt
}

// child returns what is known of a child job.
func (n *nomad) child(job string) *child {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.children[job] == nil {
		n.children[job] = &child{}
	}
	return n.children[job]
}

// note is what a child's meta keys say, and the index at which that was so.
type note struct {
	epoch, attempt, stopped int64
	ended                   string
	index                   uint64
}

// read reads the note of a child; zero: there is none.
// The index is what a write must find unchanged.
func (n *nomad) read(ctx context.Context, job string) (note, *api.Job, error) {
	j, _, err := n.client.Jobs().Info(childOf(job), (&api.QueryOptions{}).WithContext(ctx))
	if isNotFound(err) {
		return note{}, nil, nil
	}
	if err != nil {
		return note{}, nil, err
	}
	number := func(key string) int64 {
		v, _ := strconv.ParseInt(j.Meta[key], 10, 64) // which this program has written
		return v
	}
	return note{number(metaEpoch), number(metaAttempt), number(metaStopped), j.Meta[metaEnded], *j.JobModifyIndex}, j, nil
}

// errAgain says that somebody else has registered the child meanwhile.
var errAgain = errors.New("the job was registered by another meanwhile")

// errForeign says that somebody else has a job with the name that the child of a job would have.
func errForeign(job string) error {
	return fmt.Errorf("nomad: job %q is somebody else's: it has the name that the containers of %q would have", childOf(job), job)
}

// write registers a child with a note, unless it has changed since it was read: so of two masters one is refused.
// Nomad compares the index itself, so that there is no moment between.
func (n *nomad) write(ctx context.Context, j *api.Job, now note) error {
	j.Meta = map[string]string{metaEpoch: strconv.FormatInt(n.epoch, 10), metaAttempt: strconv.FormatInt(now.attempt, 10),
		metaStopped: strconv.FormatInt(now.stopped, 10), metaEnded: now.ended}
	_, _, err := n.client.Jobs().EnforceRegister(j, now.index, (&api.WriteOptions{}).WithContext(ctx))
	if err != nil && strings.Contains(err.Error(), api.RegisterEnforceIndexErrPrefix) {
		return errAgain
	}
	return err
}

// update reads the note of a child, has it changed, and writes it, until nobody came between. change returns no job where
// there is nothing to write.
// An epoch that is later than ours has taken over, and this master must do nothing any more.
func (n *nomad) update(ctx context.Context, job string, change func(now *note, j *api.Job) (*api.Job, error)) error {
	c := n.child(job)
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		now, j, err := n.read(ctx, job)
		if err != nil {
			return err
		}
		if now.epoch > n.epoch {
			return fmt.Errorf("nomad: master %d has registered job %q: %w", now.epoch, childOf(job), checkpoint.ErrFenced)
		}
		next, err := change(&now, j)
		if err != nil || next == nil {
			return err
		}
		err = n.write(ctx, next, now)
		c.looked = time.Time{} // the allocations from before are not those of this registration
		if !errors.Is(err, errAgain) {
			return err
		}
	}
}

// Start implements managed.Manager.
// A second call with the same task changes nothing.
func (n *nomad) Start(ctx context.Context, t managed.Task) error {
	declared, err := specOf(t.Spec)
	if err != nil {
		return err
	}
	return n.update(ctx, t.Job, func(now *note, j *api.Job) (*api.Job, error) {
		if j != nil && !isChild(*j.ID, j.Meta) {
			return nil, errForeign(t.Job)
		}
		if t.Attempt <= max(now.attempt, now.stopped) {
			return nil, nil // it was asked for before, or is over
		}
		now.attempt, now.ended = t.Attempt, ""
		return n.childJob(declared, &t)
	})
}

// User implements managed.Manager.
func (n *nomad) User(spec json.RawMessage) (*command.User, error) {
	declared, err := specOf(spec)
	if err != nil {
		return nil, err
	}
	return userOf(declared.TaskGroups[0].Tasks[0])
}

// userOf is whom Nomad runs a task as: the user of that name, for exec nobody if there is none, and for raw_exec the user of
// Nomad's client, which is this program's own. Numbers are those of this machine.
func userOf(task *api.Task) (*command.User, error) {
	name := task.User
	if name == "" && task.Driver == "raw_exec" {
		return nil, nil
	}
	// As Nomad's clients do it: a number is no name.
	return managed.LookupUser(cmp.Or(name, "nobody"))
}

// childJob makes the child of a declared job for a run.
// Constraints are the user's, and the priority is where this program was not given one.
func (n *nomad) childJob(declared *api.Job, t *managed.Task) (*api.Job, error) {
	id, kind := childOf(t.Job), api.JobTypeBatch
	// A batch job is left alone when its node is drained, until the deadline: the controller moves it meanwhile.
	j := &api.Job{ID: &id, Name: &id, Type: &kind, Namespace: declared.Namespace, Region: declared.Region, Datacenters: declared.Datacenters,
		NodePool: declared.NodePool, Priority: declared.Priority, Constraints: declared.Constraints}
	if n.priority > 0 {
		j.Priority = &n.priority
	}
	for _, part := range t.Servers() {
		group, err := n.group(declared, t, part)
		if err != nil {
			return nil, err
		}
		j.TaskGroups = append(j.TaskGroups, group)
	}
	return j, nil
}

// group makes the group of a run on one node: as many containers as it has there, each with a guard.
// The user's group is a template, which is copied and never written.
func (n *nomad) group(declared *api.Job, t *managed.Task, part managed.Part) (*api.TaskGroup, error) {
	template := declared.TaskGroups[0]
	group := *template
	name, no, unlimited, mode := groupOf(t.Attempt, part.Server), 0, false, "fail"
	group.Name, group.Count = &name, &part.Count
	group.Constraints = append(slices.Clone(template.Constraints), &api.Constraint{LTarget: "${node.unique.name}", Operand: "=", RTarget: part.Server})
	// The child's own meta keys are the note. Those of the user's reach the containers by the group.
	group.Meta = map[string]string{}
	for _, meta := range []map[string]string{declared.Meta, template.Meta} {
		for key, text := range meta {
			if !strings.HasPrefix(key, metaPrefix) {
				group.Meta[key] = text
			}
		}
	}
	// These are for services; a batch job may not have them.
	group.Update, group.Migrate = nil, nil
	// Nobody but the controller starts a container again: it would be from a checkpoint that is not the newest.
	group.RestartPolicy = &api.RestartPolicy{Attempts: &no, Mode: &mode}
	group.ReschedulePolicy = &api.ReschedulePolicy{Attempts: &no, Unlimited: &unlimited}
	task := *template.Tasks[0]
	config, err := n.guardedConfig(task.Config, declared.Meta, t.Credential, part)
	if err != nil {
		return nil, err
	}
	// A task has a policy of its own, which Nomad filled in when the job was registered.
	task.Config, task.KillSignal, task.RestartPolicy = config, "SIGTERM", group.RestartPolicy
	task.Env = map[string]string{}
	for key, text := range template.Tasks[0].Env {
		task.Env[key] = text
	}
	for key, text := range t.Environment(part.Server) {
		task.Env[key] = text
	}
	group.Tasks = []*api.Task{&task}
	return &group, nil
}

// guardedConfig puts a guard before the command of a task.
// What the user's task runs follows the two dashes.
func (n *nomad) guardedConfig(config map[string]any, meta map[string]string, credential string, part managed.Part) (map[string]any, error) {
	program, isText := config["command"].(string)
	if !isText || program == "" {
		return nil, errors.New("nomad: the task has no command")
	}
	signal, err := readMeta(&alloc.Application{}, meta)
	if err != nil {
		return nil, err
	}
	// Nomad numbers the containers of each group from 0. Into the folders of a task everybody on its node can write, so that the
	// guard makes one of its own for the files of saves.
	words := append(n.guard.Command(credential, signal), "-rank", strconv.Itoa(part.First)+"+${NOMAD_ALLOC_INDEX}", "--", program)
	var args []any
	for _, word := range words[1:] {
		args = append(args, word)
	}
	list, _ := config["args"].([]any)
	guarded := map[string]any{}
	for key, value := range config {
		guarded[key] = value
	}
	guarded["command"], guarded["args"] = words[0], append(args, list...)
	return guarded, nil
}

// Stop implements managed.Manager: all groups go.
func (n *nomad) Stop(ctx context.Context, job string, attempt int64, server string) (left bool, err error) {
	if err := n.stop(ctx, job, attempt); err != nil {
		return false, err
	}
	return n.left(ctx, job, attempt, server)
}

// stop notes that attempts up to one are over, and leaves the child no containers. What this master has noted is not asked for again.
func (n *nomad) stop(ctx context.Context, job string, attempt int64) error {
	c, known := n.child(job), false
	if c.stopped.Load() >= attempt {
		return nil
	}
	err := n.update(ctx, job, func(now *note, j *api.Job) (*api.Job, error) {
		// What a later attempt has is not to be ended by a word that is late, and somebody else's job not at all.
		known = j != nil && isChild(*j.ID, j.Meta)
		if !known || now.stopped >= attempt || now.attempt > attempt {
			return nil, nil
		}
		now.stopped = attempt
		return emptied(j), nil
	})
	if err == nil && known {
		c.stopped.Store(attempt)
	}
	return err
}

// emptied is a child without containers.
func emptied(j *api.Job) *api.Job {
	for _, group := range j.TaskGroups {
		none := 0
		group.Count = &none
	}
	return j
}

// left reports whether Nomad has allocations of a job up to an attempt on a node that may live: its client has not said
// that they have ended, and is there to say so.
// A node that Nomad has lost does not count: there the guards' leases say when it is over.
func (n *nomad) left(ctx context.Context, job string, attempt int64, server string) (bool, error) {
	allocations, err := n.allocations(ctx, job)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(allocations, func(a *api.AllocationListStub) bool {
		is := attemptOf(a.TaskGroup)
		return a.NodeName == server && 0 < is && is <= attempt &&
			(a.ClientStatus == api.AllocClientStatusRunning || a.ClientStatus == api.AllocClientStatusPending)
	}), nil
}

// allocationsAge is how old a list of allocations may be: many ask for one at the same time.
const allocationsAge = 100 * time.Millisecond

// allocations returns the allocations of a job's child. They are read once for all that ask at the same time.
// The list is shared and read only.
func (n *nomad) allocations(ctx context.Context, job string) ([]*api.AllocationListStub, error) {
	c := n.child(job)
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < allocationsAge {
		return c.allocations, nil
	}
	list, _, err := n.client.Jobs().Allocations(childOf(job), true, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	c.looked, c.allocations = time.Now(), list
	return list, nil
}

// Trouble implements managed.Manager: an allocation that has ended without its guard having said a word has not started, and a group
// of which Nomad has placed some containers only, as others have the room, never runs.
// An empty answer: nothing is known against it.
func (n *nomad) Trouble(ctx context.Context, job string, attempt int64, part managed.Part) (why string, refused bool, err error) {
	allocations, err := n.allocations(ctx, job)
	if err != nil {
		return "", false, err
	}
	group, placed := groupOf(attempt, part.Server), 0
	for _, a := range allocations {
		if a.TaskGroup != group {
			continue
		}
		if placed++; a.ClientStatus == api.AllocClientStatusFailed || a.ClientStatus == api.AllocClientStatusLost {
			return fmt.Sprintf("allocation %.8s is %s: %s", a.ID, a.ClientStatus, lastEvent(a)), false, nil
		}
	}
	if placed >= part.Count {
		return "", false, nil
	}
	why, err = n.unplaced(ctx, job, group)
	return why, why != "", err
}

// unplaced says that Nomad has tried to place a group and found no room, which others have taken; empty: it has not tried yet.
func (n *nomad) unplaced(ctx context.Context, job, group string) (string, error) {
	evaluations, _, err := n.client.Jobs().Evaluations(childOf(job), (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return "", err
	}
	for _, e := range evaluations {
		if failed := e.FailedTGAllocs[group]; failed != nil {
			return fmt.Sprintf("Nomad's evaluation %.8s finds no room that others have not taken: %v", e.ID, slices.Sorted(maps.Keys(failed.DimensionExhausted))), nil
		}
	}
	return "", nil
}

// lastEvent is what Nomad says happened last to an allocation's task.
// A failure of driver or setup says more than what Nomad did about it.
func lastEvent(a *api.AllocationListStub) string {
	text := a.ClientDescription
	for _, state := range a.TaskStates {
		if len(state.Events) > 0 {
			text = state.Events[len(state.Events)-1].DisplayMessage
			for _, event := range state.Events {
				if event.Type == api.TaskDriverFailure || event.Type == api.TaskSetupFailure {
					text = event.DisplayMessage
				}
			}
		}
	}
	return cmp.Or(text, "it does not say why")
}
