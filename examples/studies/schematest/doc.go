// This file implements nothing: the package is its tests.

// Package schematest holds the inputs and outputs of the command in examples/apportion to the JSON
// schemas beside it. It is a package of this module, so that the library does not need a validator of
// schemas.
//
// The tests build the command from the work tree and read its golden cases. Where only those have changed, go
// test repeats what it said before: give it -count=1.
package schematest
