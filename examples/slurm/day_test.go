// This file plays a day of a real trace on a real Slurm cluster: by Slurm's backfill alone, and with the controller beside it.

package slurm

import (
	"flag"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/day"
)

// Controlled implements managertest.Player.
func (b *bench) Controlled() *managertest.Bench { return b.Bench }

// Elastic implements managertest.Player.
func (b *bench) Elastic(j *day.Job, argv []string) string {
	return b.elastic(j.Name, "exec "+strings.Join(argv, " "), "--comment="+mark+" max="+strconv.FormatInt(j.Max, 10))
}

// Fixed implements managertest.Player. Its user asks for twice the time that it takes, in Slurm's whole minutes.
func (b *bench) Fixed(_ string, j *day.Job, argv []string, env map[string]string) string {
	script := managed.Export(env) + "exec srun sh -c " + managed.Quote("APPORTION_RANK=$SLURM_PROCID APPORTION_SERVER=$SLURMD_NODENAME exec "+strings.Join(argv, " "))
	minutes := int(math.Ceil(2 * j.Work / float64(j.Fixed) / 60))
	return b.sbatch(j.Name, script, "--ntasks="+strconv.FormatInt(j.Fixed, 10), "--time="+strconv.Itoa(minutes), "--output=/dev/null")
}

// Left implements managertest.Player.
func (b *bench) Left() int {
	return len(strings.Fields(b.slurm("squeue", "-h", "-o", "%i")))
}

func TestDay(t *testing.T) {
	managertest.Daily{Manager: "slurm", Slots: 24, Bench: func(t *testing.T) managertest.Player {
		return newBench(t, len(nodes))
	}}.Day(t)
}

var nodesFlag = flag.Int("nodes", 3, "on how many nodes TestHours plays; from ten on a task takes a whole one")

func TestHours(t *testing.T) {
	cpus, slots := 1, 8*int64(*nodesFlag)
	if *nodesFlag >= 10 {
		cpus, slots = 8, int64(*nodesFlag)
	}
	managertest.Daily{Manager: "slurm", Slots: slots, Bench: func(t *testing.T) managertest.Player {
		b := newBench(t, *nodesFlag, "SlurmdTimeout=600")
		b.cpus = cpus
		return b
	}}.Hours(t)
}
