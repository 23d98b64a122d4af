// This file plays guards and trainers that are no processes, for clusters with more pods than a machine can run.

package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// trainers are containers with guard and trainer that take no time and no process. Pods of others wait for their end.
type trainers struct {
	client *http.Client
}

// newTrainers returns how the kubelets of a test in a folder run containers.
func newTrainers(string) kubetest.Run {
	t := &trainers{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	return t.run
}

// How often containers claim: those that are asked to save, and the others.
const (
	savingEvery = 500 * time.Millisecond
	idleEvery   = 10 * time.Second
)

// run is a kubetest.Run.
func (t *trainers) run(ctx context.Context, p *corev1.Pod) int {
	if p.Labels[snapshot.Attempt] == "" {
		<-ctx.Done()
		return 1
	}
	env := map[string]string{}
	for _, v := range p.Spec.Containers[0].Env {
		env[v.Name] = v.Value
	}
	config := guard.Config{}
	args := p.Spec.Containers[0].Args
	text, err := os.ReadFile(args[slices.Index(args, "-token-file")+1])
	var credential wire.Credential
	if err == nil {
		credential, err = wire.ReadCredential(text)
	}
	if err != nil || config.FromEnvironment(func(name string) string { return env[name] }) != nil {
		return 128
	}
	one := &trainer{dir: env[command.EnvCheckpointDir], ask: &guard.HTTP{URL: args[slices.Index(args, "-url")+1], Credential: credential, Client: t.client},
		claim: guard.Claim{ID: config.ID, Epoch: config.Epoch, Life: string(p.UID), Clock: agent.Stamp{Boot: "test", At: time.Second}}}
	return one.live(ctx)
}

// trainer is one container.
type trainer struct {
	dir   string
	ask   guard.Authority
	claim guard.Claim
	saved int64
}

// live claims until the container is to end, and returns its exit code.
func (t *trainer) live(ctx context.Context) int {
	for {
		grant, err := t.ask.Renew(ctx, t.claim)
		pause := idleEvery
		if t.claim.Rank == 0 || err != nil {
			pause = savingEvery
		}
		switch state := &t.claim.State; {
		case err != nil:
		case grant.Fenced != "":
			return t.end(guard.Fenced)
		case !state.Started:
			state.Started, state.Progress.Running, pause = true, true, 0
		case grant.Save > t.saved:
			t.save(grant.Save)
			pause = 0
		}
		select {
		case <-ctx.Done():
			return t.end(guard.Asked)
		case <-time.After(pause):
		}
	}
}

// save writes a checkpoint.
func (t *trainer) save(number int64) {
	name, step := fmt.Sprint("state-", number), number
	if os.WriteFile(filepath.Join(t.dir, name), []byte("learnt"), 0o600) == nil {
		t.saved, t.claim.State.Checkpoint = number, &command.Acknowledgement{Request: number, Step: &step, Files: []string{name}}
	}
}

// end says that the trainer has ended.
func (t *trainer) end(why guard.Why) int {
	t.claim.State.Ended, t.claim.State.Progress.Running = &guard.End{Code: -1, Signal: "killed", Why: why}, false
	for range 3 {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := t.ask.Renew(ctx, t.claim)
		if stop(); err == nil {
			break
		}
	}
	return 1
}
