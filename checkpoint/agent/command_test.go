// This file holds the ready-made agent to its promises with real processes, run by package command.

package agent_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// script is a job: it notes that it was started, and saves whenever it is asked.
const script = `
echo x >> "$APPORTION_CHECKPOINT_DIR/starts-$APPORTION_RANK"
last=
while :; do
	if read -r n 2>/dev/null < "$APPORTION_SAVE_REQUEST" && [ "$n" != "$last" ]; then
		last=$n
		echo learnt > "$APPORTION_CHECKPOINT_DIR/state-$n"
		echo "{\"request\": $n, \"step\": 7, \"files\": [\"state-$n\"]}" > "$APPORTION_SAVE_ACK.tmp"
		mv "$APPORTION_SAVE_ACK.tmp" "$APPORTION_SAVE_ACK"
	fi
	sleep 0.02
done`

// processes are those of a bench's jobs on this machine.
type processes struct {
	*bench
	work string
}

// each calls use with the number, the job and the attempt of every process that lives.
func (p *processes) each(use func(pid int, job string, attempt int64)) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(data, []byte(command.EnvCheckpointDir+"="+p.config.Shared+"/")) {
			continue // another's, or it has ended
		}
		env := map[string]string{}
		for entry := range strings.SplitSeq(string(data), "\x00") {
			key, value, _ := strings.Cut(entry, "=")
			env[key] = value
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		attempt, err2 := strconv.ParseInt(env[command.EnvAttempt], 10, 64)
		if err == nil && err2 == nil {
			use(pid, env[command.EnvJob], attempt)
		}
	}
}

func (p *processes) alive(job string) []int64 {
	var attempts []int64
	p.each(func(_ int, of string, attempt int64) {
		if of == job {
			attempts = append(attempts, attempt)
		}
	})
	slices.Sort(attempts)
	return slices.Compact(attempts)
}

// kill ends all processes of a job, or of every job if it is "", and waits until they have.
func (p *processes) kill(job string) {
	for limit := time.Now().Add(time.Minute); ; {
		found := false
		p.each(func(pid int, of string, _ int64) {
			if process, err := os.FindProcess(pid); err == nil && (job == "" || of == job) {
				found = true
				_ = process.Kill() // it may have ended by itself
			}
		})
		if !found {
			return
		}
		// Whoever has called tells the fault: its job lives.
		if time.Now().After(limit) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// end kills every job and removes the folder of its runs. The runner records how a process ended a moment after it is
// gone, so that a file may appear while the folder is removed: it is tried again.
func (p *processes) end(t *testing.T) {
	p.kill("")
	var err error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if err = os.RemoveAll(p.work); err == nil {
			return
		}
	}
	t.Errorf("the folder of runs is still written to: %v", err)
}

// starts waits until an attempt that lives has noted its start, and returns how often it has.
func (p *processes) starts(job string, attempt int64) int {
	name := filepath.Join(p.config.Shared, job, strconv.FormatInt(attempt, 10), "starts-0")
	for limit := time.Now().Add(time.Minute); ; {
		text, err := os.ReadFile(name)
		if err == nil || !slices.Contains(p.alive(job), attempt) || time.Now().After(limit) {
			return bytes.Count(text, []byte("x"))
		}
		time.Sleep(time.Millisecond)
	}
}

func TestSuiteWithProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("package command needs Linux")
	}
	if testing.Short() {
		t.Skip("starts a hundred processes")
	}
	agenttest.Run(t, func(t *testing.T) *agenttest.Subject {
		p := &processes{bench: newBench(t), work: t.TempDir()}
		p.config.Runner = func(_ string, spec json.RawMessage) (runner.Runner, error) {
			var argv []string
			if err := json.Unmarshal(spec, &argv); err != nil {
				return nil, err
			}
			return command.New(command.Commands{Start: argv, Resume: argv, Work: p.work}, &command.Options{Node: "here"})
		}
		p.restart()
		t.Cleanup(func() { p.end(t) })
		spec := must.Have(json.Marshal([]string{"sh", "-c", script}))(t)
		s := &agenttest.Subject{
			Agent: p.agent, Server: "here", Store: p.config.Store, Spec: spec, Alive: p.alive, Starts: p.starts, Kill: p.kill, Elapse: p.elapse,
		}
		s.Restart = func() error { p.restart(); s.Agent = p.agent; return nil }
		s.Forget = func() error {
			p.end(t)
			p.config.Disk, p.work = vfstest.NewMem(), t.TempDir()
			return s.Restart()
		}
		return s
	})
}

var _ agenttest.Agent = (*agent.Agent)(nil)
