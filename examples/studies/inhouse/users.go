// This file implements the subcommands for users: submit, list, explain, cancel, move, page, key.

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// callLimit bounds what the command line waits for the master.
const callLimit = 10 * time.Second

// question is what a user asks the programs of a place.
type question func(ctx context.Context, p cluster.Place, stdout io.Writer) error

// asking returns a subcommand that asks within callLimit what its flags say; use is how it is called.
func asking(use string, declare func(flags *flag.FlagSet) question) command.Run {
	return command.Of("inhouse "+use, func(flags *flag.FlagSet) command.Body {
		dir := cluster.Flag(flags, home)
		ask := declare(flags)
		return func(ctx context.Context, stdout, _ io.Writer) error {
			ctx, cancel := context.WithTimeout(ctx, callLimit)
			defer cancel()
			return ask(ctx, *dir, stdout)
		}
	})
}

// The job's command follows the flags; start and resume are the same.
func submit(flags *flag.FlagSet) question {
	app := alloc.Application{}
	flags.StringVar(&app.ID, "name", "", "name of the job")
	flags.Float64Var(&app.Weight, "weight", 1, "weight of the job")
	flags.Int64Var(&app.Min, "min", 1, "least number of containers")
	flags.Int64Var(&app.Max, "max", 1, "greatest number of containers")
	cluster.ResourcesFlag(flags, &app.Demand, "demand", "what a container takes, for instance 1,2")
	return func(ctx context.Context, p cluster.Place, _ io.Writer) error {
		if flags.NArg() == 0 {
			return command.Misused("the command is missing")
		}
		app.Start, app.Resume = flags.Args(), flags.Args()
		return p.Call(ctx, "/submit", app, &master.Nothing{})
	}
}

// A job that has ended stays in the list until it is forgotten.
func list(*flag.FlagSet) question {
	return func(ctx context.Context, p cluster.Place, stdout io.Writer) error {
		l, err := p.List(ctx)
		if err != nil {
			return err
		}
		return printList(stdout, &l)
	}
}

// printList prints a line for each job.
func printList(w io.Writer, l *master.List) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "job\tphase\tcontainers\tshare\tfair share\tstep\tsaved\twhy")
	for _, v := range l.Jobs {
		phase := string(v.Job.Phase)
		if v.Job.Ending != "" {
			phase = string(v.Job.Ending)
		}
		why := v.Waiting
		if v.Starts != "" {
			why += "; " + v.Starts
		}
		if v.Job.Reason.Constraint != "" {
			why = v.Job.Reason.Constraint + ": " + v.Job.Reason.Text
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%.3f\t%.3f\t%d\t%d\t%s\n", v.Job.Name, phase, strings.Join(v.Job.Containers, " "),
			v.Share.Actual, v.Share.Theoretical, v.Progress.Step, v.Checkpoint.Step, why)
	}
	return table.Flush()
}

// It is the explanation of the newest decision.
func explain(*flag.FlagSet) question {
	return func(ctx context.Context, p cluster.Place, stdout io.Writer) error {
		var text string
		if err := p.Call(ctx, "/explain", master.Nothing{}, &text); err != nil {
			return err
		}
		_, err := io.WriteString(stdout, text)
		return err
	}
}

// What the job has saved is kept.
func cancel(flags *flag.FlagSet) question {
	name := flags.String("name", "", "name of the job")
	return func(ctx context.Context, p cluster.Place, _ io.Writer) error {
		return p.Call(ctx, "/cancel", master.Name{Job: *name}, &master.Nothing{})
	}
}

// The next decision may move it again.
func move(flags *flag.FlagSet) question {
	name := flags.String("name", "", "name of the job")
	to := flags.String("to", "", "servers, one a container, with spaces between them; none: the job is suspended")
	return func(ctx context.Context, p cluster.Place, _ io.Writer) error {
		return p.Call(ctx, "/move", master.Move{Job: *name, Containers: strings.Fields(*to)}, &master.Nothing{})
	}
}

// The link opens the page without a password until tomorrow.
func page(*flag.FlagSet) question {
	return func(_ context.Context, p cluster.Place, stdout io.Writer) error {
		address, err := p.Page()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(stdout, address)
		return err
	}
}

// key prints the credential of an agent on another machine, or of a user: whoever has it is one.
func key(flags *flag.FlagSet) question {
	agent := flags.String("agent", "", "name of the agent's server")
	user := flags.String("user", "", "name of the user")
	return func(_ context.Context, p cluster.Place, stdout io.Writer) error {
		if (*agent == "") == (*user == "") {
			return command.Misused("either -agent or -user is needed")
		}
		party := wire.Party{Role: wire.Agent, Name: *agent}
		if *user != "" {
			party = wire.Party{Role: wire.User, Name: *user}
		}
		secret, err := p.Secret()
		if err != nil {
			return err
		}
		return json.NewEncoder(stdout).Encode(secret.Credential(party))
	}
}
