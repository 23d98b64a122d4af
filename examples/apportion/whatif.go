// This file implements "apportion what-if": the decision beside that of a changed problem, and who has more or less for it.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

// supposition is one thing that is otherwise in a problem.
type supposition struct {
	text  string // in words
	apply func(p *alloc.Problem) error
}

// whatIfOutput is the output of "what-if".
type whatIfOutput struct {
	Changes []string `json:"changes"`
	Now     outlook  `json:"now"`
	Then    outlook  `json:"then"`
	// Applications are those that have other containers then, in the order of the problem, those that arrive last.
	Applications []effect `json:"applications"`
}

// outlook is a decision in a few numbers.
type outlook struct {
	Objective    float64  `json:"objective"`
	Bound        *float64 `json:"bound,omitempty"`
	FairnessLoss float64  `json:"fairness_loss"`
	Adjusted     int      `json:"adjusted"`
	Waiting      int      `json:"waiting"`
}

// effect is what a supposition does to one application: how many containers it has, nil where it is not there, and whether it is restarted.
type effect struct {
	ID       string `json:"id"`
	Now      *int64 `json:"now,omitempty"`
	Then     *int64 `json:"then,omitempty"`
	Restarts bool   `json:"restarts,omitempty"`
	// Text says why it has nothing then.
	Text string `json:"text,omitempty"`
}

// answerWhatIf decides twice from the same allocation.
func answerWhatIf(ctx context.Context, c *command) error {
	problem, err := readProblem(c.in)
	if err != nil {
		return err
	}
	if len(c.changes) == 0 {
		return fmt.Errorf("%w: nothing changes; try: apportion what-if -h", errUsage)
	}
	ctx, cancel := c.limited(ctx)
	defer cancel()
	now, err := alloc.Reallocate(ctx, problem, c.decider())
	if err != nil {
		return err
	}
	changed, out := *problem, whatIfOutput{Now: outlookOf(now)}
	for _, ch := range c.changes {
		if err := ch.apply(&changed); err != nil {
			return err
		}
		out.Changes = append(out.Changes, ch.text)
	}
	then, err := alloc.Reallocate(ctx, &changed, c.decider())
	if err != nil {
		return err
	}
	out.Then, out.Applications = outlookOf(then), effects(now, then)
	if c.table {
		return out.print(c.out)
	}
	return c.write(out)
}

func outlookOf(d *alloc.Decision) outlook {
	o := outlook{Objective: d.Objective, FairnessLoss: d.Metrics.FairnessLoss, Adjusted: d.Metrics.Adjusted, Waiting: len(d.Waiting) + len(d.Suspended)}
	if d.Status == alloc.Decided {
		o.Bound = finite(d.Bound)
	}
	return o
}

// effects compares two decisions that begin with the same allocation.
func effects(now, then *alloc.Decision) []effect {
	before := make(map[string]int64, len(now.Shares))
	for _, s := range now.Shares {
		before[s.ID] = s.Containers
	}
	why := make(map[string]string)
	for _, w := range slices.Concat(then.Waiting, then.Suspended) {
		why[w.ID] = w.Reason.Text
	}
	list, there := []effect{}, make(map[string]bool, len(then.Shares))
	for _, s := range then.Shares {
		there[s.ID] = true
		e := effect{ID: s.ID, Then: &s.Containers, Restarts: s.Adjusted, Text: why[s.ID]}
		if n, known := before[s.ID]; known {
			e.Now = &n
		}
		if e.Now == nil || *e.Now != s.Containers {
			list = append(list, e)
		}
	}
	for _, s := range now.Shares {
		if !there[s.ID] {
			list = append(list, effect{ID: s.ID, Now: &s.Containers})
		}
	}
	return list
}

// print writes the output as a table.
func (o *whatIfOutput) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "if %s\n\n", strings.Join(o.Changes, ", "))
	fmt.Fprintln(w, "\tnow\tthen")
	fmt.Fprintf(w, "objective\t%.4g\t%.4g\n", o.Now.Objective, o.Then.Objective)
	fmt.Fprintf(w, "fairness loss\t%.4g\t%.4g\n", o.Now.FairnessLoss, o.Then.FairnessLoss)
	fmt.Fprintf(w, "restarted\t%d\t%d\n", o.Now.Adjusted, o.Then.Adjusted)
	fmt.Fprintf(w, "waiting\t%d\t%d\n", o.Now.Waiting, o.Then.Waiting)
	for _, e := range o.Applications {
		restarts := ""
		if e.Restarts {
			restarts = "restarts"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\n", e.ID, amount(e.Now), amount(e.Then), restarts, e.Text)
	}
	return w.Flush()
}

// amount writes a number of containers that may not be there.
func amount(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// changeFlags declares the changes of "what-if", in the order in which they are given.
func (c *command) changeFlags() {
	add := func(name, usage, words string, apply func(p *alloc.Problem, value string) error) {
		c.Func(name, usage, func(value string) error {
			c.changes = append(c.changes, supposition{words + value, func(p *alloc.Problem) error { return apply(p, value) }})
			return nil
		})
	}
	add("lose", "a `server` is gone", "server lost: ", func(p *alloc.Problem, id string) error {
		return without(&p.Servers, id, "server", func(s *apportion.Server) string { return s.ID })
	})
	add("end", "an `application` has ended", "ended: ", func(p *alloc.Problem, id string) error {
		return without(&p.Applications, id, "application", func(a *alloc.Application) string { return a.ID })
	})
	add("drain", "a `server` is cordoned, and who can leaves it", "drained: ", func(p *alloc.Problem, id string) error {
		p.Servers = slices.Clone(p.Servers)
		at := slices.IndexFunc(p.Servers, func(s apportion.Server) bool { return s.ID == id })
		if at < 0 {
			return unknown("server", id)
		}
		p.Servers[at].Cordoned = true
		return nil
	})
	add("arrive", "the application in a `file` arrives", "arrives: ", arrive)
	add("set", "a setting `is` otherwise: theta1=0.3, theta2=0.5, preempt=true", "set: ", set)
}

// without takes the one with this name out of a list.
func without[T any](list *[]T, id, kind string, name func(*T) string) error {
	at := slices.IndexFunc(*list, func(x T) bool { return name(&x) == id })
	if at < 0 {
		return unknown(kind, id)
	}
	*list = slices.Delete(slices.Clone(*list), at, at+1)
	return nil
}

// unknown is the fault of a name that the problem does not have.
func unknown(kind, id string) error {
	return &apportion.FieldError{Item: apportion.Item{Kind: kind, ID: id}, Field: "id", Err: apportion.ErrUnknown}
}

// arrive adds the application in a file, as it stands in a problem.
func arrive(p *alloc.Problem, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var a alloc.Application
	if err := strictjson.Decode(file, &a, &strictjson.Options{Kinds: func() apportion.Kinds { return p.Kinds }}); err != nil {
		return err
	}
	p.Applications = append(slices.Clone(p.Applications), a)
	return nil
}

// set changes one setting.
func set(p *alloc.Problem, text string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "theta1":
		p.Theta1, err = strconv.ParseFloat(value, 64)
	case "theta2":
		p.Theta2, err = strconv.ParseFloat(value, 64)
	case "preempt":
		p.Options.Preempt, err = strconv.ParseBool(value)
	default:
		err = fmt.Errorf("no setting %q: theta1, theta2, preempt", name)
	}
	if err != nil {
		return fmt.Errorf("%w: -set %s: %w", errUsage, text, err)
	}
	return nil
}

// tableFlag declares -table.
func (c *command) tableFlag() {
	c.BoolVar(&c.table, "table", false, "a table to read, in place of JSON")
}
