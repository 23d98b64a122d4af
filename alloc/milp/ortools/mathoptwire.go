// This file writes a model as MathOpt's ModelProto, and reads its SolveResultProto.

package ortools

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of math_opt's model, result, solution and sparse_containers, and TerminationReasonProto.
const (
	moModelVariables   protowire.Number = 2
	moModelObjective   protowire.Number = 3
	moModelConstraints protowire.Number = 4
	moModelMatrix      protowire.Number = 5

	moIDs      protowire.Number = 1 // of variables, constraints and vectors
	moLower    protowire.Number = 2
	moUpper    protowire.Number = 3
	moIntegers protowire.Number = 4
	moValues   protowire.Number = 2 // of vectors

	moObjectiveOffset protowire.Number = 2
	moObjectiveLinear protowire.Number = 3
	moMatrixRows      protowire.Number = 1
	moMatrixColumns   protowire.Number = 2
	moMatrixCoefs     protowire.Number = 3

	moResultTermination protowire.Number = 2
	moResultSolutions   protowire.Number = 3
	moResultStats       protowire.Number = 6
	moReason            protowire.Number = 1
	moDetail            protowire.Number = 3
	moBounds            protowire.Number = 5
	moDualBound         protowire.Number = 3
	moStatsNodes        protowire.Number = 7
	moSolutionPrimal    protowire.Number = 1
	moPrimalValues      protowire.Number = 1
	moPrimalStatus      protowire.Number = 3

	moOptimal               = 1
	moInfeasible            = 2
	moUnbounded             = 3
	moInfeasibleOrUnbounded = 4
	moNoSolution            = 6
	moFeasible              = 9

	moPointFeasible = 2
)

// mathOptModel writes the model as a ModelProto without names, minimised; without costs where they
// are not asked for. Variables and rows have their positions as IDs. O(nonzeros), in memory too.
func mathOptModel(model *milp.Model, costs bool) message {
	n, rows := model.Variables(), model.Rows()
	lower, upper := make([]float64, n), make([]float64, n)
	var costIDs, integers []int64
	var costValues []float64
	// MathOpt is told to minimise, as every engine here is.
	sign := direction(model)
	for j := range n {
		v := model.Variable(j)
		lower[j], upper[j] = v.Lower, v.Upper
		// Costs are a sparse vector: what is not listed is 0. Booleans are packed as numbers.
		integers = append(integers, int64(protowire.EncodeBool(v.Integer)))
		if costs && v.Cost != 0 {
			costIDs, costValues = append(costIDs, int64(j)), append(costValues, sign*v.Cost)
		}
	}
	rowLower, rowUpper := make([]float64, rows), make([]float64, rows)
	// The matrix goes over as three lists of equal length: row, column, coefficient.
	size := model.Nonzeros()
	matrixRows, matrixColumns, coefs := make([]int64, 0, size), make([]int64, 0, size), make([]float64, 0, size)
	for i := range rows {
		row := model.Row(i)
		rowLower[i], rowUpper[i] = row.Lower, row.Upper
		for k, j := range row.Columns {
			matrixRows, matrixColumns = append(matrixRows, int64(i)), append(matrixColumns, int64(j))
			coefs = append(coefs, row.Coefs[k])
		}
	}
	// Fields of a message may come in any order; the order here is that of model.proto.
	var m, variables, objective, linear, constraints, matrix message
	variables.integers(moIDs, count(n)...)
	variables.doubles(moLower, lower)
	variables.doubles(moUpper, upper)
	variables.integers(moIntegers, integers...)
	linear.integers(moIDs, costIDs...)
	linear.doubles(moValues, costValues)
	if costs {
		objective.double(moObjectiveOffset, sign*model.Constant())
	}
	objective.nested(moObjectiveLinear, linear)
	constraints.integers(moIDs, count(rows)...)
	constraints.doubles(moLower, rowLower)
	constraints.doubles(moUpper, rowUpper)
	matrix.integers(moMatrixRows, matrixRows...)
	matrix.integers(moMatrixColumns, matrixColumns...)
	matrix.doubles(moMatrixCoefs, coefs)
	m.nested(moModelVariables, variables)
	m.nested(moModelObjective, objective)
	m.nested(moModelConstraints, constraints)
	m.nested(moModelMatrix, matrix)
	return m
}

// count returns 0, 1, ... n-1: the IDs of n variables or rows.
func count(n int) []int64 {
	numbers := make([]int64, n)
	for k := range numbers {
		numbers[k] = int64(k)
	}
	return numbers
}

// mathOptResult is the part of a SolveResultProto that is read.
type mathOptResult struct {
	reason, nodes uint64
	detail        string
	bound         float64 // of the minimised objective
	ids           []int64 // of the first solution; those left out are 0
	values        []float64
	solutions     int
	feasible      bool
}

// readMathOptResult decodes a SolveResultProto. Without a termination nothing is proven: the bound
// is infinite.
// Fields that are not read are passed over, so that a later version may send more.
func readMathOptResult(encoded []byte) (mathOptResult, error) {
	r := mathOptResult{bound: math.Inf(-1)}
	err := decode(encoded, func(e entry) error {
		switch e.field {
		case moResultTermination:
			return decode(e.bytes, r.termination)
		case moResultSolutions:
			r.solutions++
			// Later solutions are counted and skipped.
			if r.solutions == 1 { // the best comes first
				return within(moSolutionPrimal, e.bytes, r.point)
			}
		case moResultStats:
			return decode(e.bytes, func(e entry) error {
				if e.field == moStatsNodes {
					r.nodes = e.bits
				}
				return nil
			})
		}
		return nil
	})
	return r, err
}

// within decodes the nested messages of that field, and hands their fields to visit; other fields are passed over.
func within(field protowire.Number, encoded []byte, visit func(entry) error) error {
	return decode(encoded, func(e entry) error {
		if e.field != field {
			return nil
		}
		return decode(e.bytes, visit)
	})
}

// termination takes a field of a TerminationProto: why the search ended, and its bounds.
func (r *mathOptResult) termination(e entry) error {
	switch e.field {
	case moReason:
		r.reason = e.bits
	case moDetail:
		r.detail = string(e.bytes)
	case moBounds:
		// proto3 leaves out a number that is 0, so "bounds without a dual bound" means 0, and no
		// bounds at all mean infinite.
		r.bound = 0 // what a message without the field says
		return decode(e.bytes, func(e entry) error {
			if e.field == moDualBound {
				r.bound = e.double()
			}
			return nil
		})
	}
	return nil
}

// point takes a field of a PrimalSolutionProto: the values by id, and whether they are feasible. IDs and values are appended, so
// that a message in several parts adds up; whether they fit together is asked in solution.
func (r *mathOptResult) point(e entry) error {
	switch e.field {
	case moPrimalStatus:
		r.feasible = e.bits == moPointFeasible
	case moPrimalValues:
		return decode(e.bytes, func(e entry) (err error) {
			switch e.field {
			case moIDs:
				r.ids, err = e.appendIntegers(r.ids)
			case moValues:
				r.values, err = e.appendDoubles(r.values)
			}
			return err
		})
	}
	return nil
}
