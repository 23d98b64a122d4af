// This file compares what can be certified: the embedded solver's bound beside the linear relaxation, and its time to
// proof beside that of HiGHS, both of the disjunctive form, [Dorm (6)-(18)].

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/studies/command"
)

// certificate is what is known about one instance.
// relaxed and other may be missing, and own never is.
type certificate struct {
	alloctest.Reference
	// relaxed is the optimum of the linear relaxation, NaN without OR-Tools.
	relaxed float64
	// own is the answer at the usual effort; proof is the time of that if it is proven, else to the end of a search with
	// the effort for a proof, never where that was cut off.
	own   point
	proof time.Duration
	// other is what HiGHS had in the end, or failed is why it has nothing.
	other  point
	failed error
}

// errNotRecorded is why HiGHS has nothing where -solvers leaves it out.
var errNotRecorded = errors.New("no answer is recorded")

// recorded returns what the instance says that HiGHS did once, with two threads.
// The time is that of another machine, and of two threads together.
func recorded(ref alloctest.Reference) (point, error) {
	if ref.Bound == 0 || ref.Relaxed {
		return point{}, errNotRecorded
	}
	p := point{after: time.Duration(ref.Seconds * float64(time.Second)), objective: ref.Objective, bound: ref.Bound}
	p.proven = p.gap() <= provenGap
	return p, nil
}

// above returns by how much of the relaxation the embedded solver's bound is above it, NaN without one.
// Both are upper bounds, and a negative number says that the embedded solver's is the better one.
func (c *certificate) above() float64 {
	return (c.own.bound - c.relaxed) / math.Abs(c.relaxed)
}

// runCertificates prints a line for each instance when it is done, and what they come to.
// An interrupt leaves the lines that are there, and their sums.
func (o *options) runCertificates(ctx context.Context, stdout, stderr io.Writer) error {
	references, err := o.references()
	if err != nil {
		return err
	}
	slices.SortStableFunc(references, func(a, b alloctest.Reference) int { return cmp.Compare(size(a.Instance), size(b.Instance)) })
	tick := command.Progress(stderr, len(references), "solving")
	certificateHead(stdout, o.limit)
	var all []*certificate
	for _, ref := range references {
		c, err := o.certify(ctx, ref)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		all = append(all, c)
		c.report(stdout, o.limit)
		tick()
	}
	reportAims(stdout, all)
	return ctx.Err()
}

// size is the number of pairs of application and server.
func size(inst *solver.Instance) int { return len(inst.Apps) * len(inst.Capacity) }

// certify has all of them work on one instance.
// A solver that is not there leaves its columns empty; anything else that goes wrong is an error.
func (o *options) certify(ctx context.Context, ref alloctest.Reference) (*certificate, error) {
	c := &certificate{Reference: ref, relaxed: math.NaN(), proof: never}
	var err error
	if c.own, err = o.solve(ctx, ref.Instance, embedded.Default); err != nil {
		return nil, err
	}
	proof := c.own
	if !proof.proven {
		if proof, err = o.solve(ctx, ref.Instance, embedded.Prove); err != nil {
			return nil, err
		}
	}
	if proof.proven {
		c.proof = proof.after
	}
	relaxed, err := relax(ctx, ref.Instance)
	absent := errors.Is(err, ortools.ErrUnavailable)
	switch {
	case err == nil:
		c.relaxed = relaxed
	case !absent:
		return nil, err
	}
	if !slices.ContainsFunc(o.solvers, func(b backend.Backend) bool { return b.Name == backend.HiGHS }) {
		// What is on record needs no library.
		c.other, c.failed = recorded(ref)
		return c, nil
	}
	if absent {
		c.failed = err
		return c, nil
	}
	one := search{ref.Instance, ortools.HiGHS{}, mip.Disjunctive, o.limit, 1, 0}
	start := processorTime()
	c.other, c.failed = one.once(ctx, o.limit, nil)
	c.other.after = processorTime() - start
	return c, nil
}

// solve is the embedded solver at one effort; the time is that of the processor.
// Processor time is fair to a solver of one thread on a machine that is busy.
func (o *options) solve(ctx context.Context, inst *solver.Instance, effort embedded.Effort) (point, error) {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	start := processorTime()
	sol, err := embedded.New(&embedded.Options{Effort: effort}).Solve(ctx, inst)
	if err != nil {
		return point{}, err
	}
	return pointOf(sol, processorTime()-start), nil
}

// relax returns the optimum of the disjunctive form with all variables continuous.
// An answer that is not optimal is no bound, and NaN.
func relax(ctx context.Context, inst *solver.Instance) (float64, error) {
	form, err := mip.Build(inst, mip.Disjunctive)
	if err != nil {
		return 0, err
	}
	model, err := continuous(form.MILP)
	if err != nil {
		return 0, err
	}
	answer, err := milp.Solve(ctx, ortools.GLOP{}, model, nil)
	if err != nil {
		return 0, err
	}
	if answer.Status != milp.Optimal {
		return math.NaN(), nil
	}
	return answer.Objective, nil
}

// continuous returns a maximization without its integrality.
// Rows stay as they are; bounds of variables too.
func continuous(model *milp.Model) (*milp.Model, error) {
	b := milp.NewBuilder("")
	vars, costs := make([]milp.Var, model.Variables()), make([]milp.Term, 0, model.Variables())
	for j := range vars {
		v := model.Variable(j)
		vars[j] = b.Continuous(v.Lower, v.Upper, "")
		costs = append(costs, milp.Term{Var: vars[j], Coef: v.Cost})
	}
	var terms []milp.Term
	for i := range model.Rows() {
		row := model.Row(i)
		terms = terms[:0]
		for k, j := range row.Columns {
			terms = append(terms, milp.Term{Var: vars[j], Coef: row.Coefs[k]})
		}
		b.Row("", row.Lower, terms, row.Upper)
	}
	b.Maximize(costs, model.Constant())
	return b.Build()
}

// certificateRow has the widths of the table, whose lines are printed one by one.
// A table whose width is known beforehand can be printed line by line.
const certificateRow = "%-24s %11s %8s %8s %16s %8s   %11s %8s %8s\n"

// certificateHead says what the numbers are.
func certificateHead(w io.Writer, limit time.Duration) {
	fmt.Fprintf(w, "Seconds are those of one processor, in at most %s: of the embedded solver at its usual effort, then to its proof,\n"+
		"with more effort where it takes more, and to that of HiGHS on the disjunctive form, whose relaxation bounds stand beside;\n"+
		"without HiGHS among the -solvers its column is what the instance has on record, of two threads.\n\n", limit)
	fmt.Fprintf(w, certificateRow, "", "embedded", "", "", "bound above", "", "HiGHS", "", "")
	fmt.Fprintf(w, certificateRow, "instance", "utilization", "seconds", "gap", "relaxation", "proof", "utilization", "gap", "proof")
}

// proofOfOther returns when HiGHS had a proof, or never.
func (c *certificate) proofOfOther() time.Duration {
	if c.failed == nil && c.other.proven {
		return c.other.after
	}
	return never
}

// report prints the line of one instance.
// A dash is what nobody knows.
func (c *certificate) report(w io.Writer, limit time.Duration) {
	found, gap, proof := noNumber, noNumber, noNumber
	if c.failed == nil {
		found, gap, proof = number(c.other.objective), percent(c.other.gap()), seconds(c.proofOfOther(), limit)
	}
	fmt.Fprintf(w, certificateRow, c.Name, number(c.own.objective), seconds(c.own.after, limit), percent(c.own.gap()), signed(c.above()),
		ownSeconds(c.proof), found, gap, proof)
}

// reportAims prints the largest distance from the relaxation, the largest gap, and how many proofs come no later.
// They are the three numbers that the README quotes.
func reportAims(w io.Writer, all []*certificate) {
	above, gap := math.Inf(-1), 0.0
	sooner, proven := 0, 0
	for _, c := range all {
		gap = math.Max(gap, c.own.gap())
		if c.above() > above { // false for NaN
			above = c.above()
		}
		if other := c.proofOfOther(); other != never {
			proven++
			if c.proof <= other {
				sooner++
			}
		}
	}
	fmt.Fprintf(w, "\nBound above the relaxation: %s at most. Gap: %s at most. Of %d that HiGHS proves %d are proven no later.\n", signed(above), percent(gap), proven, sooner)
}

// signed is percent with its sign.
func signed(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return noNumber
	}
	return fmt.Sprintf("%+.3f %%", 100*x)
}
