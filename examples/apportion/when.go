//go:build !js

// This file implements "apportion when": when applications that wait start and end, and when they would without others.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/placement/sim/forecast"
)

// whenOptions are the flags of "when".
type whenOptions struct {
	// without are the applications that are left out, each for itself, and known is a path.
	without []string
	known   string
	// now is the instant of the problem, for clock times; zero: times are counted from it.
	now                time.Time
	horizon            time.Duration
	replays, decisions int
	seed               uint64
}

func (c *command) whenFlags() {
	o := &c.when
	c.StringVar(&c.job, "job", "", "the `application` that is asked about; empty: all that wait")
	c.Func("without", "an `application` without which it is asked again; may be given more than once", func(id string) error {
		o.without = append(o.without, id)
		return nil
	})
	c.StringVar(&o.known, "known", "", "`file` with what is known of lengths beside ends: \"known\" by application, and \"runs\" that have ended")
	c.Func("now", "the `instant` of the problem, as 2006-01-02T15:04:05Z, or now: the table has clock times", func(text string) (err error) {
		if text == "now" {
			o.now = time.Now()
			return nil
		}
		o.now, err = time.Parse(time.RFC3339, text)
		return err
	})
	c.DurationVar(&o.horizon, "horizon", 7*24*time.Hour, "how far the replays look")
	c.IntVar(&o.replays, "replays", 32, "how `many` replays there are")
	c.IntVar(&o.decisions, "decisions", 0, "how `many` decisions a replay takes at most; 0: as many as change anything")
	c.Uint64Var(&o.seed, "seed", 0, "chooses the random numbers")
}

// replays are what a forecast is asked with.
type replays = forecast.Options

// knowledge is the file of -known.
type knowledge struct {
	Known []forecast.Known `json:"known,omitempty"`
	Runs  []forecast.Run   `json:"runs,omitempty"`
}

// whenOutput is the output of "when".
type whenOutput struct {
	*forecast.Forecast
	// Without has, for each application that was left out, when the others start then.
	Without []withoutOutput `json:"without,omitzero"`

	now time.Time
}

// withoutOutput is a forecast without one application.
type withoutOutput struct {
	ID   string           `json:"id"`
	Jobs []forecast.Times `json:"jobs"`
}

// answerWhen reads a problem and forecasts.
func answerWhen(ctx context.Context, c *command) error {
	p, err := c.readAsked()
	if err != nil {
		return err
	}
	k := &knowledge{}
	if c.when.known != "" {
		file, err := os.Open(c.when.known)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := strictjson.Decode(file, k, nil); err != nil {
			return err
		}
	}
	out, err := c.when.answer(ctx, p, c.job, k)
	if err != nil {
		return err
	}
	return c.present(out)
}

// answer forecasts, and once more without each of those that are to be left out.
func (o *whenOptions) answer(ctx context.Context, p *alloc.Problem, job string, k *knowledge) (*whenOutput, error) {
	options := &replays{Replays: o.replays, Horizon: o.horizon.Seconds(), Decisions: o.decisions, Seed: o.seed}
	if job != "" {
		options.Asked = []string{job}
	}
	if len(k.Runs) > 0 {
		history, err := forecast.NewHistory(k.Runs, nil)
		if err != nil {
			return nil, err
		}
		options.History = history
	}
	f, err := forecast.New(ctx, p, k.Known, options)
	if err != nil {
		return nil, err
	}
	out := &whenOutput{Forecast: f, now: o.now}
	if f.Reason.Constraint != "" {
		return out, nil
	}
	for _, left := range o.without {
		if left == job {
			return nil, fmt.Errorf("%w: when %s starts without itself", errUsage, left)
		}
		other, err := p.After([]alloc.Change{{End: &left}}, "")
		if err != nil {
			return nil, err
		}
		var known []forecast.Known
		for _, of := range k.Known {
			if of.ID != left {
				known = append(known, of)
			}
		}
		f, err := forecast.New(ctx, other, known, options)
		if err != nil {
			return nil, err
		}
		out.Without = append(out.Without, withoutOutput{left, f.Jobs})
	}
	return out, nil
}

// starts says when an application that waits starts, from now on; empty: nothing is known of lengths, or the time was too short.
func starts(ctx context.Context, p *alloc.Problem, job string) (string, error) {
	f, err := forecast.New(ctx, p, nil, &replays{Asked: []string{job}, StartsOnly: true, Replays: 12})
	if ctx.Err() != nil {
		return "", nil
	}
	if err != nil || len(f.Jobs) == 0 {
		return "", err
	}
	return forecast.Clock{Horizon: f.Horizon}.Between(f.Jobs[0].Start), nil
}

// print writes a sentence for each application.
func (o *whenOutput) print(out io.Writer) error {
	if o.Reason.Constraint != "" {
		_, err := fmt.Fprintln(out, o.Reason.Text)
		return err
	}
	if len(o.Jobs) == 0 {
		_, err := fmt.Fprintln(out, "nothing waits")
		return err
	}
	w, clock := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), forecast.Clock{Now: o.now, Horizon: o.Horizon}
	for i := range o.Jobs {
		fmt.Fprintf(w, "%s\tstarts %s\tends %s\n", o.Jobs[i].ID, clock.Between(o.Jobs[i].Start), clock.Between(o.Jobs[i].End))
		for _, without := range o.Without {
			for _, times := range without.Jobs {
				if times.ID == o.Jobs[i].ID {
					fmt.Fprintf(w, "\twithout %s it would be %s\n", without.ID, clock.At(times.Start.P50))
				}
			}
		}
	}
	if len(o.Unknown) > 0 {
		fmt.Fprintf(w, "\nnothing is known of how long these run: %s\n", strings.Join(o.Unknown, ", "))
	}
	return w.Flush()
}
