//go:build !cgo || !(linux || darwin)

// This file replaces the libraries where they cannot be called.

package ortools

import "context"

const withoutCgo = "this program was built without cgo, or for a system other than Linux and macOS"

// orTools has the methods of the real one; it is never made.
type orTools struct{}

// openORTools fails always, with the same error as a library that was not found.
func openORTools(string) (orTools, error) {
	return orTools{}, unavailable(withoutCgo, []string{"nothing"})
}

// solveCP and solveMathOpt cannot be reached, as openORTools always fails.
func (orTools) solveCP(context.Context, message, message) ([]byte, error) {
	return nil, ErrUnavailable
}

func (orTools) solveMathOpt(context.Context, engine, message) ([]byte, error) {
	return nil, ErrUnavailable
}

// highsLibrary has the methods of the real one; it is never made.
type highsLibrary struct{}

func openHiGHS(string) (highsLibrary, error) {
	return highsLibrary{}, unavailable(withoutCgo, []string{"nothing"})
}

func (highsLibrary) solve(context.Context, *highsProblem) (highsAnswer, error) {
	return highsAnswer{}, ErrUnavailable
}
