// This file runs a real Slurm cluster on the loopback for the tests: munge, slurmctld, and a slurmd for each node.

package slurm

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// requireVariable says that Slurm must be there.
const requireVariable = "APPORTION_REQUIRE_SLURM"

// cluster is a Slurm cluster whose daemons are processes.
type cluster struct {
	*processes.Group
	port int
}

// newCluster starts a cluster with so many nodes of 8 CPUs and 4 GPUs, which are files. More are lines of the configuration.
func newCluster(t testing.TB, nodes int, more ...string) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("real jobs on a real cluster take a minute")
	}
	for _, program := range []string{"munged", "slurmctld", "slurmd", "scontrol", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv(requireVariable) != "" {
				t.Fatalf("%v: make slurm installs it", err)
			}
			t.Skipf("%v: make slurm installs it", err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("Slurm's daemons need root")
	}
	c := &cluster{Group: processes.New(t, "slurm")}
	dir := c.Dir
	c.port = processes.FreePorts(t, 1)
	c.configure(nodes, more)
	t.Setenv("SLURM_CONF", filepath.Join(dir, "etc", "slurm.conf"))
	c.Start("munged", "munged", "-F", "--key-file="+dir+"/etc/munge.key", "--socket="+dir+"/munge/sock", "--pid-file="+dir+"/munge/pid",
		"--log-file="+dir+"/munge/log", "--seed-file="+dir+"/munge/seed")
	processes.Eventually(c, "munge answers", 20*time.Second, func() bool { _, err := os.Stat(dir + "/munge/sock"); return err == nil })
	c.startDaemon(slurmctld)
	for i := range nodes {
		c.startDaemon(nodeName(i))
	}
	processes.Eventually(c, "all nodes are idle", 60*time.Second, func() bool {
		text, err := command(context.Background(), "", "sinfo", "-h", "-t", "idle", "-o", "%D")
		return err == nil && strings.TrimSpace(text) == strconv.Itoa(nodes)
	})
	return c
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i+1) }

// configure writes the configuration.
func (c *cluster) configure(nodes int, more []string) {
	c.Helper()
	for _, folder := range []string{"etc", "state", "log", "munge", "spool"} {
		must.Do(c, os.MkdirAll(filepath.Join(c.Dir, folder), 0o755))
	}
	must.Do(c, os.Chmod(c.Dir, 0o755))
	key := make([]byte, 1024)
	_, _ = rand.Read(key) // which never fails
	host := must.Have(os.Hostname())(c)
	host, _, _ = strings.Cut(host, ".")
	// Ports in a row are had by some dozens.
	var ports []string
	for left := nodes; left > 0; left -= 40 {
		n := min(left, 40)
		first := processes.FreePorts(c, n)
		ports = append(ports, fmt.Sprintf("%d-%d", first, first+n-1))
	}
	c.Write("etc/munge.key", string(key), 0o400)
	c.Write("etc/slurm.conf", fmt.Sprintf(configuration, host, c.Dir, c.port, nodes, "["+strings.Join(ports, ",")+"]")+strings.Join(more, "\n")+"\n", 0o644)
	c.Write("etc/gres.conf", fmt.Sprintf("NodeName=n[1-%d] Name=gpu File=/dev/tty[0-3]\n", nodes), 0o644)
	for i := range nodes {
		must.Do(c, os.MkdirAll(filepath.Join(c.Dir, "spool", nodeName(i)), 0o755))
	}
}

const configuration = `ClusterName=t
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge/sock
CredType=cred/munge
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool/%%n
SlurmctldPidFile=%[2]s/ctld.pid
SlurmdPidFile=%[2]s/slurmd-%%n.pid
SlurmctldPort=%[3]d
SlurmdTimeout=10
CommunicationParameters=NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
MpiDefault=none
ReturnToService=2
KillWait=2
MinJobAge=300
GresTypes=gpu
SlurmdParameters=config_overrides
NodeName=n[1-%[4]d] NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[5]s CPUs=8 RealMemory=16000 Gres=gpu:4 Feature=fast State=UNKNOWN
PartitionName=p Nodes=n[1-%[4]d] Default=YES MaxTime=INFINITE State=UP
`

// slurmctld is Slurm's controller among the daemons; the others have the names of their nodes.
const slurmctld = "slurmctld"

func (c *cluster) startDaemon(name string) {
	if name == slurmctld {
		c.Start(name, slurmctld, "-D")
	} else {
		c.Start(name, "slurmd", "-D", "-N", name)
	}
}
