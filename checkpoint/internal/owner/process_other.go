//go:build !linux

// This file says, where the system is not Linux, that nothing can be handed over there.

package owner

import (
	"errors"
	"os"
	"syscall"
)

// Possible returns errors.ErrUnsupported.
func Possible() error { return errors.ErrUnsupported }

// Renounce returns errors.ErrUnsupported.
func Renounce() error { return errors.ErrUnsupported }

// Attributes does nothing.
func Attributes(*syscall.SysProcAttr, uint32, uint32, []uint32) {}

// Start starts nothing.
func Start(func() error) error { return errors.ErrUnsupported }

// Of knows nobody.
func Of(os.FileInfo) (uid uint32, known bool) { return 0, false }
