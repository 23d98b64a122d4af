// This file implements processes below a guard: how the guard is called, and what it has left on record.

package command

import (
	"os/exec"
)

// guardEnding is that of the files in which guards write down what they know, see package guard.
const guardEnding = ".guard"

// guarded returns the command of a process with that of its guard before it. The guard is told which descriptor all
// processes of the run hold, and which signal asks for a save.
func (a *Runner) guarded(argv []string, folder runFolder, rank int) ([]string, error) {
	if len(a.options.Guard) == 0 {
		return argv, nil
	}
	// The guard has the environment of the process, and so another PATH than this runner.
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	// Another list, since that of the options is every process's.
	full := append([]string{}, a.options.Guard...)
	full = append(full, "-held", "3", "-record", folder.ofRank(rank, guardEnding), "-grace", a.options.Grace.String())
	if name := signalName(a.options.Signal); name != "" {
		full = append(full, "-save", name)
	}
	// The guard itself stays what this runner is, so that its run can neither end it nor read what it knows.
	if a.options.User != nil {
		full = append(full, "-user", a.options.User.String())
	}
	return append(append(full, "--", program), argv[1:]...), nil
}

type guardRecord struct {
	State struct {
		Ended *ended `json:"ended"`
	} `json:"state"`
}

// told returns how a process ended by the word of its guard, which knows more than its exit status says, and which is
// there when no runner was. A record that cannot be read tells nothing.
func (a *Runner) told(folder runFolder, rank int) (ended, bool) {
	var r guardRecord
	if len(a.options.Guard) == 0 || get(folder.ofRank(rank, guardEnding), &r) != nil || r.State.Ended == nil {
		return ended{}, false
	}
	return *r.State.Ended, true
}
