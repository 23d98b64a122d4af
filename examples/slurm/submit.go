// This file implements submit, by which users hand in a job: a script that carries its arguments and its environment with it, and
// that runs nothing where Slurm starts it by itself.

package slurm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/apportion/apportion/checkpoint/managed"
)

// inert is what the script of a job does where it is started outside of an elastic run. Slurm starts it when the job is over, which
// its comment says, see end; or because somebody has released it, and then it is held again: the script never trains beside a run.
const inert = `if [ -z "$APPORTION_RANK" ]; then
	comment=$(squeue -h -j "$SLURM_JOB_ID" -o %k)
	case $comment in
	'` + mark + ` completed') exit 0 ;;
	'` + mark + ` failed'*) echo "$comment" >&2; exit 1 ;;
	esac
	echo 'apportion: released, and held again: the controller runs this job, and scancel ends it' >&2
	scontrol requeuehold "$SLURM_JOB_ID"
	exit 1
fi
`

// options are those of sbatch that are carried over to the parts of a run, or that are about the held job.
var options = set(`comment job-name hold parsable quiet cpus-per-task mem mem-per-cpu gres gpus-per-node gpus-per-task partition constraint
	account qos chdir output time mail-type mail-user ntasks nodes`)

// submit submits a job: options of sbatch, its script, and the arguments of that. env is the environment of the submission.
func submit(args, env []string) error {
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "-") {
		at++
	}
	if at == len(args) {
		return errors.New("use: submit [--option=value ...] script [argument ...], with options of sbatch")
	}
	text, err := os.ReadFile(args[at])
	if err != nil {
		return err
	}
	name := filepath.Base(args[at])
	header, body, err := wrap(string(text), name, args[at+1:], env)
	if err == nil {
		err = checkOptions(append(header, args[:at]...), env)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	cmd := exec.Command("sbatch", args[:at]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(body), os.Stdout, os.Stderr
	// What an elastic run is told would make a job that is submitted from inside of one train where Slurm starts it.
	cmd.Env = without(env, "APPORTION_")
	return cmd.Run()
}

// word is an argument in a line of #SBATCH: quotes keep blanks together.
var word = regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`)

// wrap returns the options in the head of a script, and the script of the job that is submitted in its place.
// sbatch reads the lines with # in front up to the first that is anything else; later ones override those before.
func wrap(text, name string, args, env []string) (options []string, wrapped string, err error) {
	lines := strings.SplitAfter(text, "\n")
	path, isScript := strings.CutPrefix(lines[0], "#!")
	if !isScript {
		return nil, "", errors.New("a first line that begins with #! is missing")
	}
	var head strings.Builder
	for _, line := range lines[1:] {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			break
		}
		head.WriteString(line)
		if rest, isOption := strings.CutPrefix(line, "#SBATCH"); isOption {
			list := word.FindAllString(rest, -1)
			if note := slices.IndexFunc(list, func(w string) bool { return w[0] == '#' }); note >= 0 {
				list = list[:note]
			}
			options = append(options, list...)
		}
	}
	const end = "APPORTION_SCRIPT"
	if strings.Contains(text, end) || strings.ContainsAny(name, "\"\\\n") {
		return nil, "", fmt.Errorf("%s in it, or a quote in its name, cannot be submitted", end)
	}
	// The interpreter's line may have one argument. The script is read by it from a descriptor, whatever language it is in.
	program, argument, _ := strings.Cut(strings.TrimSpace(path), " ")
	words := without(env, "APPORTION_", "SLURM", "SBATCH_", "CUDA_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES=", "HOSTNAME=", "PWD=", "_=")
	words = append(words, program)
	if argument != "" {
		words = append(words, strings.TrimSpace(argument))
	}
	words = append(append(words, "/dev/fd/9"), args...)
	return options, fmt.Sprintf("#!/bin/sh\n#SBATCH --job-name=\"%s\" --hold --requeue --open-mode=append\n%s\n%s%s 9<<'%s'\n%s\n%[5]s\n",
		name, head.String(), inert, "exec env "+managed.Quote(words...), end, text), nil
}

// checkOptions refuses options that are not carried over, in the head of the script, on the command line, or in variables of sbatch.
func checkOptions(list, env []string) error {
	for _, variable := range env {
		if rest, isOption := strings.CutPrefix(variable, "SBATCH_"); isOption {
			name, value, _ := strings.Cut(rest, "=")
			list = append(list, "--"+strings.ReplaceAll(strings.ToLower(name), "_", "-")+"="+value)
		}
	}
	marked := false
	for _, option := range list {
		name, value, _ := strings.Cut(option, "=")
		long, isLong := strings.CutPrefix(name, "--")
		if !isLong || !options[long] {
			return fmt.Errorf("%s is not carried over to an elastic run; options are written as --name=value", option)
		}
		marked = marked || long == "comment" && strings.HasPrefix(strings.Trim(value, `"'`), mark+" ")
	}
	if !marked {
		return fmt.Errorf("its comment does not begin with %s, see README.md", mark)
	}
	return nil
}

// without returns the variables that begin with none of these.
func without(env []string, prefixes ...string) []string {
	var kept []string
next:
	for _, variable := range env {
		for _, prefix := range prefixes {
			if strings.HasPrefix(variable, prefix) {
				continue next
			}
		}
		kept = append(kept, variable)
	}
	return kept
}
