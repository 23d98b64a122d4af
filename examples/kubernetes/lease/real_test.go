// This file tests guards and their trainers, as processes, with a real API server and the rights that are shipped.

package lease

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// role says in the environment of this test's program that it is a guard.
const role = "LEASE_TEST_GUARD"

func TestMain(m *testing.M) {
	if os.Getenv(role) != "" {
		os.Exit(Main(nil, os.Args[1:], os.Stderr))
	}
	os.Exit(m.Run())
}

// length is how long leases are, patience how long a busy machine may need beyond, and attempt the one that is admitted.
const (
	length   = 3 * time.Second
	patience = 60 * time.Second
	attempt  = 5
)

// stage is an API server with a desk, and a folder for the files of runs.
type stage struct {
	*testing.T
	*kubetest.Cluster
	proxy  *kubetest.Proxy
	asDesk kubernetes.Interface
	desk   *guard.Desk
	leave  func() // ends the desk
}

// newStage starts an API server with the manifests.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t, Cluster: kubetest.New(t)}
	for _, name := range []string{"ml", "apportion"} {
		s.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}")
	}
	text := must.Have(os.ReadFile("rbac.yaml"))(t)
	_, manifest, _ := strings.Cut(string(text), "\n") // the comment
	s.Apply(manifest)
	s.proxy = s.NewProxy()
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig(kubetest.ControllerToken))
	if err == nil {
		config.QPS = -1
		s.asDesk, err = kubernetes.NewForConfig(config)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.opens(3)
	return s
}

// opens starts the desk of a master of an epoch, until it leaves or the test ends.
// The jobs are those that it vouches for from its beginning, as a master does: of others it keeps no claims.
func (s *stage) opens(epoch int64, jobs ...string) {
	s.T.Helper()
	s.desk = guard.NewDesk(epoch, length, length/2, nil)
	for _, job := range jobs {
		s.desk.Admit(job, attempt)
	}
	ctx, end := context.WithCancel(context.Background())
	wait := must.Have(Answer(ctx, s.asDesk, "ml", s.desk, func(err error) { s.T.Log(err) }))(s.T)
	s.leave = func() { end(); wait() }
	s.T.Cleanup(s.leave)
}

// guarded is a guard with its trainer.
type guarded struct {
	*stage
	id     guard.ID
	cmd    *exec.Cmd
	waited chan error
}

// family is a trainer with a child and a grandchild that has left the session. It saves when it is asked.
const family = `sleep 600 & (setsid sleep 600 &)
	while :; do
		n=$(cat "$APPORTION_SAVE_REQUEST" 2> /dev/null)
		[ -n "$n" ] && echo "{\"request\": $n, \"step\": 7, \"files\": [\"f\"]}" > "$APPORTION_SAVE_ACK"
		sleep 0.05
	done`

// starts starts the guard of a job.
func (s *stage) starts(job string, flags ...string) *guarded {
	s.T.Helper()
	self := must.Have(os.Executable())(s.T)
	dir := filepath.Join(s.Dir, job)
	must.Do(s.T, os.MkdirAll(dir, 0o700))
	g := &guarded{stage: s, id: guard.ID{Job: job, Attempt: attempt, Server: "s1"}, waited: make(chan error, 1)}
	args := append([]string{"-lease", "ml", "-every", "200ms", "-record", filepath.Join(dir, "record.json"), "-dir", dir}, flags...)
	g.cmd = exec.Command(self, append(args, "--", "sh", "-c", family)...)
	g.cmd.Env = append(os.Environ(), role+"=1", "KUBECONFIG="+s.KubeconfigBy(s.proxy, kubetest.GuardToken), "LEASE_TEST_MARK="+g.mark(),
		"APPORTION_JOB="+job, fmt.Sprintf("APPORTION_ATTEMPT=%d", attempt), "APPORTION_SERVER=s1", "APPORTION_EPOCH=3")
	g.cmd.Stderr = os.Stderr
	must.Do(s.T, g.cmd.Start())
	go func() { g.waited <- g.cmd.Wait() }()
	s.T.Cleanup(func() {
		_ = g.cmd.Process.Signal(syscall.SIGCONT) // it may have ended
		_ = g.cmd.Process.Kill()
		for _, pid := range g.alive() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return g
}

// mark is in the environment of all processes of a guard.
func (g *guarded) mark() string { return filepath.Base(g.Dir) + "/" + g.id.Job }

// alive are the processes of the trainer.
func (g *guarded) alive() []int {
	var found []int
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		env, _ := os.ReadFile(folder + "/environ")
		line, _ := os.ReadFile(folder + "/cmdline")
		if strings.Contains(string(env), "LEASE_TEST_MARK="+g.mark()+"\x00") && !strings.Contains(string(line), ".test") {
			var pid int
			if _, err := fmt.Sscanf(filepath.Base(folder), "%d", &pid); err == nil {
				found = append(found, pid)
			}
		}
	}
	return found
}

// eventually waits until something is so.
func (s *stage) eventually(what string, is func() bool) {
	s.T.Helper()
	processes.Eventually(s.T, what, patience, is)
}

// runs admits the attempt of a job and waits until its trainer lives.
func (s *stage) runs(job string, flags ...string) *guarded {
	s.T.Helper()
	s.desk.Admit(job, attempt)
	g := s.starts(job, flags...)
	s.eventually(job+" runs", func() bool { seen, _ := s.desk.Seen(g.id); return seen.Claim.State.Started && len(g.alive()) >= 3 })
	return g
}

// ends waits until nothing of the trainer lives, and asks what the guard exits with.
func (g *guarded) ends(want int) {
	g.T.Helper()
	g.eventually(g.id.Job+" has ended", func() bool { return len(g.alive()) == 0 })
	select {
	case <-g.waited:
		must.Equal(g.T, g.cmd.ProcessState.ExitCode(), want, g.id.Job, "exit status")
	case <-time.After(patience):
		g.T.Errorf("the guard of %s does not end", g.id.Job)
	}
}

// What a guard exits with, see package guard.
const (
	exitLease  = 75
	exitFenced = 77
)

// TestRuns plays runs with one fault of an API server after the other, each with its own job.
func TestRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an API server")
	}
	s := newStage(t)
	t.Run("fenced", s.fenced)
	t.Run("deleted", s.deleted)
	t.Run("stopped", s.stopped)
	t.Run("meddled", s.meddled)
	t.Run("desk", s.deskGone)
	t.Run("rights", s.rights)
	t.Run("server", s.serverGone)
}

// fenced: a run goes on for several lengths, saves when it is asked, and ends when it is fenced off. Of a late start nothing is begun.
func (s *stage) fenced(t *testing.T) {
	g := s.runs("fenced", "-start", "60s")
	number := s.desk.AskSave(g.id)
	s.eventually("the save is acknowledged", func() bool {
		seen, _ := s.desk.Seen(g.id)
		return seen.Claim.State.Checkpoint != nil && seen.Claim.State.Checkpoint.Request == number && *seen.Claim.State.Checkpoint.Step == 7
	})
	time.Sleep(2 * length)
	if len(g.alive()) < 3 {
		t.Fatal("it has ended while it was vouched for")
	}
	s.desk.Fence("fenced", attempt)
	g.ends(exitFenced)
	s.eventually("the desk knows the end", func() bool { seen, _ := s.desk.Seen(g.id); return seen.Claim.State.Ended != nil })
	s.starts("fenced", "-start", "60s").ends(exitFenced)
	s.desk.Fence("late", attempt)
	s.starts("late", "-start", "60s").ends(exitFenced)
	s.starts("unknown", "-start", "1s").ends(exitLease)
}

// deleted: a Lease that is deleted ends its run.
func (s *stage) deleted(t *testing.T) {
	g := s.runs("deleted", "-start", "60s")
	must.Do(t, s.Client.CoordinationV1().Leases("ml").Delete(t.Context(), Name(g.id), metav1.DeleteOptions{}))
	g.ends(exitFenced)
}

// stopped: a guard that is stopped keeps nobody alive. Its keeper ends the run with the lease.
func (s *stage) stopped(t *testing.T) {
	g := s.runs("stopped", "-start", "60s")
	must.Do(t, g.cmd.Process.Signal(syscall.SIGSTOP))
	s.eventually("the run has ended", func() bool { return len(g.alive()) == 0 })
	must.Do(t, g.cmd.Process.Signal(syscall.SIGCONT))
	g.ends(exitLease)
}

// meddled: answers that nobody hears, and refusals, cost nothing but a claim; without any answer the run ends.
func (s *stage) meddled(t *testing.T) {
	g := s.runs("meddled", "-start", "60s")
	n := 0
	s.proxy.Meddle(func(*kubetest.Request) kubetest.Fate {
		n++
		return kubetest.Fate{Lost: n%3 == 0, Status: []int{0, 0, 0, 0, 503}[n%5]}
	})
	time.Sleep(2 * length)
	if len(g.alive()) < 3 {
		t.Error("it has ended while it was vouched for")
	}
	s.proxy.Meddle(func(*kubetest.Request) kubetest.Fate { return kubetest.Fate{Status: 503} })
	g.ends(exitLease)
	s.proxy.Meddle(nil)
}

// deskGone: without a desk the run ends in time, and the next desk knows that it has.
func (s *stage) deskGone(t *testing.T) {
	g := s.runs("desk", "-start", "60s")
	s.leave()
	began := time.Now()
	g.ends(exitLease)
	if took := time.Since(began); took > length+10*time.Second {
		t.Errorf("it ended after %v", took)
	}
	s.opens(4, "desk")
	s.eventually("the next desk knows the end", func() bool { seen, _ := s.desk.Seen(g.id); return seen.Claim.State.Ended != nil })
}

// serverGone: without an API server the run ends in time, whatever the desk does.
func (s *stage) serverGone(t *testing.T) {
	g := s.runs("server", "-start", "60s")
	s.Kill(kubetest.APIServer)
	g.ends(exitLease)
}

// rights asks the API server what guards may do: nothing but what is needed.
func (s *stage) rights(t *testing.T) {
	config := must.Have(clientcmd.BuildConfigFromFlags("", s.Kubeconfig(kubetest.GuardToken)))(t)
	c := must.Have(kubernetes.NewForConfig(config))(t)
	ctx := t.Context()
	_, list := c.CoordinationV1().Leases("ml").List(ctx, metav1.ListOptions{})
	_, elsewhere := c.CoordinationV1().Leases("apportion").Get(ctx, "apportion", metav1.GetOptions{})
	_, pods := c.CoreV1().Pods("ml").List(ctx, metav1.ListOptions{})
	remove := c.CoordinationV1().Leases("ml").Delete(ctx, "x", metav1.DeleteOptions{})
	deskRemove := s.asDesk.CoordinationV1().Leases("ml").Delete(ctx, "x", metav1.DeleteOptions{})
	_, deskCreate := s.asDesk.CoreV1().Secrets("ml").List(ctx, metav1.ListOptions{})
	for what, err := range map[string]error{"list": list, "elsewhere": elsewhere, "pods": pods, "delete": remove, "the desk deletes": deskRemove, "the desk reads secrets": deskCreate} {
		if err == nil || !strings.Contains(err.Error(), "forbidden") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
