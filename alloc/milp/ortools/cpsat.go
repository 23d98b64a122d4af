// This file implements the back-end CPSAT: the call, and the response as a Solution.

package ortools

import (
	"context"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apportion/apportion/alloc/milp"
)

// CPSAT is the constraint programming solver of OR-Tools. It takes integer variables
// with finite bounds only. Its zero value is ready; it may be used by many goroutines.
type CPSAT struct {
	// Library is the folder of the libraries, or one of them; empty: EnvLibrary, then the usual places.
	Library string
	// Deterministic makes a search with several workers repeatable, at the price of speed. One
	// worker is repeatable anyway, unless a time limit or the context ends the search.
	Deterministic bool
}

var (
	_ milp.Solver  = CPSAT{}
	_ milp.Capable = CPSAT{}
)

// Capabilities returns what CP-SAT's C interface lets a caller do. Interruption: 0.8 ms of work in the
// median, 4 ms at most, in 100 interrupted searches.
func (CPSAT) Capabilities() milp.Capability {
	return milp.CanInteger | milp.CanInterrupt | milp.CanTimeLimit | milp.CanGaps | milp.CanTolerances |
		milp.CanWorkers | milp.CanSeed | milp.CanHint
}

// Solve implements [milp.Solver]. Its errors are ErrUnavailable and [apportion.FieldError] for
// numbers that do not fit into 64 bits.
// The model is encoded before the search begins, and a search that is left uses the message alone.
func (s CPSAT) Solve(ctx context.Context, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	// The library comes first: without one nothing else is worth a message.
	library, err := openORTools(place(s.Library))
	if err != nil {
		return milp.Solution{}, err
	}
	m, err := newCPModel(model, opts)
	if err != nil {
		return milp.Solution{}, err
	}
	parameters, err := m.parameters(opts, s.Deterministic)
	if err != nil {
		return milp.Solution{}, err
	}
	// The message would be refused as invalid, although the model is a legal one.
	if m.infeasible {
		return milp.Solution{Status: milp.Infeasible, Reason: "a row or variable has no value left"}, nil
	}
	limited, cancel := withLimit(ctx, opts.TimeLimit)
	defer cancel()
	// CP-SAT has its time limit among its parameters; limited ends a wait that it does not keep.
	return untilLeft(limited, patience, func() (milp.Solution, error) {
		encoded, err := library.solveCP(ctx, m.encoded, parameters) // it keeps the limit itself
		if err != nil {
			return milp.Solution{}, err
		}
		response, err := readCPResponse(encoded)
		if err != nil {
			return milp.Solution{}, fmt.Errorf("CP-SAT's response: %w", err)
		}
		return m.solution(ctx, model, response)
	}, func() milp.Solution {
		nothing, _ := m.solution(ctx, model, cpResponse{}) // no error for it
		return nothing
	})
}

// Field numbers and values of CpSolverResponse, as published in cp_model.proto.
const (
	cpResponseStatus   protowire.Number = 1
	cpResponseSolution protowire.Number = 2
	cpResponseBound    protowire.Number = 4
	cpResponseBranches protowire.Number = 12
	cpResponseInfo     protowire.Number = 20

	cpInvalid    = 1
	cpFeasible   = 2
	cpInfeasible = 3
	cpOptimal    = 4
)

// cpResponse is the part of a CpSolverResponse that is read.
type cpResponse struct {
	status   uint64
	values   []int64
	bound    float64 // of the scaled objective; 0 also where there is none
	branches int64
	info     string
}

// readCPResponse decodes a CpSolverResponse. A field that is absent keeps the zero value, as
// proto3 has it. The error is that of damaged bytes.
func readCPResponse(encoded []byte) (r cpResponse, err error) {
	err = decode(encoded, func(e entry) (err error) {
		switch e.field {
		case cpResponseStatus:
			r.status = e.bits
		case cpResponseSolution:
			r.values, err = e.appendIntegers(r.values)
		case cpResponseBound:
			r.bound = e.double()
		case cpResponseBranches:
			r.branches = int64(e.bits)
		case cpResponseInfo:
			r.info = string(e.bytes)
		}
		return err
	})
	return r, err
}

// solution turns the response into the model's terms. An error means that CP-SAT has refused the model, which is a fault of
// cpmodel.go, or that the response has another number of values than the model has variables.
// An answer without a status, as of a search that was left, is one in which nothing was found.
func (m *cpModel) solution(ctx context.Context, model *milp.Model, r cpResponse) (milp.Solution, error) {
	answer := milp.Solution{Nodes: r.branches}
	switch r.status {
	case cpOptimal:
		answer.Status = milp.Optimal
	// The context may have ended instead of the limit; that is sorted out below.
	case cpFeasible:
		answer.Status, answer.Reason = milp.Feasible, "time limit"
	case cpInfeasible:
		answer.Status = milp.Infeasible
		return answer, nil
	// An invalid model is a bug of cpmodel.go: its text goes to the caller as an error.
	case cpInvalid:
		return answer, errors.New("CP-SAT refuses the model: " + r.info)
	default:
		answer.Status, answer.Reason = milp.LimitReached, "time limit"
	}
	// A proof that came just before the end counts as one.
	if ctx.Err() != nil && r.status != cpOptimal {
		answer.Status, answer.Reason = milp.Cancelled, ctx.Err().Error()
	}
	if r.status == cpOptimal || r.status == cpFeasible {
		// The bytes come from outside: nothing in them is taken for granted.
		if len(r.values) != model.Variables() {
			return answer, fmt.Errorf("CP-SAT gives %d values for %d variables", len(r.values), model.Variables())
		}
		answer.Values = make([]float64, len(r.values))
		for j, x := range r.values {
			answer.Values[j] = float64(x)
		}
	}
	answer.Bound = m.bound(model, r)
	return answer, nil
}

// bound maps the bound of the scaled objective back. Outward go the deviation of the scaled
// objective and, where it is not whole numbers all along, the rounding of this conversion and of
// CP-SAT's own. A message without a bound looks like one with bound 0; where nothing is proven
// the bound is that of the variables alone.
func (m *cpModel) bound(model *milp.Model, r cpResponse) float64 {
	sign := direction(model)
	offset := sign * model.Constant()
	// CP-SAT's bound includes the offset, in the same scale.
	bound := r.bound/m.objective.scale + 0
	// The objective is the constant, whatever the message says.
	if len(m.objective.coefs) == 0 {
		return model.Constant() + 0
	}
	// activity is the largest size of the scaled form over the variables' bounds: a bound that
	// needs no search.
	if r.status != cpOptimal && r.bound == 0 || math.IsInf(r.bound, -1) {
		bound = offset - m.objective.activity/m.objective.scale
	}
	// The true objective may be lower than the scaled one by the deviation.
	outward := m.objective.deviation / m.objective.scale
	// Whole costs without a constant are exact in float64; everything else rounds, in a few
	// operations of 2^-53 each.
	if m.objective.scale != 1 || offset != 0 {
		outward += 0x1p-50 * (math.Abs(bound) + math.Abs(offset))
	}
	return sign*(bound-outward) + 0
}
