//go:build !unix

// This file says, where the system is no Unix, that files are not locked there.

package daemon

import (
	"errors"
	"fmt"
	"os"
)

// tryLock returns an error that wraps errors.ErrUnsupported.
func tryLock(*os.File) (bool, error) {
	return false, fmt.Errorf("no lock of a file among controllers: %w", errors.ErrUnsupported)
}
