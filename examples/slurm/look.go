// This file reads a Slurm cluster: nodes with what is left on them, and the jobs that are held for the controller.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
)

// Look implements controller.Cluster.
// Two commands are read one after the other, so that a job may have changed between them: what runs is
// counted from the list of jobs and subtracted from what the nodes say is taken, and a difference shows as
// room that somebody else has, for one look.
func (s *slurm) Look(ctx context.Context) (*controller.View, error) {
	nodes, err := command(ctx, "", "scontrol", "-d", "-o", "show", "node")
	if err != nil {
		return nil, err
	}
	jobs, err := command(ctx, "", "scontrol", "-o", "show", "job")
	if err != nil {
		return nil, err
	}
	view := &controller.View{Rejected: map[string]string{}}
	// own sums, by node, what the parts of runs take. The rest of a node's use is other people's.
	own := map[string]apportion.Resources{}
	for _, r := range readRecords(jobs) {
		// A job of Slurm's is a part of a run, one that is held for the controller, or none of its
		// business.
		if node, demand, isOwn := ownUse(r); isOwn {
			if own[node] == nil {
				own[node] = make(apportion.Resources, len(kinds))
			}
			for k := range demand {
				own[node][k] += demand[k]
			}
			continue
		}
		if err := s.readJob(ctx, view, r); err != nil {
			return nil, err
		}
	}
	// They are made anew and put in place as a whole: Stop and Trouble read them from other goroutines.
	down, closed := map[string]bool{}, map[string]bool{}
	for _, r := range readRecords(nodes) {
		server, err := serverOf(r, own[r["NodeName"]])
		if err != nil {
			return nil, err
		}
		down[server.ID], closed[server.ID] = server.Down != "", server.Draining
		view.Servers = append(view.Servers, server)
	}
	s.mu.Lock()
	s.down, s.closed = down, closed
	s.mu.Unlock()
	return view, nil
}

// idOf names a job of Slurm as an application.
// Names are not unique in Slurm and numbers say little to people; together they are both. Ended reads the
// number back.
func idOf(r record) string { return r["JobName"] + "." + r["JobId"] }

// readJob adds a job that is held for the controller.
// A job that was cancelled by its user stays visible for a while (MinJobAge), long enough for a look to see
// it.
func (s *slurm) readJob(ctx context.Context, view *controller.View, r record) error {
	words := strings.Fields(r["Comment"])
	if len(words) > 0 && words[0] == mark && r["JobState"] == "CANCELLED" {
		view.Withdrawn = append(view.Withdrawn, idOf(r))
	}
	if len(words) == 0 || words[0] != mark || r["JobState"] != "PENDING" || !strings.HasPrefix(r["Reason"], "JobHeld") {
		return nil
	}
	// slurmctld has forgotten that it was cancelled: it is cancelled again.
	if over, err := s.isBuried(idOf(r), r["SubmitTime"]); over || err != nil {
		return errors.Join(err, s.cancel(ctx, r["JobId"]))
	}
	// A job that cannot be understood is listed with the reason and stays held. It is read again at each
	// look, since its user may change it by scontrol.
	app, err := applicationOf(r, words[1:])
	if err != nil {
		view.Rejected[idOf(r)] = err.Error()
		return nil
	}
	s.mu.Lock()
	// The script of a job cannot change while it is held, so that it is fetched once.
	known, there := s.specs[app.ID]
	s.mu.Unlock()
	if !there {
		known = spec{Record: r}
		if known.Script, err = command(ctx, "", "scontrol", "write", "batch_script", r["JobId"], "-"); err != nil {
			return err
		}
		s.mu.Lock()
		s.specs[app.ID] = known
		s.mu.Unlock()
	}
	text, err := json.Marshal(known)
	view.Jobs = append(view.Jobs, controller.Job{Application: app, Spec: text})
	return err
}

// applicationOf reads a job that is held.
// What the words mean is in README.md. Weight 1 and at least one task are the defaults; max is required, as
// the controller's Validate says of an application without it.
func applicationOf(r record, words []string) (alloc.Application, error) {
	app := alloc.Application{ID: idOf(r), Weight: 1, Min: 1}
	// The names are those of the application's JSON.
	numbers := map[string]*int64{"min": &app.Min, "max": &app.Max, "step": &app.Step, "per_server": &app.PerServer,
		"max_servers": &app.MaxServers, "priority": &app.Priority}
	for _, word := range words {
		name, text, _ := strings.Cut(word, "=")
		to, isNumber := numbers[name]
		var err error
		switch {
		case isNumber:
			*to, err = strconv.ParseInt(text, 10, 64)
		case name == "weight":
			app.Weight, err = strconv.ParseFloat(text, 64)
		case name == "save_signal":
			_, err = signalName(text)
		default:
			err = errors.New("this word is not known")
		}
		if err != nil {
			return app, fmt.Errorf("comment %q: %w", word, err)
		}
	}
	// These fields bind a job to nodes or to other jobs, which no decision could respect.
	for _, field := range []string{"ReqNodeList", "ExcNodeList", "Dependency"} {
		if r[field] != "" {
			return app, fmt.Errorf("%s=%s cannot be honoured", field, r[field])
		}
	}
	var err error
	if app.Demand, err = demandOf(r); err != nil {
		return app, err
	}
	app.Requires, err = requirementsOf(r)
	return app, err
}

// signalName is the name of a signal as the guard takes it.
// Other signals end a process that does not expect them.
func signalName(text string) (string, error) {
	name := strings.TrimPrefix(text, "SIG")
	switch name {
	case "", "USR1", "USR2", "HUP":
		return name, nil
	}
	return "", errors.New("USR1, USR2 or HUP ask a job to save")
}

// demandOf is what one task of a job takes.
// CPUs count at least one. Memory is Slurm's by CPU or by node, whichever is set; of one that is set by
// node each task takes all, as the tasks that share a node are not known yet.
func demandOf(r record) (apportion.Resources, error) {
	cpu, err := r.number("CPUs/Task")
	if err != nil {
		return nil, err
	}
	cpu = max(cpu, 1)
	each, err := megabytes(r["MinMemoryCPU"])
	if err != nil {
		return nil, err
	}
	whole, err := megabytes(r["MinMemoryNode"])
	if err != nil {
		return nil, err
	}
	return apportion.Resources{cpu, max(each*cpu, whole), gpus(r["TresPerNode"]) + gpus(r["TresPerTask"])}, nil
}

// requirementsOf turns partition and features of a job into requirements on labels, see serverOf.
// Each becomes the existence of a label, which serverOf gives to the nodes that have it.
func requirementsOf(r record) ([]apportion.Requirement, error) {
	list := []apportion.Requirement{}
	if partition := r["Partition"]; strings.Contains(partition, ",") {
		return nil, fmt.Errorf("its partition is %s: one can be decided by", partition)
	} else if partition != "" {
		list = append(list, apportion.Requirement{Key: "partition:" + partition, Op: apportion.Exists})
	}
	if features := r["Features"]; strings.ContainsAny(features, "|[]()*") {
		return nil, fmt.Errorf("its features are %s: names with & between can be decided by", features)
	} else if features != "" {
		for feature := range strings.SplitSeq(features, "&") {
			list = append(list, apportion.Requirement{Key: "feature:" + feature, Op: apportion.Exists})
		}
	}
	return list, nil
}

// serverOf reads a node. own is what runs of elastic jobs have there.
// What others use is the node's use less the own one, never below zero: between two looks the own use may
// be counted before the node's. Capacity is what remains for elastic jobs.
func serverOf(r record, own apportion.Resources) (controller.Server, error) {
	s := controller.Server{Server: apportion.Server{ID: r["NodeName"], Labels: map[string]string{}}}
	// A state is a word with flags, such as IDLE+DRAIN or DOWN*, where the star says that slurmd does not
	// answer.
	state := r["State"]
	for _, word := range []string{"DOWN", "FAIL", "UNKNOWN", "POWERED_DOWN", "NOT_RESPONDING", "INVAL", "*"} {
		if strings.Contains(state, word) {
			s.Down = "Slurm calls it " + state
		}
	}
	s.Draining = strings.Contains(state, "DRAIN")
	for prefix, list := range map[string]string{"feature:": r["AvailableFeatures"], "partition:": r["Partitions"]} {
		for name := range strings.SplitSeq(list, ",") {
			if name != "" {
				s.Labels[prefix+name] = "yes"
			}
		}
	}
	total := make(apportion.Resources, len(kinds))
	used := make(apportion.Resources, len(kinds))
	for to, key := range map[*int64]string{&total[0]: "CPUTot", &total[1]: "RealMemory", &used[0]: "CPUAlloc", &used[1]: "AllocMem"} {
		n, err := r.number(key)
		if err != nil {
			return s, fmt.Errorf("node %s: %w", s.ID, err)
		}
		*to = n
	}
	// GPUs are not among the node's plain numbers; -d prints those in use.
	total[2], used[2] = gpus(r["Gres"]), gpus(r["GresUsed"])
	s.Capacity = total
	for k := range total {
		others := used[k]
		if own != nil {
			others -= own[k]
		}
		s.Capacity[k] = max(0, total[k]-max(0, others))
	}
	return s, nil
}

// Ended implements controller.Cluster: the held job is cancelled, as its user would do.
// The note comes first: a job that is cancelled without it might come back.
func (s *slurm) Ended(ctx context.Context, job string, _ checkpoint.Ending, _ string) error {
	if err := s.bury(job, time.Now()); err != nil {
		return err
	}
	return s.cancel(ctx, job[strings.LastIndex(job, ".")+1:])
}

// Forget implements controller.Cluster.
// It is called when the journal has recorded that the job is over, after which nobody asks for its notes.
func (s *slurm) Forget(_ context.Context, job string) error {
	if err := s.bury(job, time.Now()); err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.specs, job)
	delete(s.starts, job)
	s.mu.Unlock()
	return os.RemoveAll(s.notes(job))
}

// Running implements external.Cluster.
// It serves a dry run, which has no journal to read.
func (s *slurm) Running(ctx context.Context) (alloc.Allocation, error) {
	runs, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	running := alloc.Allocation{}
	for _, one := range runs {
		if !slices.Contains(alive, one.state) {
			continue
		}
		if running[one.job] == nil {
			running[one.job] = map[string]int64{}
		}
		running[one.job][one.node] += one.tasks
	}
	return running, nil
}
