// This file implements the checkpoints of the Trainer of Hugging Face's transformers.

package format

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// HuggingFace knows the folders checkpoint-N that the Trainer of transformers writes. A whole one has the model, in one
// file or in shards with an index, the optimizer, its schedule, the state of the random numbers of each process, and
// trainer_state.json, which is written last and holds the step. Files of torch.save are read to the end, and their
// checksums compared; those of safetensors are covered by their lengths, JSON by its form.
//
// The state of an optimizer that DeepSpeed or torch.distributed.checkpoint has written is in folders of its own; these
// are verified as by [DeepSpeed] and [Distributed].
//
// A checkpoint from which the model alone can be loaded is not enough here: without the optimizer and the
// random numbers a resumed training would take another course than the one that was interrupted.
type HuggingFace struct{}

// Name returns "huggingface".
func (HuggingFace) Name() string { return "huggingface" }

// checkpointFolder matches the folders of checkpoints.
// The Trainer itself finds its checkpoints by this name, and so a folder of another name is none, whatever it
// holds.
var checkpointFolder = regexp.MustCompile(`^checkpoint-[0-9]+$`)

// Newest implements [Format].
func (f HuggingFace) Newest(fsys fs.FS) (Found, error) {
	return newestFolder(f, fsys, checkpointFolder.MatchString)
}

// Verify implements [Format]; name is the folder.
// A folder under another name may be verified by that name; only of one with a number the step must be the
// same.
func (f HuggingFace) Verify(fsys fs.FS, name string) (Found, error) {
	in, err := enter(fsys, name)
	if err != nil {
		return Found{}, err
	}
	for _, kind := range trainerFiles {
		if !in.hasAny(kind...) {
			return Found{}, in.missing(strings.Join(kind, " or "))
		}
	}
	if err := in.verifyTrainer(); err != nil {
		return Found{}, err
	}
	var state struct {
		Step *int64 `json:"global_step"`
	}
	if err := readJSON(fsys, in.at("trainer_state.json"), &state); err != nil {
		return Found{}, err
	}
	// A state of another step has been copied from another checkpoint, or the folder has been renamed.
	if state.Step == nil || *state.Step < 0 || number(name) >= 0 && *state.Step != number(name) {
		return Found{}, incomplete(in.at("trainer_state.json"), "it is not of step %d", number(name))
	}
	return in.found(*state.Step), nil
}

// trainerFiles are what a checkpoint has one of each: a file, a pattern, or a folder.
// The file latest stands for the engine of DeepSpeed, whose own files have the model, the optimizer and the
// schedule; they are verified as a checkpoint of its own.
var trainerFiles = [][]string{
	{"model.safetensors", "model" + indexEnding, "pytorch_model.bin", "pytorch_model.bin.index.json", "adapter_model.safetensors",
		"adapter_model.bin", "pytorch_model_fsdp*.bin", "pytorch_model_fsdp_*/", "latest"},
	{"optimizer.pt", "optimizer.bin", "optimizer_*/", "latest"},
	{"scheduler.pt", "latest"},
	{"rng_state.pth", "rng_state_0.pth"},
	{"trainer_state.json"},
}

// hasAny reports whether the folder has something that one of the patterns takes; those of folders end with a slash.
// The patterns are those of path.Match, relative to the folder.
func (f *folder) hasAny(patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if before, ok := strings.CutSuffix(pattern, "/"); ok {
			return len(f.within(before)) > 0
		}
		return len(f.matching(pattern)) > 0
	})
}

// within returns the folders below that a pattern takes.
// Each is returned once, and only if there is a file in it, at whatever depth: empty folders are not in the list
// of files. O(files).
func (f *folder) within(pattern string) []string {
	var below []string
	for _, file := range f.files {
		first, _, deeper := strings.Cut(file, "/")
		if ok, _ := path.Match(pattern, first); ok && deeper && !slices.Contains(below, first) { // the patterns are ours
			below = append(below, first)
		}
	}
	return below
}

// verifyTrainer reads what the folder has.
func (f *folder) verifyTrainer() error {
	if err := f.verify(); err != nil {
		return err
	}
	for _, index := range append(f.matching("*"+indexEnding), f.matching("*.bin.index.json")...) {
		if err := f.verifyShards(index); err != nil {
			return err
		}
	}
	// One process has rng_state.pth, several have one each, without a gap.
	// With n files of that form the ranks must be 0 to n-1: the files of a process that is missing are a hole,
	// or the number is wrong. How many processes there were no file tells, so one that is missing at the end is
	// not noticed.
	for rank := range len(f.matching("rng_state_*.pth")) {
		if file := fmt.Sprintf("rng_state_%d.pth", rank); !f.has(file) {
			return f.missing(file)
		}
	}
	// The formats of folders search a directory, which is this folder for them.
	below, err := fs.Sub(f.fsys, f.name)
	if err != nil {
		return damaged(f.name, err)
	}
	for _, sharded := range append(f.within("optimizer_*"), f.within("pytorch_model_fsdp_*")...) {
		if _, err := (Distributed{}).Verify(below, sharded); err != nil {
			return damaged(f.at(sharded), err)
		}
	}
	if f.has("latest") {
		// Without one whole folder of the engine there is nothing to load; its error, which is that of a search,
		// becomes one of this checkpoint.
		if _, err := (DeepSpeed{}).Newest(below); err != nil {
			return damaged(f.name, fmt.Errorf("%w: %w", ErrIncomplete, err))
		}
	}
	return nil
}

// verifyShards checks that the files that an index names are there: they were read, as all files.
// Those of safetensors are asked for their tensors as well, since the headers tell these without much reading.
func (f *folder) verifyShards(index string) error {
	if strings.HasSuffix(index, indexEnding) {
		_, err := verifyIndex(f.fsys, f.at(index))
		return err
	}
	var list struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := readJSON(f.fsys, f.at(index), &list); err != nil {
		return err
	}
	for _, file := range list.Map {
		if !f.has(file) {
			return f.missing(file)
		}
	}
	return nil
}
