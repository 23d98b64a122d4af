// This file runs the command as a user does.

package main

import (
	"context"
	"io"
	"testing"

	"github.com/apportion/apportion/examples/studies/command/commandtest"
)

// TestRecords runs the commands of testdata/record, whose output the README shows.
func TestRecords(t *testing.T) {
	commandtest.Records(t, func(ctx context.Context, stdout, stderr io.Writer, args []string) error {
		return run(ctx, stdout, stderr, args[2:]) // there are no figures
	}, nil)
}
