// This file holds the errors of the package.

package guard

import "errors"

// ErrRefused: the run was not started, for it is fenced off, or nobody vouches for it.
// The error of [Run] wraps context.DeadlineExceeded as well where nobody has vouched for the run in time: another try may be granted.
var ErrRefused = errors.New("guard: the run was refused")
