//go:build !linux

// This file says, where the system is not Linux, that trainers have no users there.

package managedtest

import (
	"errors"

	"github.com/apportion/apportion/checkpoint/command"
)

// as does something as this process.
func as(u *command.User, do func() error) error {
	if u != nil {
		return errors.ErrUnsupported
	}
	return do()
}
