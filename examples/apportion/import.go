//go:build !js

// This file implements "apportion import": a problem from what a cluster manager prints of itself.

package main

import (
	"context"

	"github.com/apportion/apportion/examples/internal/managers"
)

// importNotes is what "import" writes to standard error: the answer is without these.
type importNotes struct {
	Unread []managers.Unread `json:"unread"`
}

// answerImport reads documents and writes the problem.
func answerImport(_ context.Context, c *command) error {
	p, unread, err := managers.Read(c.in)
	if err != nil {
		return err
	}
	if err := c.write(p); err != nil || len(unread) == 0 {
		return err
	}
	return writeJSON(c.errs, importNotes{unread})
}
