// This file implements what a program keeps for the one that comes after it.

package daemon

import "github.com/apportion/apportion/internal/durable"

// WriteFile writes a file of the folder that Connect was given, in place of one that is there. A crash at any moment leaves the old
// content or the new one. Its mode is 0600, and its directory must exist.
func WriteFile(name string, data []byte) error { return durable.WriteFile(name, data) }
