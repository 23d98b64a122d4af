// This file implements nothing: the package is its tests.

// Package schematest holds the inputs and outputs of the command in examples/apportion to the JSON
// schemas beside it. It is a package of this module, so that the library does not need a validator of
// schemas.
package schematest
