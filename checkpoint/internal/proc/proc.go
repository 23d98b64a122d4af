// This file implements what Linux says of a process, proc(5).

// Package proc reads what Linux says about processes.
//
// # Contract
//
// A number is a process only while that lives: it is given again afterwards. So whoever keeps one keeps Status.Start, or
// Identity, beside it, and compares both before a signal is sent. What is read of several processes is of several moments.
//
// Elsewhere than on Linux there is no /proc, and every process counts as ended.
package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
)

// Status is what the system says about a process.
type Status struct {
	// Parent and Group are the numbers of its parent and of its process group.
	Parent, Group int
	// Start is when it was started, in hundredths of a second since the boot. With the number it tells a process from
	// all others, for numbers are given again.
	Start uint64
}

// Stat returns the status of a process that is alive: one of its threads is. One that has ended and was not waited for is not.
func Stat(pid int) (Status, bool) {
	// One read gives all fields of one moment; several files could be of two processes.
	text, err := Read("/proc/"+strconv.Itoa(pid)+"/stat", nil)
	if err != nil {
		return Status{}, false
	}
	// The second field is the program's name in parentheses, with anything in it.
	// The last parenthesis is the right one: a name may contain others, and a job may choose its name.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const state, parent, group, threads, start = 0, 1, 2, 17, 19 // proc(5), less the two fields before
	if len(fields) <= start {
		return Status{}, false
	}
	// The state is that of the first thread. It may end before the others, by pthread_exit or since a signal ends them one after the other;
	// what they hold, files and locks, is held until the last is gone. Of a process that has ended the first is counted alone.
	if last := string(fields[threads]); bytes.ContainsAny(fields[state], "ZXx") && (last == "0" || last == "1") {
		return Status{}, false
	}
	// A group or a start that cannot be read makes the whole unknown: to take it for 0 would be another process.
	var s Status
	var errs [3]error
	s.Parent, errs[0] = strconv.Atoi(string(fields[parent]))
	s.Group, errs[1] = strconv.Atoi(string(fields[group]))
	s.Start, errs[2] = strconv.ParseUint(string(fields[start]), 10, 64)
	return s, errors.Join(errs[:]...) == nil
}

// Descendants returns the processes that live and descend from one, without it. O(processes times depth).
func Descendants(root int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	parents := map[int]int{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if s, ok := Stat(pid); ok {
				parents[pid] = s.Parent
			}
		}
	}
	var found []int
	for pid := range parents {
		// A chain ends at 0, at a process that has just ended, or at the root. Its length is bounded, for numbers that
		// are given again in the middle of the reading could make a circle.
		for up, steps := parents[pid], 0; up != 0 && steps < len(parents); up, steps = parents[up], steps+1 {
			if up == root {
				found = append(found, pid)
				break
			}
		}
	}
	return found, nil
}
