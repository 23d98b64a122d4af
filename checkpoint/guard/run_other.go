//go:build !linux

// This file stands in for the guard where there is no Linux.

package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// signals are those that may ask for a save, by name. Here Run passes none on.
var signals = map[string]os.Signal{"": nil, "USR1": nil, "USR2": nil, "HUP": nil}

// Run returns an error that wraps errors.ErrUnsupported.
func Run(context.Context, Config) (End, error) {
	return End{}, fmt.Errorf("guard: runs are guarded on Linux alone: %w", errors.ErrUnsupported)
}

// Keep does nothing.
func Keep() {}
