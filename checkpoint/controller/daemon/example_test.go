package daemon_test

import (
	"context"
	"log"
	"os"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/controller/controllertest"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
)

// A controller for a cluster manager is a Program and a Cluster, here one in memory. Its main function would call Main; with -dry-run
// it prints what it would decide.
func Example() {
	view := controller.View{
		Servers: []controller.Server{{Server: apportion.Server{ID: "n1", Capacity: apportion.Resources{4}}}},
		Jobs:    []controller.Job{{Application: alloc.Application{ID: "lr", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 8}}}},
	}
	program := daemon.Program{Name: "apportion-memory", Kinds: apportion.Kinds{"gpu"},
		Connect: func(int64, string, daemon.Guarded) (daemon.Cluster, error) {
			return controllertest.New(managedtest.New(func() *guard.Desk { return nil }, nil), view), nil
		}}
	if err := program.Run(context.Background(), []string{"-dry-run"}, os.Stdout, os.Stderr); err != nil {
		log.Fatal(err)
	}
	// Output:
	// JOB  HAS  GETS  WHERE  WHY
	// lr   0    4     n1:4   starts
	//
	// lr                 4 in [1, 8]  gain 0.25      price 0.2  no server has room. The server has no gpu free
	// gpu                0 unused     one more: 0.2  mean 0.2   worth most on n1
	// fairness budget                 one more: 0
	// adjustment budget               one more: 0
}
