// This file implements Check.

package invariant

import "fmt"

// Check panics with the formatted message if the build checks its invariants and holds is false.
// The arguments are evaluated in every build: put a condition that costs anything, or a call on a
// hot path, under "if invariant.Enabled".
func Check(holds bool, format string, args ...any) {
	if Enabled && !holds {
		panic("invariant violated: " + fmt.Sprintf(format, args...))
	}
}
