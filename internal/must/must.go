// This file implements Do and Have.

// Package must ends a test at an error that the test does not expect.
package must

// TB is what Do and Have need of a test: testing.TB and *rapid.T have it.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Do ends the test if err is not nil.
func Do(t TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Have takes what a call returns: must.Have(call())(t) is its value, or the test ends with the call's error.
func Have[T any](value T, err error) func(TB) T {
	return func(t TB) T {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return value
	}
}
