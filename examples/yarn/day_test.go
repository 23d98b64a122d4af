// This file plays a day of a real trace on a real YARN cluster: by the CapacityScheduler alone, and with the controller
// beside it.

package yarn

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/day"
	"github.com/apportion/apportion/internal/must"
)

// daySlots is how many containers of a day's jobs three nodes hold: a virtual core each.
const daySlots = 24

// dayPlayer is a bench on which a day is played. It implements managertest.Player.
type dayPlayer struct {
	*bench
	fixed *gangs
}

// Controlled implements managertest.Player.
func (p *dayPlayer) Controlled() *managertest.Bench { return p.Bench }

// Elastic implements managertest.Player.
func (p *dayPlayer) Elastic(j *day.Job, argv []string) string {
	return p.submit(j.Name, int(j.Max), 0, map[string]any{"demand": map[string]any{memoryKind: 500, vcoreKind: 1}, "command": argv})
}

// Fixed implements managertest.Player. The job begins when YARN has granted all its containers, wherever these are.
func (p *dayPlayer) Fixed(_ string, j *day.Job, argv []string, env map[string]string) string {
	script := managed.Export(env) + "exec " + strings.Join(argv, " ") + "\n"
	name := filepath.Join(p.Shared, j.Name+".sh")
	must.Do(p.Bench, os.WriteFile(name, []byte(script), 0o600))
	p.fixed.play(map[string]any{"job": j.Name, "queue": "a", "containers": j.Fixed, "memory": 500, "vcores": 1,
		"command": "exec /bin/sh " + name, "server_variable": "APPORTION_SERVER", "rank_variable": "APPORTION_RANK"})
	return j.Name
}

// Left implements managertest.Player.
func (p *dayPlayer) Left() int {
	left := p.fixed.left() + len(p.held())
	for _, a := range p.applications() {
		if !a.isOver() {
			left++
		}
	}
	return left
}

// gangs is the program that runs jobs of fixed sizes.
type gangs struct {
	testing.TB
	in io.WriteCloser

	mu      sync.Mutex
	playing map[string]bool
}

// newGangs starts it. It ends with the test.
func newGangs(t testing.TB, c *cluster) *gangs {
	t.Helper()
	argv := c.java(rmName, "com.github.apportion.yarn.Gangs")
	cmd := exec.Command(argv[0], argv[1:]...)
	log := must.Have(os.Create(filepath.Join(c.Dir, "gangs.log")))(t)
	cmd.Stderr = log
	in := must.Have(cmd.StdinPipe())(t)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	g := &gangs{TB: t, in: in, playing: map[string]bool{}}
	heard := make(chan struct{})
	go func() { defer close(heard); g.hear(out) }()
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		<-heard
		_ = cmd.Wait() // however it ends
		_ = log.Close()
	})
	return g
}

// play has a job played.
func (g *gangs) play(order map[string]any) {
	g.Helper()
	text, err := json.Marshal(order)
	if err == nil {
		g.mu.Lock()
		g.playing[order["job"].(string)] = true
		g.mu.Unlock()
		_, err = g.in.Write(append(text, '\n'))
	}
	if err != nil {
		g.Fatal(err)
	}
}

// hear takes in how jobs have ended.
func (g *gangs) hear(out io.Reader) {
	lines := json.NewDecoder(out)
	for {
		var ended struct{ Job, Fault string }
		if lines.Decode(&ended) != nil {
			return
		}
		if ended.Fault != "" {
			g.Logf("job %s: %s", ended.Job, ended.Fault) // a job without an end is an error of the play
		}
		g.mu.Lock()
		delete(g.playing, ended.Job)
		g.mu.Unlock()
	}
}

// left is how many jobs have not ended.
func (g *gangs) left() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.playing)
}

// daily plays on this cluster, each time with a controller of its own.
func (c *cluster) daily() managertest.Daily {
	return managertest.Daily{Manager: "yarn", Slots: daySlots, Bench: func(t *testing.T) managertest.Player {
		return &dayPlayer{newBench(t, c), newGangs(t, c)}
	}}
}

// day plays days, if their records are wanted: short ones are Nomad's and Slurm's tests.
func (c *cluster) day(t *testing.T) {
	if flag.Lookup("day").Value.String() == "" {
		t.Skip("-day is not set: a day takes six minutes under each policy")
	}
	c.daily().Day(t)
}
