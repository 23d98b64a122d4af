// This file chooses a subcommand.

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Subcommands are commands by the name that chooses them.
type Subcommands map[string]Run

// Run runs the one that the first argument names; name is that of the command itself. One that ends with
// the context because that has ended has done what it was asked to.
func (s Subcommands) Run(ctx context.Context, name string, stdout, stderr io.Writer, args []string) error {
	names := strings.Join(slices.Sorted(maps.Keys(s)), ", ")
	if len(args) == 0 {
		fmt.Fprintf(stderr, "%s: which of %s?\n", name, names)
		return ErrUsage
	}
	subcommand, ok := s[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "%s: what is %q? The subcommands are %s.\n", name, args[0], names)
		return ErrUsage
	}
	err := subcommand(ctx, stdout, stderr, args[1:])
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}
