// This file runs the commands and job files of the READMEs as they are printed, on a real Nomad cluster.

package nomad

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// reader is somebody who does what the READMEs say: with the programs in the path, and an operator's token.
type reader struct {
	*cluster
	shared, listen string
	env            []string
}

func newReader(t *testing.T) *reader {
	c := prepare(t, "n1")
	c.up("acl {\n  enabled = true\n}\n", &api.Config{Address: c.address("http")})
	token := c.bootstrap()
	c.ready(1)
	r := &reader{c, filepath.Join(c.Dir, "shared"), "127.0.0.1:" + strconv.Itoa(processes.FreePorts(t, 1)), nil}
	processes.Build(t, c.Dir, "controller", ".", "./apportion-nomad")
	processes.Build(t, c.Dir, "apportion-guard", managertest.Path(t), "./checkpoint/guard/apportion-guard")
	// The guard lies elsewhere than on a real node, and a test has no minute for each run.
	c.Write("bin/apportion-nomad", "#!/bin/sh\nexec "+c.Dir+"/controller \"$@\" -guard "+c.Dir+"/apportion-guard -look 300ms -min-run 0s -theta1 1 -theta2 1\n", 0o755)
	trainer := must.Have(os.ReadFile(managertest.Path(t, "examples", "train.py")))(t)
	c.Write("shared/train.py", string(trainer), 0o644)
	must.Do(t, os.Symlink(c.binary, filepath.Join(c.Dir, "bin", "nomad")))
	r.env = []string{"PATH=" + c.Dir + "/bin:" + os.Getenv("PATH"), "NOMAD_ADDR=" + c.address("http"), "NOMAD_TOKEN=" + token}
	return r
}

// run runs commands of a README for the reader, in the folder of the README.
func (r *reader) run(folder, script string) {
	r.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), r.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.Fatalf("%s\n%v: %s", script, err, out)
	}
}

// begin runs commands of which the last does not end.
func (r *reader) begin(name, script string) {
	r.Helper()
	r.Start(name, "env", append(r.env, "sh", "-ec", script)...)
}

// runs waits until a job has so many containers.
func (r *reader) runs(job string, want int) {
	r.Helper()
	processes.Eventually(r, job+" has "+strconv.Itoa(want)+" containers", 90*time.Second, func() bool {
		list, _, err := r.client.Jobs().Allocations(job, false, nil)
		running := 0
		for _, a := range list {
			if a.ClientStatus == api.AllocClientStatusRunning && a.DesiredStatus == api.AllocDesiredStatusRun {
				running++
			}
		}
		return err == nil && running == want
	})
}

// began is the greatest step that any container has said that it begins with.
func (r *reader) began() (step int) {
	files, _ := filepath.Glob(filepath.Join(r.Dir, "n1", "alloc", "*", "alloc", "logs", "train.stdout.0"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if found := regexp.MustCompile(`begins with step (\d+)`).FindSubmatch(text); found != nil {
			n, _ := strconv.Atoi(string(found[1]))
			step = max(step, n)
		}
	}
	return step
}

// What this package's READMEs print can be run as it stands: but for go install, which internal/tools/publish runs, and the
// places that are a reader's own.
func TestReadme(t *testing.T) {
	r := newReader(t)
	own := []string{"https://127.0.0.1:4646", r.address("http"), "/mnt/shared", r.shared, "10.0.0.5:7190", r.listen}
	sh, hcl := managertest.Blocks(t, "README.md", "sh", own...), managertest.Blocks(t, "README.md", "hcl", own[2:4]...)
	if len(sh) != 3 || len(hcl) != 1 || !strings.HasPrefix(sh[0], "go install ") {
		t.Fatalf("%d blocks of commands, %d of jobs", len(sh), len(hcl))
	}
	r.begin("readme", sh[1])
	r.Write("lr.hcl", hcl[0], 0o644)
	r.run(r.Dir, strings.SplitAfter(sh[2], "\n")[0])
	r.runs("lr/run", 8)
	r.run(r.Dir, sh[2])
	// Another one has half of it, and the first goes on with what it has saved.
	r.Write("lr.hcl", strings.Replace(hcl[0], `"lr"`, `"lr2"`, 1), 0o644)
	r.run(r.Dir, sh[2][:strings.Index(sh[2], "\n")])
	r.runs("lr2/run", 4)
	r.runs("lr/run", 4)
	processes.Eventually(t, "the trainer goes on with what it has saved", 30*time.Second, func() bool { return r.began() > 0 })
	r.run(r.Dir, "nomad job stop lr && nomad job stop lr2")
	r.runs("lr/run", 0)
	r.runs("lr2/run", 0)
	for _, pid := range processes.Of(r.Dir, "controller") {
		_ = syscall.Kill(pid, syscall.SIGKILL) // its shell alone is the test's child
	}

	own = []string{"/var/lib/apportion", r.Dir + "/advisor", "127.0.0.1:7190", r.listen}
	sh, hcl = managertest.Blocks(t, "strategy/README.md", "sh", own...), managertest.Blocks(t, "strategy/README.md", "hcl", own...)
	r.begin("advisor", sh[0])
	r.Write("strategy.hcl", hcl[1], 0o644)
	r.run(r.Dir, "nomad job run -detach strategy.hcl")
	r.runs("lr", 1)
	processes.Eventually(t, "the advisor answers", 60*time.Second, func() bool {
		text, _ := os.ReadFile(filepath.Join(r.Dir, "log", "advisor"))
		return strings.Contains(string(text), "decisions: http://"+r.listen)
	})
}
