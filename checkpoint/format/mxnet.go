// This file implements the checkpoints of MXNet: PREFIX-symbol.json and PREFIX-0001.params.

package format

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// MXNet knows the files that Module.save_checkpoint, model.save_checkpoint and HybridBlock.export write:
// PREFIX-symbol.json with the network, PREFIX-NNNN.params with the arrays, and PREFIX-NNNN.states with
// the state of the optimizer. None has a checksum: every truncation is noticed, and damage that changes a
// length, a type or a magic number, but not damage to the numbers in an array.
//
// The network is one file for all numbers, and save_checkpoint writes it over at each save, in place: a
// process that is killed there leaves no complete checkpoint of that prefix at all. Write the network
// once and then arrays and states only (save_params, save_optimizer_states), or use a prefix for each save.
//
// The newest is the one with the highest number, at least four digits.
type MXNet struct {
	// States demands PREFIX-NNNN.states, which Module writes last. Where the file is present it is
	// checked and belongs to the checkpoint in any case.
	States bool
	// StepsPerNumber is the number of steps that the number in a name stands for: 1 where it counts
	// steps, the steps of an epoch where it counts epochs. Zero: unknown, and Step is -1.
	StepsPerNumber int64
}

// Name returns "mxnet".
func (MXNet) Name() string { return "mxnet" }

// Newest implements [Format].
func (f MXNet) Newest(fsys fs.FS) (Found, error) {
	return newestFile(f, fsys, func(name string) (candidate, bool) {
		stem, ok := strings.CutSuffix(name, ".params")
		_, n := numbered(stem)
		return candidate{stem, n}, ok && n >= 0
	})
}

// numbered splits PREFIX-0001 into PREFIX and 1; the number is -1 if the name has another form.
func numbered(stem string) (prefix string, n int64) {
	at := strings.LastIndexByte(stem, '-')
	n = trailingNumber(stem)
	// MXNet formats with %04d: 00001 and 1 are not its names, and taking them would give two names to one
	// number.
	if at <= 0 || n < 0 || stem[at+1:] != fmt.Sprintf("%04d", n) {
		return "", -1
	}
	return stem[:at], n
}

// Verify implements [Format]; name is PREFIX-NNNN.
func (f MXNet) Verify(fsys fs.FS, name string) (Found, error) {
	if err := plain(name); err != nil {
		return Found{}, err
	}
	prefix, n := numbered(name)
	if n < 0 {
		return Found{}, incomplete(strconv.Quote(name), "not of the form PREFIX-0001")
	}
	// The arrays are walked first: they are what a process that was killed leaves half of.
	files := []string{name + ".params", prefix + "-symbol.json"}
	if err := walk(fsys, files[0], arrays); err != nil {
		return Found{}, err
	}
	if err := symbol(fsys, files[1]); err != nil {
		return Found{}, err
	}
	states := name + ".states"
	if _, err := fs.Stat(fsys, states); err == nil || f.States {
		if err := walk(fsys, states, pickle); err != nil {
			return Found{}, err
		}
		files = append(files, states)
	}
	slices.Sort(files)
	return Found{Name: name, Files: files, Step: steps(n, f.StepsPerNumber)}, nil
}

// symbol reads a network: one JSON object with nodes, the arguments among them, and outputs.
func symbol(fsys fs.FS, name string) error {
	var network struct {
		Nodes     []json.RawMessage `json:"nodes"`
		Arguments []int             `json:"arg_nodes"`
		Heads     []json.RawMessage `json:"heads"`
	}
	if err := readJSON(fsys, name, &network); err != nil {
		return err
	}
	outside := func(i int) bool { return i < 0 || i >= len(network.Nodes) }
	if len(network.Nodes) == 0 || len(network.Heads) == 0 || slices.ContainsFunc(network.Arguments, outside) {
		return damaged(name, fmt.Errorf("network without nodes or outputs: %w", errMalformed))
	}
	return nil
}
