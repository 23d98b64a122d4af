// This file implements "apportion completion": the names that a shell completes.

package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// answerCompletion prints a function for Bash, which Zsh reads with bashcompinit.
func answerCompletion(_ context.Context, c *command) error {
	var cases strings.Builder
	for _, name := range c.names {
		var flags []string
		c.flagsOf(name).VisitAll(func(f *flag.Flag) { flags = append(flags, "-"+f.Name) })
		fmt.Fprintf(&cases, "  %s) words='%s' ;;\n", name, strings.Join(flags, " "))
	}
	_, err := fmt.Fprintf(c.out, `_apportion() {
  local words='%s'
  test "$COMP_CWORD" -gt 1 && case "${COMP_WORDS[1]}" in
%s  esac
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _apportion apportion
`, strings.Join(c.names, " "), &cases)
	return err
}

// declare tells c what completion completes.
func (c *command) declare(all map[string]subcommand) {
	c.names = slices.Sorted(maps.Keys(all))
	c.flagsOf = func(name string) *flag.FlagSet {
		one := &command{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError)}
		all[name].flags(one)
		return one.FlagSet
	}
}
