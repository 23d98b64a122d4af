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

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

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

// answerWhatIf reads a problem, or a record, and compares.
func answerWhatIf(ctx context.Context, c *command) error {
	problem, err := c.readAsked()
	if err != nil {
		return err
	}
	if len(c.changes) == 0 {
		return fmt.Errorf("%w: nothing changes; try: apportion what-if -h", errUsage)
	}
	ctx, cancel := c.limited(ctx)
	defer cancel()
	changes := make([]alloc.Change, len(c.changes))
	for n, read := range c.changes {
		if changes[n], err = read(); err != nil {
			return err
		}
	}
	out, err := whatIf(ctx, problem, changes, "", c.decider)
	if err != nil {
		return err
	}
	return c.present(out)
}

// whatIf decides twice from the same allocation; field is where the changes stand in the input.
func whatIf(ctx context.Context, p *alloc.Problem, changes []alloc.Change, field string, by func() solver.Solver) (*whatIfOutput, error) {
	now, err := alloc.Reallocate(ctx, p, by())
	if err != nil {
		return nil, err
	}
	out := &whatIfOutput{Now: outlookOf(now)}
	changed, err := p.After(changes, field)
	if err != nil {
		return nil, err
	}
	for n := range changes {
		out.Changes = append(out.Changes, textOfChange(&changes[n]))
	}
	then, err := alloc.Reallocate(ctx, changed, by())
	if err != nil {
		return nil, err
	}
	out.Then, out.Applications = outlookOf(then), effects(now, then)
	return out, nil
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
	add := func(name, usage string, read func(value string) (alloc.Change, error)) {
		c.Func(name, usage, func(value string) error {
			c.changes = append(c.changes, func() (alloc.Change, error) { return read(value) })
			return nil
		})
	}
	named := func(name, usage string, of func(*string) alloc.Change) {
		add(name, usage, func(value string) (alloc.Change, error) { return of(&value), nil })
	}
	named("lose", "a `server` is gone", func(name *string) alloc.Change { return alloc.Change{Lose: name} })
	named("end", "an `application` has ended", func(name *string) alloc.Change { return alloc.Change{End: name} })
	named("drain", "a `server` is cordoned, and who can leaves it", func(name *string) alloc.Change { return alloc.Change{Cordon: name} })
	add("arrive", "the application in a `file` arrives", func(path string) (alloc.Change, error) {
		a, err := readApplication(path)
		return alloc.Change{Arrive: a}, err
	})
	add("set", "a setting `is` otherwise: theta1=0.3, theta2=0.5, preempt=true", func(text string) (alloc.Change, error) {
		s, err := readSetting(text)
		return alloc.Change{Set: s}, err
	})
}

// readApplication reads an application as it stands in a problem. Its quantities are held against the kinds of the problem later.
func readApplication(path string) (*alloc.Application, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	a := &alloc.Application{}
	return a, strictjson.Decode(file, a, nil)
}

// readSetting reads theta1=0.3.
func readSetting(text string) (s *alloc.Settings, err error) {
	s = &alloc.Settings{}
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "theta1":
		s.Theta1 = new(float64)
		*s.Theta1, err = strconv.ParseFloat(value, 64)
	case "theta2":
		s.Theta2 = new(float64)
		*s.Theta2, err = strconv.ParseFloat(value, 64)
	case "preempt":
		s.Preempt = new(bool)
		*s.Preempt, err = strconv.ParseBool(value)
	default:
		err = fmt.Errorf("no setting %q: theta1, theta2, preempt", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: -set %s: %w", errUsage, text, err)
	}
	return s, nil
}
