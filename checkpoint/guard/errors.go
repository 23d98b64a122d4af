// This file holds the errors of the package.

package guard

import "errors"

// ErrRefused: the run was not started, for it is fenced off, or nobody vouches for it.
var ErrRefused = errors.New("guard: the run was refused")
