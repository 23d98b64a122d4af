// This file implements the checkpoints of DeepSpeed: folders of shards, and a file that names the newest whole one.

package format

import (
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
)

// DeepSpeed knows what its engine writes: a folder for each tag, as global_step13, with files of torch.save for each
// process, and the file latest, which is written when all processes have written theirs and names the tag. A folder
// that latest does not name counts only if its number is lower. Of the shards of the optimizer there must be one for
// each process that the model's file tells of, or none at all, where the model's has it. The checksums of all are
// compared.
//
// Verify reads every *.pt of the folder to its end. What it accepts can be loaded by as many processes as have
// written it; by how many others is the framework's affair.
//
// The file latest is for Verify to judge, so that a candidate which it rules out is told with that reason.
func DeepSpeed() Format {
	states := func(name string) bool { return strings.HasSuffix(name, "_states.pt") }
	return folders{name: "deepspeed", like: holding(states), verify: verifyTag}
}

// latest is the name of the file that names the newest tag; maxTag bounds it, in bytes.
const (
	latest = "latest"
	maxTag = 255
)

// The files of a folder: the parts of the model, and the shards of the optimizer or, of ZeRO's third stage, the model.
var (
	// The groups of zeroPart are the rank within the data's parallel parts and that within the model's, without zeros
	// before them, and what the file holds. The prefix tells in which precision the process trained.
	modelPart = regexp.MustCompile(`^mp_rank_[0-9]+_model_states\.pt$`)
	zeroPart  = regexp.MustCompile(`^(?:bf16_|fp16_)?zero_pp_rank_0*([0-9]+)_mp_rank_0*([0-9]+)_(optim|model)_states\.pt$`)
)

// verifyTag verifies the folder of a tag, and returns its step.
// A folder that latest does not name was given up before all processes were ready, unless a later one was
// finished. The number decides, since engines count upward; where the tag has no number, no other folder
// counts.
func verifyTag(in *folder) (int64, error) {
	tag, err := latestTag(in.fsys)
	if err != nil {
		return 0, err
	}
	if tag != in.name && number(in.name) >= number(tag) {
		return 0, incomplete(in.name, "latest names %.60q", tag)
	}
	if tag == in.name {
		in.beside = []string{latest}
	}
	if err := in.verify(); err != nil {
		return 0, err
	}
	return in.verifyRanks()
}

func latestTag(fsys fs.FS) (string, error) {
	file, err := open(fsys, latest)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, 0, maxTag))
	if err != nil {
		return "", damaged(latest, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// verifyRanks checks that no process's files are missing, and returns the step.
// How many processes there were is told by the file of the model that every checkpoint has, or by a shard of it
// where ZeRO's third stage has split the model; any of them has all counts. The step is -1 where none is told.
// O(files), and one walk over a pickle.
func (f *folder) verifyRanks() (int64, error) {
	// told is the file whose settings are believed, models the number of parts of the model, and shards the set
	// of those that are there, by kind and both ranks.
	told, models := "", 0
	shards := map[string]bool{}
	counts := map[string]int64{}
	for _, file := range f.files {
		if modelPart.MatchString(file) {
			models++
			told = file
		} else if m := zeroPart.FindStringSubmatch(file); m != nil {
			counts[m[3]]++
			shards[m[3]+" "+m[1]+" "+m[2]] = true
			if m[3] == "model" && told == "" {
				told = file
			}
		}
	}
	if told == "" {
		return 0, f.missing("mp_rank_00_model_states.pt")
	}
	values, err := settings(f.fsys, f.at(told), "dp_world_size", "mp_world_size", "global_steps", "optimizer")
	if err != nil {
		return 0, err
	}
	data, model := values["dp_world_size"], max(1, values["mp_world_size"])
	// The bound keeps the product below from overflowing, and the loops from running for a number that damage
	// has made.
	if data < 1 || data > mostFiles || model > mostFiles {
		return 0, incomplete(f.at(told), "it tells of %d by %d processes", data, model)
	}
	if models > 0 && int64(models) != model {
		return 0, incomplete(f.name, "%d parts of the model of %d", models, model)
	}
	// What the model's file has None of is in the shards.
	// The key alone has the loop below ask for all shards, also where not a single one is there.
	if values["optimizer"] == -1 {
		counts["optim"] += 0
	}
	for kind := range counts {
		for i := range data * model {
			if !shards[fmt.Sprint(kind, " ", i/model, " ", i%model)] {
				return 0, f.missing(fmt.Sprintf("zero_pp_rank_%d_mp_rank_%02d_%s_states.pt", i/model, i%model, kind))
			}
		}
	}
	step, ok := values["global_steps"]
	if !ok {
		step = -1
	}
	return step, nil
}
