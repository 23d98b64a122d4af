// This file reads a Slurm cluster: nodes with what is left on them, and the jobs that were submitted for the controller.

package slurm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/managed"
)

// Look implements controller.Cluster.
// Two commands are read one after the other, so that a job may have changed between them: what runs is
// counted from the list of jobs and subtracted from what the nodes say is taken, and a difference shows as
// room that somebody else has, for one look.
func (s *slurm) Look(ctx context.Context) (*controller.View, error) {
	nodes, err := ask[node](ctx, "sinfo", "nodes")
	if err != nil {
		return nil, err
	}
	shown, err := ask[json.RawMessage](ctx, "squeue", "jobs")
	if err != nil {
		return nil, err
	}
	jobs, owners, err := read(shown)
	if err != nil {
		return nil, err
	}
	s.readScripts(ctx, jobs)
	view := &controller.View{Rejected: map[string]string{}}
	// own sums, by node, what the parts of runs take. The rest of a node's use is other people's.
	own := map[string]apportion.Resources{}
	var ending []string // the partitions of jobs that wait for room to end
	var others []*job
	for i := range jobs {
		j := &jobs[i]
		// A job of Slurm's was submitted for the controller, is a part of a run, or none of its business.
		words, ours := j.words()
		if !ours {
			if node, demand, isOwn := ownUse(j, owners); isOwn {
				add(own, node, demand)
			} else {
				others = append(others, j)
			}
			continue
		}
		if endingOf(words) != "" && j.waitsForRoom() {
			ending = append(ending, j.Partition)
		}
		if err := s.readJob(ctx, view, j, words, shown[i]); err != nil {
			return nil, err
		}
	}
	for i := range nodes {
		server, err := serverOf(&nodes[i], own[nodes[i].Name])
		if err != nil {
			return nil, err
		}
		view.Servers = append(view.Servers, server)
	}
	if s.switches {
		if err := labelSwitches(ctx, view.Servers); err != nil {
			return nil, err
		}
	}
	makeRoom(view.Servers, ending)
	view.Waiting = waitingOf(others)
	s.seeServers(view.Servers)
	return view, nil
}

// read reads jobs, and returns the user of each by its number as well.
func read(shown []json.RawMessage) ([]job, map[string]int64, error) {
	jobs, owners := make([]job, len(shown)), map[string]int64{}
	for i := range jobs {
		j := &jobs[i]
		if err := json.Unmarshal(shown[i], j); err != nil {
			return nil, nil, fmt.Errorf("a job of squeue: %w", err)
		}
		if j.UID != nil {
			owners[strconv.FormatInt(j.ID, 10)] = int64(*j.UID)
		}
	}
	return jobs, owners, nil
}

// add adds what a part takes to the sum of its node.
func add(own map[string]apportion.Resources, node string, demand apportion.Resources) {
	if own[node] == nil {
		own[node] = make(apportion.Resources, len(kinds))
	}
	for k := range demand {
		own[node][k] += demand[k]
	}
}

// makeRoom takes a CPU and a MB for each job that waits for room to end, see end, on the first server of its partition that has
// some: elastic jobs would keep all of it.
func makeRoom(servers []controller.Server, ending []string) {
	for _, partition := range ending {
		for i := range servers {
			s := &servers[i]
			if s.Down == "" && !s.Draining && s.Labels["partition:"+partition] != "" && s.Capacity[0] > 0 && s.Capacity[1] > 0 {
				s.Capacity[0]--
				s.Capacity[1]--
				break
			}
		}
	}
}

// seeServers keeps which servers are down or closed, and what others leave of them. The maps are made anew and put in place as a whole: Stop and Trouble read them
// from other goroutines.
func (s *slurm) seeServers(servers []controller.Server) {
	down, closed, room := map[string]bool{}, map[string]bool{}, map[string]apportion.Resources{}
	for i := range servers {
		room[servers[i].ID] = servers[i].Capacity.Clone() // the list is the controller's to change
		down[servers[i].ID], closed[servers[i].ID] = servers[i].Down != "", servers[i].Draining
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.closed, s.room, s.before = down, closed, room, s.room
}

// readJob adds a job that was submitted for the controller, whether it is held or was released: its script runs nothing by itself,
// see inert, so that a run of it goes on.
// A job that has ended stays visible for a while (MinJobAge), long enough for a look to see it.
func (s *slurm) readJob(ctx context.Context, view *controller.View, j *job, words []string, shown json.RawMessage) error {
	id, number, told := j.id(), strconv.FormatInt(j.ID, 10), endingOf(words)
	// slurmctld may have forgotten that it was ended, and then it is ended again, or that it was released to end.
	switch how, err := s.buried(id, j.Submitted); {
	case err != nil:
		return err
	case !isAlive(j.State) || told != "" && !j.isHeld():
		view.Withdrawn = append(view.Withdrawn, id)
		return nil
	case told != "":
		view.Withdrawn = append(view.Withdrawn, id)
		return s.end(ctx, number, told, "")
	case how != "":
		return s.end(ctx, number, how, "")
	}
	// A job that cannot be understood is listed with the reason and stays held. It is read again at each
	// look, since its user may change it by scontrol.
	app, err := applicationOf(j, words)
	if s.standing.partition != "" {
		app.Requires = append(app.Requires, inPartition(s.standing.partition))
	}
	if err == nil {
		err = unknown(shown)
	}
	var script string
	if err == nil {
		script, err = s.scriptOf(ctx, id, number)
	}
	if err != nil {
		view.Rejected[id] = err.Error()
		return ctx.Err()
	}
	s.mu.Lock()
	s.demands[id] = app.Demand
	s.mu.Unlock()
	text, err := json.Marshal(spec{*j, script})
	view.Jobs = append(view.Jobs, controller.Job{Application: app, Spec: text})
	return err
}

// readScripts fetches the scripts of elastic jobs that are not known, several at a time. What cannot be fetched is tried again, and told,
// when the job is read.
func (s *slurm) readScripts(ctx context.Context, jobs []job) {
	_ = managed.Each(len(jobs), callers, func(i int) error {
		j := &jobs[i]
		if _, ours := j.words(); !ours || !isAlive(j.State) {
			return nil
		}
		_, err := s.scriptOf(ctx, j.id(), strconv.FormatInt(j.ID, 10))
		return err
	})
}

// scriptOf returns the script of a job, which cannot change, so that it is fetched once.
func (s *slurm) scriptOf(ctx context.Context, id, number string) (script string, err error) {
	s.mu.Lock()
	script, there := s.scripts[id]
	s.mu.Unlock()
	if !there {
		if script, err = command(ctx, "", "scontrol", "write", "batch_script", number, "-"); err != nil {
			return "", err
		}
		s.mu.Lock()
		s.scripts[id] = script
		s.mu.Unlock()
	}
	if !strings.Contains(script, inert) {
		return "", fmt.Errorf("it was not submitted by this version of %s submit", program.Name)
	}
	return script, nil
}

// applicationOf reads a job.
// What the words mean is in README.md. Weight 1 and at least one task are the defaults; max is required, as
// the controller's Validate says of an application without it.
func applicationOf(j *job, words []string) (alloc.Application, error) {
	app := alloc.Application{ID: j.id(), Weight: 1, Form: alloc.Form{Min: 1, Requires: j.requires()}}
	if _, err := declare(&app, words); err != nil {
		return app, err
	}
	if err := j.check(); err != nil {
		return app, err
	}
	var err error
	app.Demand, err = j.demand()
	return app, err
}

// declare reads the words of a comment, and returns the signal that asks the trainers to save.
func declare(app *alloc.Application, words []string) (saveSignal string, err error) {
	declared := map[string]string{}
	for _, word := range words {
		name, text, _ := strings.Cut(word, "=")
		declared[name] = text
	}
	saveSignal, err = controller.Declare(app, declared)
	if err != nil {
		return "", fmt.Errorf("comment: %w", err)
	}
	return saveSignal, nil
}

// fate says what the state of a node means: a word with flags, such as IDLE+DRAIN or DOWN+NOT_RESPONDING.
//
// Slurm powers a node of a cloud up for the first job that it puts there, and expects no answer before. One that goes down as soon as its
// jobs have ended gets no others, and while it goes down it can have none.
func fate(words []string) (down, draining bool) {
	isOff := slices.Contains(words, "POWERED_DOWN") || slices.Contains(words, "POWERING_UP")
	for _, word := range words {
		switch {
		case word == "POWERED_DOWN" || isOff && word == "NOT_RESPONDING":
		case word == "POWER_DOWN" || strings.Contains(word, "DRAIN"):
			draining = true
		default:
			down = down || slices.ContainsFunc(bad, func(b string) bool { return strings.Contains(word, b) })
		}
	}
	return down, draining
}

// bad are parts of words of nodes that run nothing.
var bad = []string{"DOWN", "FAIL", "UNKNOWN", "ERROR", "FUTURE", "NOT_RESPONDING", "INVALID"}

// serverOf reads a node. own is what runs of elastic jobs have there.
// What others use is the node's use less the own one, never below zero: between two looks the own use may
// be counted before the node's. Capacity is what remains for elastic jobs.
func serverOf(n *node, own apportion.Resources) (controller.Server, error) {
	s := controller.Server{Server: apportion.Server{ID: n.Name, Labels: map[string]string{}}}
	words := strings.Fields(strings.ToUpper(n.State + " " + strings.Join(n.Flags, " ")))
	down, draining := fate(words)
	if s.Draining = draining; down {
		s.Down = "Slurm calls it " + strings.Join(words, "+")
	}
	for feature := range strings.SplitSeq(n.Features, ",") {
		s.Labels["feature:"+feature] = "yes"
	}
	for _, partition := range n.Partitions {
		s.Labels["partition:"+partition] = "yes"
	}
	if slices.Contains([]*int64{n.CPUs, n.Memory, n.UsedCPUs, n.UsedMemory}, nil) || n.Name == "" {
		return s, fmt.Errorf("sinfo does not say what node %q has", n.Name)
	}
	s.Capacity = apportion.Resources{*n.CPUs, *n.Memory, gpusIn(n.Generic)}
	for k, used := range []int64{*n.UsedCPUs, *n.UsedMemory, gpusIn(n.UsedGeneric)} {
		if own != nil {
			used -= own[k]
		}
		s.Capacity[k] = max(0, s.Capacity[k]-max(0, used))
	}
	return s, nil
}
