//go:build linux

// This file holds the writers of limits and the choice among them.

package node

import (
	"errors"
	"fmt"
	"strings"
)

// Writer makes the kernel hold processes to a share of one CPU. Methods are called by one goroutine. A
// writer whose mechanism limits only what it has started itself is a runner too.
type Writer interface {
	// Name says what does it.
	Name() string
	// add takes a process under control, without a limit.
	add(p *Process) error
	// limit sets the most that a process, given by its job's name, may use, in (0, 1]. One that has
	// just ended is no error.
	limit(id string, share float64) error
	// remove lets go of a process that has ended.
	remove(id string) error
	// Close lets go of everything.
	Close() error
}

// writers are the mechanisms, best first; probe returns an error where the machine does not offer one.
var writers = []struct {
	flag  string
	probe func(host Machine) (Writer, error)
}{
	{"v2", func(host Machine) (Writer, error) { return newUnified(host.First, unifiedRoots...) }},
	{"v1", func(host Machine) (Writer, error) { return newQuota(host.First) }},
	{"docker", func(host Machine) (Writer, error) { return newDocker(host) }},
	{"signals", func(Machine) (Writer, error) { return newDutyCycle(), nil }},
}

// Choose returns the writer that the flag names, or the first that works for "auto", and what starts
// the jobs that it limits. Notes says what the others lack.
func Choose(flag string, host Machine) (chosen Writer, jobs Runner, notes []string, err error) {
	for _, candidate := range writers {
		if flag != "auto" && flag != candidate.flag {
			continue
		}
		w, err := candidate.probe(host)
		if err == nil {
			if own, ok := w.(Runner); ok {
				return w, own, notes, nil
			}
			return w, local{host.CPU}, notes, nil
		}
		notes = append(notes, fmt.Sprintf("%s: %v", candidate.flag, err))
	}
	if len(notes) == 0 {
		names := []string{"auto"}
		for _, candidate := range writers {
			names = append(names, candidate.flag)
		}
		return nil, nil, nil, fmt.Errorf("no writer is called %q; must be one of %s", flag, strings.Join(names, ", "))
	}
	return nil, nil, notes, errors.New("no way to set limits: " + strings.Join(notes, "; "))
}
