// This file runs the commands and the files of README.md as they are printed, on a real Slurm cluster.

package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// goInstall is the go command of a machine that has this module, in the work tree, in the place of the newest version: internal/tools/publish tests
// `go install` itself.
const goInstall = `#!/bin/sh
[ "$1" = install ] && name=${2%@latest} && [ "$name" != "$2" ] || exit 2
mkdir -p "$GOBIN" && exec REAL build -C ROOT -o "$GOBIN/" "$name"
`

// A reader of README.md who does what it says has elastic jobs that are resized and complete. The names of the shared folder and of
// the address are the reader's own.
func TestReadme(t *testing.T) {
	c := newCluster(t, 1)
	b := &bench{cluster: c, Bench: &managertest.Bench{TB: t, Dir: c.Dir}}
	shared, root := filepath.Join(c.Dir, "shared"), "." // the module, which requires the guard's
	// The test has no minute for each run.
	own := []string{"/mnt/shared", shared, "10.0.0.5:7190", "127.0.0.1:" + strconv.Itoa(processes.FreePorts(t, 1)) + " -min-run 0s"}
	sh, python := managertest.Blocks(t, "README.md", "sh", own...), managertest.Blocks(t, "README.md", "python", own...)
	if len(sh) != 3 || len(python) != 1 {
		t.Fatalf("%d blocks of commands, %d of a trainer", len(sh), len(python))
	}
	for _, folder := range []string{shared, filepath.Join(c.Dir, "go")} {
		must.Do(t, os.MkdirAll(folder, 0o755))
	}
	program, err := exec.LookPath("go")
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Write("go/go", strings.NewReplacer("REAL", program, "ROOT", root).Replace(goInstall), 0o755)
	t.Setenv("PATH", filepath.Join(c.Dir, "go")+":"+os.Getenv("PATH"))

	c.Start("readme", "/bin/sh", "-ec", sh[0])
	processes.Eventually(b.Bench, "the controller has begun", 2*time.Minute, func() bool {
		text, _ := os.ReadFile(filepath.Join(c.Dir, "log", "readme"))
		return strings.Contains(string(text), "page: ")
	})

	anna := b.newPerson("anna")
	for name, text := range map[string]string{"train.sh": sh[1], "train.py": python[0]} {
		must.Do(t, os.WriteFile(filepath.Join(anna.HomeDir, name), []byte(text), 0o644))
	}
	t.Setenv("PATH", shared+"/bin:"+os.Getenv("PATH"))
	if out := b.as(anna, "/bin/sh", "-ec", sh[2]); !strings.Contains(out, "Submitted batch job 1") || !strings.Contains(out, " lr ") {
		t.Errorf("submit and squeue print %s", out)
	}
	output := func(number string) string {
		text, _ := os.ReadFile(filepath.Join(anna.HomeDir, "slurm-"+number+".out")) // it may not be there yet
		return string(text)
	}
	first := "begins at step 0 of 4 tasks with --lr 0.1"
	processes.Eventually(b.Bench, "the job trains", time.Minute, func() bool { return strings.Contains(output("1"), first) })
	out := b.as(anna, "/bin/sh", "-ec", sh[2])
	second := regexp.MustCompile(`Submitted batch job (\d+)`).FindStringSubmatch(out)
	if second == nil {
		t.Fatal(out)
	}
	for _, number := range []string{"1", second[1]} {
		processes.Eventually(b.Bench, "job "+number+" is COMPLETED", 3*time.Minute, func() bool { return b.job("lr."+number).State == "COMPLETED" })
	}
	if resumed := regexp.MustCompile(`begins at step [1-9]\d* of 2 tasks`); !resumed.MatchString(output("1")) {
		t.Errorf("the job was not resized from what it had saved: %s", output("1"))
	}
}
