// This file tests what users submit: what a script carries with it, what it does by itself, and which options are refused.

package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// trains is a script of a user that prints its arguments and a variable.
const trains = "#!/bin/sh\n# trains\n#SBATCH --comment=\"apportion max=16 # min=2\" --cpus-per-task=2 # of each task\n\n#SBATCH --gres=gpu:1\n" +
	"echo \"$# $1 $2 $WORD $SLURM_NODEID\"\n#SBATCH --exclusive\n"

// The script that is submitted runs the user's with its arguments and environment inside of an elastic run, and nothing outside.
func TestWrap(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for name, text := range map[string]string{"squeue": "cat " + dir + "/comment", "scontrol": "echo \"$@\" >> " + dir + "/held"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "WORD=it's \"one\"", "SLURM_NODEID=login", "APPORTION_RANK=7"}
	for language, text := range map[string]string{
		"sh":     trains,
		"python": "#!/usr/bin/env python3\nimport sys, os\nprint(len(sys.argv)-1, *sys.argv[1:], os.environ['WORD'], os.environ['SLURM_NODEID'])\n",
	} {
		_, wrapped, err := wrap(text, "train me.sh", []string{"--lr=0.1 2", "b'"}, env)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			rank, comment, out string
			status             int
			held               bool
		}{
			{"0", "", "2 --lr=0.1 2 b' it's \"one\" 3", 0, false},
			{"", "apportion max=16", "", 1, true},
			{"", "apportion completed", "", 0, false},
			{"", "apportion failed it dies again and again", "", 1, false},
			{"", "apportion completed or not", "", 1, true},
		} {
			must.Do(t, os.WriteFile(filepath.Join(dir, "comment"), []byte(test.comment+"\n"), 0o600))
			_ = os.Remove(filepath.Join(dir, "held")) // it may not be there
			cmd := exec.Command("/bin/sh", "-c", wrapped)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SLURM_NODEID=3", "SLURM_JOB_ID=12", "APPORTION_RANK=" + test.rank}
			out, _ := cmd.Output() // its status is looked at
			held, _ := os.ReadFile(filepath.Join(dir, "held"))
			if strings.TrimSpace(string(out)) != test.out || cmd.ProcessState.ExitCode() != test.status || (string(held) == "requeuehold 12\n") != test.held {
				t.Errorf("%s, %+v: %q, status %d, scontrol %q", language, test, out, cmd.ProcessState.ExitCode(), held)
			}
		}
	}
}

// The head of the script goes to sbatch as it is, and its options are read as sbatch does.
func TestHead(t *testing.T) {
	options, wrapped, err := wrap(trains, "train.sh", nil, nil)
	if err != nil || !slices.Equal(options, []string{`--comment="apportion max=16 # min=2"`, "--cpus-per-task=2", "--gres=gpu:1"}) {
		t.Errorf("%q, %v", options, err)
	}
	if head, _, _ := strings.Cut(wrapped, inert); !strings.Contains(head, "\n#SBATCH --gres=gpu:1\n") || strings.Contains(head, "exclusive") {
		t.Errorf("the head is %q", head)
	}
	for _, text := range []string{"", "train\n", "#!/bin/sh\nAPPORTION_SCRIPT\n"} {
		if _, _, err := wrap(text, "train.sh", nil, nil); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// An option that no run would have is refused where it is written.
func TestOptions(t *testing.T) {
	comment := `--comment="apportion max=4"`
	if err := checkOptions([]string{comment, "--time=10", "--output=a.%j", "--parsable"}, []string{"SBATCH_PARTITION=p", "HOME=/"}); err != nil {
		t.Error(err)
	}
	for _, test := range []struct{ option, variable, want string }{
		{"--array=1-3", "", "--array=1-3"}, {"--exclusive", "", "--exclusive"}, {"--gpus=2", "", "--gpus=2"}, {"--export=NONE", "", "--export"},
		{"--signal=USR1@60", "", "--signal"}, {"-c", "", "-c is"}, {"2", "", "2 is"}, {"--begin=now+1hour", "", "--begin"},
		{"", "SBATCH_EXPORT=NONE", "--export=NONE"}, {"", "SBATCH_ARRAY_INX=1", "--array-inx"},
	} {
		list := []string{comment}
		if test.option != "" {
			list = append(list, test.option)
		}
		if err := checkOptions(list, []string{test.variable}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
	if err := checkOptions([]string{"--comment=other"}, nil); err == nil || !strings.Contains(err.Error(), "comment") {
		t.Errorf("a job that is not marked: %v", err)
	}
	for _, args := range [][]string{nil, {"--parsable"}, {"missing.sh"}} {
		if err := submit(args, nil); err == nil {
			t.Errorf("%q is submitted", args)
		}
	}
}
