// This file finds the training frameworks and sets up what their processes need.

// Package harness plays streams of real training jobs on a cluster of this machine under a policy, and
// tells how it went: what each adjustment cost, and whether each loss curve is that of the same job alone
// and undisturbed.
package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/checkpoint/workerlog"
	"github.com/apportion/apportion/examples/live/trainers"
	"github.com/apportion/apportion/examples/studies/inhouse/wire"
)

// EnvFrameworks names the folder with the frameworks, as checkpoint/format/fetch.sh leaves it.
const EnvFrameworks = "APPORTION_FRAMEWORKS"

// ErrNoFrameworks: EnvFrameworks is not set.
var ErrNoFrameworks = errors.New(EnvFrameworks + " does not name the folder of the frameworks: checkpoint/format/fetch.sh FOLDER makes it")

// Kit is what trainers are run with.
// It is made once for a play.
type Kit struct {
	frameworks, trainers string
}

// NewKit finds the frameworks and writes the trainers into a folder.
// Trainers that are there already are left as they are.
func NewKit(dir string) (*Kit, error) {
	folder := os.Getenv(EnvFrameworks)
	if folder == "" {
		return nil, ErrNoFrameworks
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(dir, trainers.Files); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "workerlog.py"), workerlog.Python, 0o600); err != nil {
		return nil, err
	}
	return &Kit{folder, dir}, nil
}

// scripts are the trainers by framework, in package trainers; Device is PyTorch's second one.
var scripts = map[string]string{"pytorch": "pytorch_rows.py", Device: "pytorch_device.py", "tensorflow": "tensorflow_digits.py", "mxnet": "mxnet_store.py"}

// Device names PyTorch on an accelerator as the framework of a job.
const Device = "pytorch on a device"

// Command returns the argument vector of a job, for its start and for every resumption.
// Every framework has a Python of its own.
func (k *Kit) Command(j *Job) []string {
	folder, _, _ := strings.Cut(j.Framework, " ")
	argv := []string{filepath.Join(k.frameworks, folder, "bin", "python"), filepath.Join(k.trainers, scripts[j.Framework])}
	return append(append(argv, j.Args...), "--steps", fmt.Sprint(j.Steps), "--seed", fmt.Sprint(j.Seed), "--cost", fmt.Sprint(j.Cost.Seconds()))
}

// environment is what the processes of all frameworks have: one thread each, and quiet.
// More threads than one would let jobs of one CPU slow each other down.
func environment() []string {
	return []string{EnvFrameworks + "=" + os.Getenv(EnvFrameworks), "OMP_NUM_THREADS=1", "CUBLAS_WORKSPACE_CONFIG=:4096:8", "GLOO_SOCKET_IFNAME=lo",
		"TF_CPP_MIN_LOG_LEVEL=3", "TF_ENABLE_ONEDNN_OPTS=0", "PYTHONDONTWRITEBYTECODE=1"}
}

// formats are those of the frameworks' checkpoints. The names that the trainers give count steps.
var formats = map[string]format.Format{
	"pytorch": format.PyTorch{StepsPerNumber: 1}, Device: format.PyTorch{StepsPerNumber: 1}, "tensorflow": format.TensorFlow{}, "mxnet": format.MXNet{StepsPerNumber: 1},
}

// Processes are the options by which an agent runs a job. A checkpoint counts when the trainer says that
// it is there and its bytes are those of a complete one.
func Processes(w wire.Work) command.Options {
	return command.Options{Env: environment(), Format: formats[w.Executor], Acknowledge: true}
}
