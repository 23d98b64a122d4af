// This file tests what a decision is taken on: the protocol's word for what is there, and the cluster's for what is wished.

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

func host(id string, change func(*Server)) Server {
	s := Server{Server: apportion.Server{ID: id, Capacity: apportion.Resources{9}}}
	change(&s)
	return s
}

// A server has what it had when it was let in, or less where others have taken something since, takes nothing new for any one reason to keep off it, and has the labels of the
// newest look.
func TestServersOfProblem(t *testing.T) {
	view := &View{Servers: []Server{
		host("fine", func(s *Server) { s.Labels = map[string]string{"rack": "r1"} }),
		host("cordoned", func(s *Server) { s.Cordoned = true }),
		host("down", func(s *Server) { s.Down = "no heartbeat" }),
		host("draining", func(s *Server) { s.Draining = true }),
		host("silent", func(*Server) {}),
		host("failing", func(*Server) {}),
		host("new", func(*Server) {}),
		host("taken", func(s *Server) { s.Capacity = apportion.Resources{3} }),
	}}
	state := &driver.State{Silent: []string{"silent"}}
	for _, id := range []string{"cordoned", "down", "draining", "failing", "fine", "gone", "silent", "taken"} {
		// The protocol keeps off one of them by itself, since what it was told has failed there.
		state.Servers = append(state.Servers, apportion.Server{ID: id, Capacity: apportion.Resources{4}, Cordoned: id == "failing"})
	}
	c := &Controller{config: Config{Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Servers: []apportion.Server{{ID: "of the caller"}}}}}
	p, _ := c.problem(view, state)
	var got []string
	for _, s := range p.Servers {
		got = append(got, fmt.Sprint(s.ID, " ", s.Capacity, " ", s.Cordoned, " ", s.Labels["rack"]))
	}
	want := []string{"cordoned [4] true ", "down [4] true ", "draining [4] true ", "failing [4] true ", "fine [4] false r1", "gone [4] true ", "silent [4] true ", "taken [3] false "}
	must.Equal(t, cmp.Diff(want, got), "")
	must.Equal(t, len(c.config.Problem.Servers), 1, "the caller's servers were changed", c.config.Problem.Servers)
}

// A job asks for what the newest look says, and takes what its containers took when they were made. Whoever has ended, is
// ending, or is not known to the protocol has no part; whoever cannot be understood any more keeps what it has.
func TestJobsOfProblem(t *testing.T) {
	app := func(id string, most int64) Job {
		return Job{Application: alloc.Application{ID: id, Weight: 2, Form: alloc.Form{Demand: apportion.Resources{7}, Min: 1, Max: most}}}
	}
	view := &View{Jobs: []Job{app("runs", 5), app("new", 5), app("over", 5), app("cut off", 5), app("moves", 5)},
		Queues: []drf.Queue{{ID: "theirs", Weight: 1}}}
	job := func(name string, change func(*checkpoint.Job)) checkpoint.Job {
		j := checkpoint.Job{Name: name, Demand: apportion.Resources{1}, Phase: checkpoint.Running, Containers: []string{"n1", "n1"}, Target: []string{"n1", "n1"}}
		change(&j)
		return j
	}
	state := &driver.State{Servers: []apportion.Server{{ID: "n1", Capacity: apportion.Resources{8}}, {ID: "n2", Capacity: apportion.Resources{8}}}, Silent: []string{"n2"},
		Jobs: []checkpoint.Job{
			job("cut off", func(j *checkpoint.Job) { j.Containers, j.Target = []string{"n1", "n2"}, []string{"n1", "n2"} }),
			job("ending", func(j *checkpoint.Job) { j.Ending = checkpoint.Cancelled }),
			job("gone and waits", func(j *checkpoint.Job) { j.Phase, j.Containers, j.Target = checkpoint.Idle, nil, nil }),
			job("moves", func(j *checkpoint.Job) { j.Order, j.Wanted = 3, []string{"n1", "n1", "n1"} }),
			job("odd", func(*checkpoint.Job) {}),
			job("over", func(j *checkpoint.Job) { j.Phase, j.Ending = checkpoint.Ended, checkpoint.Completed }),
			job("runs", func(*checkpoint.Job) {}),
		}}
	c := &Controller{config: Config{Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Queues: []drf.Queue{{ID: "ours", Weight: 1}}}}}
	p, _ := c.problem(view, state)
	var got []string
	for _, a := range p.Applications {
		got = append(got, fmt.Sprint(a.ID, " ", a.Demand, " weighs ", a.Weight, ", ", a.Min, " to ", a.Max, ", pinned ", a.Pinned, ", has ", p.Previous[a.ID]))
	}
	want := []string{
		"runs [1] weighs 2, 1 to 5, pinned false, has map[n1:2]",
		"cut off [1] weighs 2, 1 to 5, pinned true, has map[n1:1 n2:1]",
		"moves [1] weighs 2, 1 to 5, pinned false, has map[n1:3]",
		"odd [1] weighs 1, 2 to 2, pinned true, has map[n1:2]",
	}
	must.Equal(t, cmp.Diff(want, got), "")
	if len(p.Queues) != 2 || p.Queues[0].ID != "ours" || p.Queues[1].ID != "theirs" || len(c.config.Problem.Queues) != 1 {
		t.Errorf("%v, and the caller's are %v", p.Queues, c.config.Problem.Queues)
	}
}

// fixed is a cluster that looks always the same.
type fixed struct {
	Cluster
	view View
}

func (f fixed) Look(context.Context) (*View, error) {
	view := f.view
	return &view, nil
}

// By the manager's word alone a server that is down has room for nothing and one that is drained takes nothing new. What is in
// the way of a decision is an error that names it.
func TestProblemWithoutProtocol(t *testing.T) {
	cluster := fixed{view: View{Servers: []Server{
		host("fine", func(*Server) {}), host("down", func(s *Server) { s.Down = "gone" }),
		host("draining", func(s *Server) { s.Draining = true }), host("cordoned", func(s *Server) { s.Cordoned = true }),
	}, Queues: []drf.Queue{{ID: "q", Weight: 1}}}}
	config := Config{Cluster: cluster, Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}}}
	has := alloc.Allocation{"a": {"down": 2}}
	p, _, err := problemOf(t.Context(), config, func(context.Context) (alloc.Allocation, error) { return has, nil }, func(*View) {})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Servers {
		got = append(got, fmt.Sprint(s.ID, " ", s.Capacity, " ", s.Cordoned))
	}
	must.Equal(t, cmp.Diff([]string{"fine [9] false", "down [0] false", "draining [9] true", "cordoned [9] true"}, got), "")
	if diff := cmp.Diff(has, p.Previous); diff != "" || len(p.Queues) != 1 {
		t.Errorf("%v, (-want +got)\n%s", p.Queues, diff)
	}
	must.Equal(t, cluster.view.Servers[1].Capacity[0], 9, "the manager's own list was changed")
	secret := errors.New("no such file")
	if _, _, err := problemOf(t.Context(), config, func(context.Context) (alloc.Allocation, error) { return nil, secret }, func(*View) {}); !errors.Is(err, secret) || !strings.Contains(err.Error(), "what runs cannot be seen") {
		t.Error(err)
	}
	// Plan hands on the error of the decision with the problem it was about.
	config.Decide = func(context.Context, *alloc.Problem) (*alloc.Decision, error) { return nil, secret }
	if p, d, err := Plan(t.Context(), config, has); p == nil || d != nil || !errors.Is(err, secret) {
		t.Errorf("%v, %v, %v", p, d, err)
	}
}

// onSilent looks at every container, and at no other server's.
func TestOnSilent(t *testing.T) {
	for _, c := range []struct {
		on, silent []string
		want       bool
	}{
		{nil, nil, false}, {[]string{"n1"}, nil, false}, {nil, []string{"n1"}, false},
		{[]string{"n1", "n2"}, []string{"n2"}, true}, {[]string{"n1", "n3"}, []string{"n2", "n4"}, false},
	} {
		must.Equal(t, onSilent(&checkpoint.Job{Containers: c.on}, c.silent), c.want, c.on, c.silent, "silent")
	}
}

// The levels of the topology are the controller's, and a job that asks for another one is rejected alone.
func TestTopologyOfProblem(t *testing.T) {
	like := alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Topology: []string{"zone", "rack"}}
	job := func(id, within string) Job {
		return Job{Application: alloc.Application{ID: id, Weight: 1, Within: within, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 1}}}
	}
	view := &View{Jobs: []Job{job("a", "rack"), job("b", "row")}}
	sift(view, &like)
	if len(view.Jobs) != 1 || view.Jobs[0].Application.ID != "a" || !strings.Contains(view.Rejected["b"], `"row" is no level`) {
		t.Errorf("%v, rejected %v", view.Jobs, view.Rejected)
	}
	c := &Controller{config: Config{Problem: like}}
	if p, _ := c.problem(view, &driver.State{}); !slices.Equal(p.Topology, like.Topology) {
		t.Errorf("levels %v", p.Topology)
	}
}
