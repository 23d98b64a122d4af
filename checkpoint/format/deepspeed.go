// This file implements the checkpoints of DeepSpeed: folders of shards, and a file that names the newest whole one.

package format

import (
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// DeepSpeed knows what its engine writes: a folder for each tag, as global_step13, with files of torch.save for each
// process, and the file latest, which is written when all processes have written theirs and names the tag. A folder
// that latest does not name counts only if its number is lower. Of the shards of the optimizer there must be one for
// each process that the model's file tells of, or none at all, where the model's has it. The checksums of all are
// compared.
type DeepSpeed struct{}

// Name returns "deepspeed".
func (DeepSpeed) Name() string { return "deepspeed" }

// latest is the name of the file that names the newest tag; maxTag bounds it, in bytes.
const (
	latest = "latest"
	maxTag = 255
)

// The files of a folder: the parts of the model, and the shards of the optimizer or, of ZeRO's third stage, the model.
var (
	modelPart = regexp.MustCompile(`^mp_rank_([0-9]+)_model_states\.pt$`)
	zeroPart  = regexp.MustCompile(`^(?:bf16_|fp16_)?zero_pp_rank_([0-9]+)_mp_rank_([0-9]+)_(optim|model)_states\.pt$`)
)

// Newest implements [Format].
func (f DeepSpeed) Newest(fsys fs.FS) (Found, error) {
	candidates, err := foldersOf(fsys, func(name string) bool {
		entries, _ := fs.ReadDir(fsys, name) // one that cannot be listed has none
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), "_states.pt") {
				return true
			}
		}
		return false
	})
	if err != nil {
		return Found{}, err
	}
	return newest(f, fsys, candidates)
}

// Verify implements [Format]; name is the tag.
func (f DeepSpeed) Verify(fsys fs.FS, name string) (Found, error) {
	in, err := enter(fsys, name)
	if err != nil {
		return Found{}, err
	}
	tag, err := latestTag(fsys)
	if err != nil {
		return Found{}, err
	}
	if tag != name && number(name) >= number(tag) {
		return Found{}, incomplete(name, "latest names %.60q", tag)
	}
	if err := in.verify(); err != nil {
		return Found{}, err
	}
	step, err := in.verifyRanks()
	if err != nil {
		return Found{}, err
	}
	found := in.found(step)
	// The framework finds the tag by this file.
	if tag == name {
		found.Files = append(found.Files, latest)
	}
	return found, nil
}

// latestTag returns the tag that the file latest names.
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
func (f *folder) verifyRanks() (int64, error) {
	told, models := "", 0
	shards := map[string]bool{}
	counts := map[string]int64{}
	for _, file := range f.files {
		if modelPart.MatchString(file) {
			models++
			told = file
		} else if m := zeroPart.FindStringSubmatch(file); m != nil {
			counts[m[3]]++
			shards[m[3]+" "+trimZeros(m[1])+" "+trimZeros(m[2])] = true
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
	if data < 1 || data > mostFiles || model > mostFiles {
		return 0, incomplete(f.at(told), "it tells of %d by %d processes", data, model)
	}
	if models > 0 && int64(models) != model {
		return 0, incomplete(f.name, "%d parts of the model of %d", models, model)
	}
	// What the model's file has None of is in the shards.
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

// trimZeros returns a decimal number without the zeros before it.
func trimZeros(digits string) string {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return digits
	}
	return strconv.FormatInt(n, 10)
}
