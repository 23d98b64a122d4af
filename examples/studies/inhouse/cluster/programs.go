// This file writes the command lines of the programs, and reads what they have in common.

package cluster

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
)

// Flag adds the flag -dir, which names the place.
func Flag(flags *flag.FlagSet, dir string) *Place {
	var p Place
	_ = p.Set(dir) // fails with the working directory, and so will all else
	flags.Var(&p, "dir", "directory of the cluster")
	return &p
}

// ServerFlags adds the flags of an agent, -name and -capacity.
func ServerFlags(flags *flag.FlagSet, server *apportion.Server) {
	flags.StringVar(&server.ID, "name", "", "name of the server")
	ResourcesFlag(flags, &server.Capacity, "capacity", "what the server has, for instance 4,8")
}

// ResourcesFlag adds a flag for quantities with commas between them, one for each kind.
func ResourcesFlag(flags *flag.FlagSet, r *apportion.Resources, name, usage string) {
	flags.Func(name, usage, func(text string) error {
		*r = nil
		for field := range strings.SplitSeq(text, ",") {
			n, err := strconv.ParseInt(strings.TrimSpace(field), 10, 64)
			if err != nil {
				return fmt.Errorf("%q: %w", field, err)
			}
			*r = append(*r, n)
		}
		return nil
	})
}

// Programs are a master and an agent for each server, with these arguments beside those that say which it is.
func Programs(p Place, servers []apportion.Server, master, agent []string) []Program {
	args := func(subcommand string, more ...string) []string {
		return append([]string{subcommand, "-dir", string(p)}, more...)
	}
	all := []Program{{Name: "master", Args: args("master", master...)}}
	for _, server := range servers {
		var capacity []string
		for _, q := range server.Capacity {
			capacity = append(capacity, strconv.FormatInt(q, 10))
		}
		own := append(args("agent", "-name", server.ID, "-capacity", strings.Join(capacity, ",")), agent...)
		all = append(all, Program{Name: server.ID, Args: own})
	}
	return all
}
