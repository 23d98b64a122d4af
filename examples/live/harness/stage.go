// This file plays jobs on a cluster of processes.

package harness

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
)

// Stage is a stream of jobs and the cluster that they are played on.
// Run may be called once.
type Stage struct {
	Place   cluster.Place
	Servers []apportion.Server
	Jobs    []Job
	// Master are the arguments of the subcommand master, beside the place; they choose the policy.
	// Agent are those of every agent, beside place, name and capacity.
	Master, Agent []string
	// By returns what runs a server's agent, for instance taskset; nil: nothing does.
	By     func(server string) []string
	Stdout io.Writer
	// Each is called at every sample; nil: nothing is.
	Each func(*cluster.Play, *cluster.Sample) error
}

func (s *Stage) programs() []cluster.Program {
	all := cluster.Programs(s.Place, s.Servers, s.Master, s.Agent)
	for i := range s.Servers {
		if s.By != nil {
			all[i+1].By = s.By(s.Servers[i].ID) // the first one is the master
		}
	}
	return all
}

// Run plays the jobs until all have ended. The place is empty, or has nothing but a folder for the store.
// Whatever it has started is dead when it returns.
func (s *Stage) Run(ctx context.Context) (_ *Record, err error) {
	kit, err := NewKit(s.Place.Join("trainers"))
	if err != nil {
		return nil, err
	}
	play := &cluster.Play{Stdout: s.Stdout}
	for i := range s.Jobs {
		arrival, err := s.Jobs[i].arrival(kit)
		if err != nil {
			return nil, err
		}
		play.Arrivals = append(play.Arrivals, arrival)
	}
	if play.Cluster, err = cluster.Start(s.Place, s.programs()); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, play.Cluster.Stop()) }()
	if err := play.Cluster.Await(ctx, s.Servers); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, play.Cluster.Log("master"))
	}
	if s.Each != nil {
		play.Each = func(sample *cluster.Sample) error { return s.Each(play, sample) }
	}
	if err := play.Run(ctx); err != nil {
		return nil, fmt.Errorf("%w\nmaster: %s", err, play.Cluster.Log("master"))
	}
	r := &Record{Place: s.Place, Jobs: s.Jobs, Servers: s.Servers, Began: play.Began, Samples: play.Samples, kit: kit}
	return r, r.read()
}
