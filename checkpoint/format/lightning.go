// This file implements the checkpoints of Lightning: files of torch.save that hold all of a training.

package format

import (
	"cmp"
	"io/fs"
	"math"
)

// Lightning knows the files *.ckpt of PyTorch Lightning. Each is a checkpoint by itself, with the states of model and
// optimizers and the step, and is verified as by [PyTorch]. The newest is that of the highest step. What its strategies
// for many processes write in place of a file is a folder: see [Distributed] and [DeepSpeed].
// Verify costs the bytes of the file: each record is read for its checksum, and the pickle twice more.
func Lightning() Format {
	return single{name: "lightning", ending: ".ckpt", number: stepOrFirst, verify: func(fsys fs.FS, name string) (int64, error) {
		if err := verifyArchive(fsys, name); err != nil {
			return -1, err
		}
		return trainingStep(fsys, name)
	}}
}

// stepOrFirst returns the step of a file. Users choose the patterns of names, with epochs and losses in them: the step stands in
// the file. One that does not tell it is looked at first, so that it is passed over with its reason.
func stepOrFirst(fsys fs.FS, name string) int64 {
	step, err := trainingStep(fsys, name)
	if err != nil {
		return math.MaxInt64
	}
	return step
}

// trainingStep returns the step that a checkpoint holds.
// The error says that it is no checkpoint to resume from: a file that cannot be read, or one that has no step,
// model or optimizers. The pickle is walked twice: for the number that follows a key, and for the keys.
func trainingStep(fsys fs.FS, name string) (int64, error) {
	keys, err := settings(fsys, name, "global_step")
	if err != nil {
		return -1, err
	}
	has := map[string]bool{}
	err = inPickle(fsys, name, func(value any) {
		if text, ok := value.(string); ok && (text == "state_dict" || text == "optimizer_states" || text == "pytorch-lightning_version") {
			has[text] = true
		}
	})
	step, told := keys["global_step"]
	if err == nil && (!told || len(has) < 3) {
		err = incomplete(name, "no step, or no state of the model or the optimizers")
	}
	return cmp.Or(step, 0), err
}
