// Package instancetest holds instances for the tests of the solver.
package instancetest
