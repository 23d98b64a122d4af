//go:build !unix

// This file says, where the system is no Unix, that files are not locked there.

package flock

import (
	"errors"
	"fmt"
	"os"
)

// Try returns an error that wraps errors.ErrUnsupported.
func Try(*os.File) (bool, error) {
	return false, fmt.Errorf("no locks of files: %w", errors.ErrUnsupported)
}
