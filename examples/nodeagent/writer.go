//go:build linux

// This file holds the writers of limits and the choice among them.

package main

import (
	"errors"
	"fmt"
)

// writer makes the kernel hold processes to a share of one CPU. Methods are called by one goroutine. A
// writer whose mechanism limits only what it has started itself is a runner too.
type writer interface {
	// name says what does it.
	name() string
	// add takes a process under control, without a limit.
	add(p *process) error
	// limit sets the most that a process, given by its job's name, may use, in (0, 1]. One that has
	// just ended is no error.
	limit(id string, share float64) error
	// remove lets go of a process that has ended.
	remove(id string) error
	// close lets go of everything.
	close() error
}

// writers are the mechanisms, best first; probe returns an error where the machine does not offer one.
var writers = []struct {
	flag  string
	probe func(host machine) (writer, error)
}{
	{"v2", func(machine) (writer, error) { return newUnified(unifiedRoots...) }},
	{"v1", func(machine) (writer, error) { return newQuota() }},
	{"docker", func(host machine) (writer, error) { return newDocker(host) }},
	{"signals", func(machine) (writer, error) { return newDutyCycle(), nil }},
}

// machine is where jobs run.
type machine struct {
	cpu     int    // the one that they share
	docker  string // where Docker's daemon listens; empty: where its own command looks
	program string // the file of this program, which containers run
}

// choose returns the writer that the flag names, or the first that works for "auto", and what starts
// the jobs that it limits. Notes says what the others lack.
func choose(flag string, host machine) (chosen writer, jobs runner, notes []string, err error) {
	for _, candidate := range writers {
		if flag != "auto" && flag != candidate.flag {
			continue
		}
		w, err := candidate.probe(host)
		if err == nil {
			if own, ok := w.(runner); ok {
				return w, own, notes, nil
			}
			return w, local{host.cpu}, notes, nil
		}
		notes = append(notes, fmt.Sprintf("%s: %v", candidate.flag, err))
	}
	if len(notes) == 0 {
		return nil, nil, nil, fmt.Errorf("no writer is called %q", flag)
	}
	return nil, nil, notes, errors.New("no way to set limits: " + fmt.Sprint(notes))
}
