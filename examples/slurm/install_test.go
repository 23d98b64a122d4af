// This file installs, upgrades and removes the controller as README.md says it, as an ordinary user, on a real Slurm cluster. There is no
// systemd in a test: what stands in its place starts what the unit says, with no more rights.

package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// systemctl starts and ends the command of the unit in the folder ETC as the user USER.
const systemctl = `#!/bin/sh
end() { [ ! -f ETC/pid ] || { kill "$(cat ETC/pid)"; while kill -0 "$(cat ETC/pid)" 2>/dev/null; do sleep 0.1; done; rm ETC/pid; }; }
begin() {
	mkdir -p STATE/slurm && chown -R USER STATE
	command=$(sed -n 's/^ExecStart=//p' 'ETC/apportion@.service' | sed 's/%i/slurm/g; s|/etc/apportion|ETC|; s|/var/lib/apportion|STATE|; s|/usr/local/bin|BIN|')
	setpriv --reuid=USER --regid=USER --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all $command >>ETC/log 2>&1 &
	echo $! >ETC/pid
}
case "$1" in
enable) begin;; restart) end; begin;; disable) end;; daemon-reload) ;; *) exit 2;;
esac
`

// parts are the parts of runs that live, as Slurm shows them, and their CPUs.
func (b *bench) parts() (ids []int64, cpus int64) {
	b.Bench.Helper()
	jobs, err := ask[job](b.Bench.Context(), "squeue", "jobs")
	if err != nil {
		b.Bench.Fatal(err)
	}
	for i := range jobs {
		if j := &jobs[i]; strings.HasPrefix(j.Name, mark+"/") && isAlive(j.State) {
			ids, cpus = append(ids, j.ID), cpus+j.CPUs
		}
	}
	slices.Sort(ids)
	return ids, cpus
}

func TestInstalled(t *testing.T) {
	b := newBench(t, 2)
	b.End()
	operator := b.newPerson("operator")
	at := func(name string) string { return filepath.Join(b.Dir, name) }
	for _, name := range []string{"installed", "installed/bin", "units", "own"} {
		must.Do(t, os.MkdirAll(at(name), 0o755))
	}
	must.Do(t, os.Chown(at("installed"), int(operator.Credential.Uid), int(operator.Credential.Gid)))
	for from, to := range map[string]string{"controller": "bin/apportion-slurm", "apportion-guard": "installed/bin/apportion-guard"} {
		must.Do(t, os.MkdirAll(filepath.Dir(at(to)), 0o755))
		must.Do(t, os.Link(at(from), at(to)))
	}
	replaced := strings.NewReplacer("ETC", at("units"), "STATE", at("own"), "BIN", at("bin"), "USER", operator.Username)
	b.cluster.Write("path/systemctl", replaced.Replace(systemctl), 0o755)
	t.Setenv("PATH", at("path")+":"+os.Getenv("PATH"))
	unit := managertest.Path(t, "checkpoint", "controller", "daemon", "deploy", "apportion@.service")
	blocks := managertest.Blocks(t, "README.md", "bash", "/etc/systemd/system", at("units"), "/etc/apportion", at("units"), "/var/lib/apportion", at("own"),
		"/usr/local/bin", at("bin"), "/mnt/shared", at("installed"), "10.0.0.5:7190", "127.0.0.1:"+strconv.Itoa(processes.FreePorts(t, 1)), `"lease": "30s"`, `"lease": "6s", "look": "300ms"`,
		"checkpoint/controller/daemon/deploy/apportion@.service", unit, "useradd --system apportion", ":")
	if len(blocks) != 3 {
		t.Fatalf("%d blocks", len(blocks))
	}
	run := func(script string) {
		t.Helper()
		if out, err := command(t.Context(), "", "/bin/sh", "-ec", script); err != nil {
			t.Fatalf("%s\n%v: %s", script, err, out)
		}
	}

	run(blocks[0])
	file := filepath.Join(operator.HomeDir, "train.sh")
	b.cluster.Write(filepath.Join("home-"+operator.Username, "train.sh"), fmt.Sprintf("#!/bin/sh\nmkdir -p locks\nexec %s train -steps 1000000 -cost 1ms -locks locks\n", b.Trainer), 0o755)
	b.as(operator, at("bin/apportion-slurm"), "submit", "--parsable", "--job-name=x", "--cpus-per-task=1", "--mem-per-cpu=500", "--comment=apportion max=16", file)
	processes.Eventually(b.Bench, "the job has all CPUs", 60*time.Second, func() bool { _, cpus := b.parts(); return cpus == 16 })
	before, _ := b.parts()

	run(blocks[1])
	said := func() string { text, _ := os.ReadFile(at("units/log")); return string(text) } // what is missing says nothing
	processes.Eventually(b.Bench, "the next controller leads", 60*time.Second, func() bool { return strings.Count(said(), "msg=leads ") == 2 })
	time.Sleep(10 * time.Second) // more than a lease
	if after, _ := b.parts(); !slices.Equal(before, after) {
		t.Errorf("an upgrade has replaced the parts %v by %v:\n%s", before, after, said())
	}

	run(blocks[2])
	processes.Eventually(b.Bench, "nothing of it runs", 60*time.Second, func() bool { ids, _ := b.parts(); return len(ids) == 0 })
	for _, folder := range []string{"installed", "own", "bin", "units"} {
		entries, err := os.ReadDir(at(folder))
		for _, e := range entries {
			if name := e.Name(); name != "log" {
				t.Errorf("%s is left in %s", name, folder)
			}
		}
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
}
