// This file shows a scheduler of one's own: alloc decides, checkpoint carries out, agents in memory run jobs.

package driver_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/vfstest"
)

// decide has a decision on what runs now carried out. Its body is a sample of the README.
func decide(ctx context.Context, d *driver.Driver, applications []alloc.Application) error {
	now := d.State()
	problem := &alloc.Problem{
		Kinds: apportion.Kinds{"gpu"}, Servers: now.Servers, Applications: applications,
		Previous: bridge.Previous(now.Jobs, now.Servers), Theta1: 0.5, Theta2: 0.5,
	}
	decision, err := alloc.Reallocate(ctx, problem, nil)
	if err != nil {
		return err
	}
	adjust, err := bridge.Targets(problem, decision.Allocation, now.Jobs)
	if err != nil {
		return err
	}
	return d.Apply(ctx, adjust)
}

func Example() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	checkpoints := &storetest.MemStore{} // files.Open in earnest, and vfs.NewOS for the journal
	machine, records, err := journal.Open(vfstest.NewMem(), checkpoint.Config{Kinds: apportion.Kinds{"gpu"}})
	check(err)
	d, err := driver.New(machine, records, driver.Config{Store: checkpoints, Grace: time.Minute}, nil)
	check(err)
	go func() { check(d.Run(ctx)) }()
	for _, id := range []string{"s1", "s2"} {
		a := &agenttest.Server{ID: id, Store: checkpoints} // agent.New in earnest
		check(d.Join(ctx, apportion.Server{ID: id, Capacity: apportion.Resources{4}}, a))
	}
	var applications []alloc.Application
	for _, id := range []string{"lstm", "resnet", "vae"} {
		applications = append(applications, alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 8}})
		submit, err := bridge.Submit(&applications[len(applications)-1])
		check(err)
		check(d.Apply(ctx, submit))
		check(decide(ctx, d, applications))
		rested, err := d.Await(ctx, func(s *driver.State) bool {
			return !slices.ContainsFunc(s.Jobs, func(j checkpoint.Job) bool { return j.Phase != checkpoint.Running || j.Order != 0 })
		})
		check(err)
		held := map[string]int{}
		for _, j := range rested.Jobs {
			held[j.Name] = len(j.Containers)
		}
		fmt.Println(held)
	}
	// Output:
	// map[lstm:8]
	// map[lstm:4 resnet:4]
	// map[lstm:2 resnet:4 vae:2]
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
