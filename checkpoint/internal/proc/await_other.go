//go:build !linux

// This file says that no process is waited for by its number where there is no pidfd.

package proc

import (
	"context"
	"errors"
)

// Await returns an error that wraps errors.ErrUnsupported.
func Await(context.Context, int, func() bool) error { return errors.ErrUnsupported }
