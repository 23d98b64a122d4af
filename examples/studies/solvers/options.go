// This file reads the flags.

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/studies/command"
)

// someInstances are the instances of a run without flags, which takes about two minutes.
// All 38 take hours with a limit of a minute.
const someInstances = "20x30_(fresh|prev)_0|50x30_prev_0"

// options are the flags.
// instances chooses by name, solvers and forms are lists in a fixed order, whatever the order of the flags.
type options struct {
	instances *regexp.Regexp
	solvers   []backend.Backend
	forms     []mip.Form
	limit     time.Duration
	workers   int
	growth    bool
	// certificates: bounds and proofs are compared instead; data is a folder of instances, none if empty.
	certificates bool
	// features is how many problems of each feature are compared instead; 0: none.
	features int
	// beside: others are compared on works that they can state, and a page is printed.
	beside bool
	data   string
	out    string
}

// allForms are the ways to write P2.
var allForms = []mip.Form{mip.Verbatim, mip.Class, mip.Disjunctive}

// declare declares them.
func declare(flags *flag.FlagSet) command.Body {
	o := &options{}
	instances := flags.String("instances", someInstances, "regular expression for the names of the instances, as mixed_50x60_prev_0; . for all 38")
	solvers := flags.String("solvers", "", "names with commas between; empty: "+backend.Names(backend.All()))
	forms := flags.String("forms", "", "ways to write P2 for general solvers, with commas between; empty: "+namesOf(allForms, formName))
	flags.DurationVar(&o.limit, "limit", 3*time.Second, "how long each search may take")
	flags.IntVar(&o.workers, "workers", 2, "threads of the solvers that can be told")
	flags.BoolVar(&o.growth, "growth", false, "instead: how the embedded solver's time grows with servers, applications, kinds and demands, until it exceeds -limit")
	flags.BoolVar(&o.certificates, "certificates", false, "instead: the embedded solver's bound beside the linear relaxation, and its time to proof beside that of HiGHS, both of the disjunctive form")
	flags.IntVar(&o.features, "features", 0, "instead: so many problems of each feature whose loss budget binds, decided by the embedded solver and by the first general one of -solvers, as highs")
	flags.BoolVar(&o.beside, "beside", false, "instead: HiGHS, CP-SAT, the linear relaxation, Rebalancer and naive rules beside the embedded solver, as a page in Markdown")
	flags.StringVar(&o.data, "data", "", "take the instances from the JSON files of this folder, in the form of alloc/alloctest/testdata/p2")
	command.Out(flags, &o.out)
	return func(ctx context.Context, stdout, stderr io.Writer) error {
		if err := o.choose(*instances, *solvers, *forms); err != nil {
			return err
		}
		return o.run(ctx, stdout, stderr)
	}
}

// choose reads what lists of names choose. A name that is not there is an error, which says what there is.
func (o *options) choose(instances, solvers, forms string) (err error) {
	if o.limit <= 0 || o.workers < 1 {
		return command.Misused("-limit and -workers must be positive")
	}
	if o.instances, err = regexp.Compile(instances); err != nil {
		return command.Misused("-instances: %v", err)
	}
	if o.solvers, err = chosen(solvers, backend.All(), solverName); err != nil {
		return command.Misused("-solvers: %v", err)
	}
	if o.forms, err = chosen(forms, allForms, formName); err != nil {
		return command.Misused("-forms: %v", err)
	}
	return nil
}

// chosen returns those of all that a list names, in their own order; all for an empty list.
func chosen[T any](list string, all []T, name func(T) string) ([]T, error) {
	if list == "" {
		return all, nil
	}
	names := strings.Split(list, ",")
	for _, wanted := range names {
		if !slices.ContainsFunc(all, func(one T) bool { return name(one) == wanted }) {
			return nil, fmt.Errorf("%q must be one of %s", wanted, namesOf(all, name))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !slices.Contains(names, name(one)) }), nil
}

// namesOf returns the names of all, with commas between.
func namesOf[T any](all []T, name func(T) string) string {
	var names []string
	for _, one := range all {
		names = append(names, name(one))
	}
	return strings.Join(names, ", ")
}

func solverName(b backend.Backend) string { return b.Name }
func formName(f mip.Form) string          { return string(f) }
