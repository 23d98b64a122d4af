//go:build !linux

// This file stands in for the guard where there is no Linux.

package guard

import (
	"context"
	"errors"
	"fmt"
)

// Run returns an error that wraps errors.ErrUnsupported.
func Run(context.Context, Config) (End, error) {
	return End{}, fmt.Errorf("guard: %w", errors.ErrUnsupported)
}

// Keep does nothing.
func Keep() {}

// String returns the end in words.
func (e End) String() string { return fmt.Sprintf("exit status %d %s", e.Code, e.Signal) }
