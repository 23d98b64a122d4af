// This file implements the checkpoints of the Trainer of Hugging Face's transformers.

package format

import (
	"fmt"
	"io/fs"
	"regexp"
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
func HuggingFace() Format {
	return folders{name: "huggingface", like: named(checkpointFolder.MatchString), needs: trainerFiles, verify: verifyTrainer}
}

var checkpointFolder = regexp.MustCompile(`^checkpoint-[0-9]+$`)

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

// verifyTrainer verifies a folder, and reads its step. Only of a folder with a number in its name the two must be the same.
func verifyTrainer(in *folder) (int64, error) {
	if err := in.verifyStates(); err != nil {
		return 0, err
	}
	var state struct {
		Step *int64 `json:"global_step"`
	}
	if err := readJSON(in.fsys, in.at("trainer_state.json"), &state); err != nil {
		return 0, err
	}
	// A state of another step has been copied from another checkpoint, or the folder has been renamed.
	if state.Step == nil || *state.Step < 0 || number(in.name) >= 0 && *state.Step != number(in.name) {
		return 0, incomplete(in.at("trainer_state.json"), "it is not of step %d", number(in.name))
	}
	return *state.Step, nil
}

func (f *folder) verifyStates() error {
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
		if _, err := Distributed(0).Verify(below, sharded); err != nil {
			return damaged(f.at(sharded), err)
		}
	}
	if f.has("latest") {
		if _, err := DeepSpeed().Newest(below); err != nil {
			return damaged(f.name, fmt.Errorf("%w: %w", ErrIncomplete, err))
		}
	}
	return nil
}

// verifyShards checks that the files that an index names are there: they were read, as all files.
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
