//go:build linux

// This file holds the writers of limits and the choice among them, after [Zheng] §5.1.1, which
// updates containers through Docker.

package main

import (
	"errors"
	"fmt"
)

// writer makes the kernel hold processes to a share of one CPU. Methods are called by one goroutine.
type writer interface {
	// name says what does it.
	name() string
	// add takes a process under control, without a limit.
	add(id string, pid int) error
	// limit sets the most that a process may use, in (0, 1].
	limit(id string, share float64) error
	// remove lets go of a process that has ended.
	remove(id string) error
	// close lets go of everything.
	close() error
}

// writers are the mechanisms, best first; probe returns an error where the machine does not offer one.
var writers = []struct {
	flag  string
	probe func() (writer, error)
}{
	{"v2", func() (writer, error) { return newUnified(unifiedRoots...) }},
	{"v1", func() (writer, error) { return newQuota() }},
	{"signals", func() (writer, error) { return newDutyCycle(), nil }},
}

// choose returns the writer that the flag names, or the first that works for "auto". Notes says what
// the others lack.
func choose(flag string) (chosen writer, notes []string, err error) {
	for _, candidate := range writers {
		if flag != "auto" && flag != candidate.flag {
			continue
		}
		w, err := candidate.probe()
		if err == nil {
			return w, notes, nil
		}
		notes = append(notes, fmt.Sprintf("%s: %v", candidate.flag, err))
	}
	if len(notes) == 0 {
		return nil, nil, fmt.Errorf("no writer is called %q", flag)
	}
	return nil, notes, errors.New("no way to set limits: " + fmt.Sprint(notes))
}
