// This file runs the commands and the job file of the README as they are printed, on a real YARN cluster.

package yarn

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// reader is somebody who does what the README says, with the programs in the path.
type reader struct {
	*cluster
	testing.TB
	dir string
	env []string
}

// write writes a file of the reader's that everybody may read and run.
func (r *reader) write(name, text string) {
	r.TB.Helper()
	name = filepath.Join(r.dir, name)
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o755)
	}
	if err != nil {
		r.TB.Fatal(err)
	}
}

func (c *cluster) newReader(t *testing.T) *reader {
	r := &reader{c, t, filepath.Join(c.Dir, "readme"), nil}
	java := func(class string) string { return managed.Quote(c.java(rmName, class)...) }
	trainer := must.Have(os.ReadFile(managertest.Path(t, "examples", "train.py")))(t)
	r.write("shared/train.py", string(trainer))
	// What `hadoop jar FILE` and `yarn application` run, from the jars; and the controller, with its guard in another place.
	r.write("bin/hadoop", "#!/bin/sh\nshift 2\nexec "+java("com.github.apportion.yarn.Holder")+` "$@"`+"\n")
	r.write("bin/yarn", "#!/bin/sh\nexec "+java("org.apache.hadoop.yarn.client.cli.ApplicationCLI")+` "$@"`+"\n")
	r.write("bin/apportion-yarn", "#!/bin/sh\ntest \"$1\" = queues && exec "+r.dir+"/controller \"$@\"\nexec "+r.dir+"/controller \"$@\" -guard "+r.dir+"/apportion-guard -look 300ms -max-deaths 2\n")
	processes.Build(t, r.dir, "controller", ".", "./apportion-yarn")
	processes.Build(t, r.dir, "apportion-guard", managertest.Path(t), "./checkpoint/guard/apportion-guard")
	r.env = append(os.Environ(), "PATH="+r.dir+"/bin:"+os.Getenv("PATH"))
	return r
}

// run runs commands of the README to their end, as a user, and returns what they print.
func (r *reader) run(uid uint32, script string) string {
	r.TB.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = r.dir, r.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.TB.Fatalf("%s\n%v: %s", script, err, out)
	}
	return string(out)
}

// final is how YARN says that a job has ended, and as whose.
func (r *reader) final(job string) (user, status string, containers int) {
	var answer struct {
		Apps struct {
			App []struct {
				Name, User, FinalStatus string
				RunningContainers       int
			}
		}
	}
	text, err := r.manager.do(context.Background(), "GET", "/ws/v1/cluster/apps", nil)
	if err != nil || json.Unmarshal(text, &answer) != nil {
		return "", "", 0
	}
	for _, a := range answer.Apps.App {
		if a.Name == job {
			user, status, containers = a.User, a.FinalStatus, a.RunningContainers
		}
	}
	return user, status, containers
}

// What the README prints can be run as it stands: but for go install, which internal/tools/publish runs, and the places and the
// queue that are a reader's own. An ordinary user submits the job, and one that comes to nothing fails by YARN's own word.
func (c *cluster) readme(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a command as another user needs root")
	}
	const daemon = 1 // an ordinary user, whom every system has
	must.Do(t, os.Chmod(c.Dir, 0o711))
	r := c.newReader(t)
	listen := "127.0.0.1:" + strconv.Itoa(processes.FreePorts(t, 1))
	own := []string{"/etc/hadoop/conf", filepath.Join(c.Dir, "conf-"+rmName), "/mnt/shared", filepath.Join(r.dir, "shared"), "10.0.0.5:7190", listen + " -min-run 0s", "research", "a"}
	sh, files := managertest.Blocks(t, "README.md", "sh", own...), managertest.Blocks(t, "README.md", "json", own...)
	if len(sh) != 3 || len(files) != 1 {
		t.Fatalf("%d blocks of commands, %d of jobs", len(sh), len(files))
	}
	var install []string
	for line := range strings.Lines(sh[0]) {
		if !strings.HasPrefix(line, "go install ") {
			install = append(install, line)
		}
	}
	t.Cleanup(func() {
		for _, pid := range processes.Of(r.dir, "controller") {
			_ = syscall.Kill(pid, syscall.SIGKILL) // its shell alone is a daemon of the cluster
		}
	})
	c.Start("readme", "env", append(r.env, "sh", "-ec", "cd "+managed.Quote(r.dir)+"\n"+strings.Join(install, ""))...)
	processes.Eventually(t, "the controller runs", 120*time.Second, func() bool {
		text, _ := os.ReadFile(filepath.Join(c.Dir, "log", "readme"))
		return strings.Contains(string(text), "page: http://"+listen)
	})
	r.write("lr.json", files[0])
	list := r.run(daemon, sh[1])
	processes.Eventually(t, "the job runs", 120*time.Second, func() bool { user, _, n := r.final("lr"); return user == "daemon" && n > 1 })
	if !strings.Contains(list, "Application-Name") {
		t.Errorf("the list of applications is %s", list)
	}
	_ = r.run(daemon, "rm shared/jobs/lr.json")
	processes.Eventually(t, "it is withdrawn", 90*time.Second, func() bool { _, status, _ := r.final("lr"); return status == "KILLED" })
	r.write("bad.json", strings.NewReplacer("python3", "/bin/false", "16", "1", `"min": 2`, `"min": 1`).Replace(files[0]))
	_ = r.run(daemon, strings.ReplaceAll(strings.SplitAfter(sh[1], "\n")[0], "lr.json", "bad.json"))
	processes.Eventually(t, "what comes to nothing has failed", 120*time.Second, func() bool { _, status, _ := r.final("bad"); return status == "FAILED" })
	// The reader is still in the shell in which the first commands were.
	r.env = append(r.env, confVariable+"="+own[1])
	_ = r.run(0, sh[2])
	c.resetQueues(t)
}
