// This file runs the commands and manifests of the READMEs as they are printed, as far as a test has what they need: it plays kubectl,
// and builds no image.

package kubernetes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/apportion/apportion/examples/kubernetes/kubetest"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// reader is somebody who does what the READMEs say, from the root of the repository.
type reader struct {
	*bench
	// home takes the place of ~.
	home string
	env  []string
}

// does runs commands, each of which ends. A manifest without a namespace is for that of the test.
func (r *reader) does(script string) {
	r.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
		line, _, _ = strings.Cut(line, " #")
		words := strings.Fields(strings.ReplaceAll(line, "~", r.home))
		switch verb := strings.Join(words[:min(3, len(words))], " "); verb {
		case "skopeo copy --all": // there is no registry
		case "make image VERSION=v0.1.0": // which the tests of releases do: it takes minutes
			r.says("make -n image " + words[2] + " " + words[3])
		case "kubectl apply -k":
			r.cluster.ApplyFolder("../../" + words[3])
		case "kubectl apply -f":
			text := must.Have(os.ReadFile("../../" + words[3]))(r)
			manifest := string(text)
			if strings.Contains(manifest, "kind: Job\n") {
				manifest = strings.Replace(manifest, "metadata:\n", "metadata:\n  namespace: "+inNamespace+"\n", 1)
			}
			r.cluster.Apply(manifest)
		default:
			r.says(strings.Join(words, " "))
		}
	}
}

// command is one that the reader runs by a shell.
func (r *reader) command(ctx context.Context, line string) *exec.Cmd {
	c := exec.CommandContext(ctx, "sh", "-c", "exec "+line)
	c.Dir, c.Env = "../..", append(os.Environ(), r.env...)
	return c
}

// says is what a command prints.
func (r *reader) says(line string) string {
	r.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 120*time.Second)
	defer stop()
	out, err := r.command(ctx, line).CombinedOutput()
	if err != nil {
		r.Fatalf("%s: %v: %s", line, err, out)
	}
	return string(out)
}

func TestReadme(t *testing.T) {
	var nodes []*corev1.Node
	for _, name := range []string{"n1", "n2"} {
		nodes = append(nodes, kubetest.NewNode(name, kubetest.List("cpu", "32", "memory", "128Gi", "pods", "110", "nvidia.com/gpu", "8")))
	}
	b := newBenchOf(t, kubetest.Process, nodes)
	r := &reader{b, filepath.Join(b.Dir, "home"), nil}
	r.env = []string{"HOME=" + r.home, "PATH=" + r.home + "/bin:" + os.Getenv("PATH"), "KUBECONFIG=" + b.cluster.Kubeconfig(""),
		"GOPATH=" + goEnv(t, "GOPATH"), "GOCACHE=" + goEnv(t, "GOCACHE")}
	trainer := strings.Replace(readFile(t, "../train.py"), `"600"`, `"100000"`, 1)
	for name, text := range map[string]string{"train.py": trainer, "home/.kube/config": readFile(t, b.cluster.Kubeconfig("")), "home/bin/.keep": ""} {
		name = filepath.Join(b.Dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	}
	sh, manifests := managertest.Blocks(t, "README.md", "sh"), managertest.Blocks(t, "README.md", "yaml")
	b.cluster.Apply(strings.Replace(manifests[0], "no_root_squash", "", 1))
	for _, block := range sh[:3] {
		r.does(block)
	}
	b.Holds(map[string]int{"default/lr": 16})
	// Another one has half of it, and the first goes on with what it has saved.
	another := b.get("lr")
	second := b.job("lr2", 16, 0, another.Annotations)
	delete(second.Annotations, snapshot.Note)
	second.Spec.Template.Spec = another.Spec.Template.Spec
	b.submit(second)
	b.Holds(map[string]int{"default/lr": 8, "default/lr2": 8})
	processes.Eventually(b.Bench, "the trainer goes on with what it has saved", 60*time.Second, func() bool {
		logs, _ := filepath.Glob(filepath.Join(b.Dir, "lr-*-0.log"))
		return slices.ContainsFunc(logs, func(name string) bool {
			text, _ := os.ReadFile(name)
			return regexp.MustCompile(`begins with step [1-9]`).Match(text)
		})
	})
	processes.Eventually(b.Bench, "its condition says what it has", 60*time.Second, func() bool {
		return strings.Contains(condition(b.get("lr"), snapshot.Placed), "It has 8 of at most 16 containers")
	})
	r.does(sh[3])
	r.asks(t)
	r.counts(t)
}

// asks runs the commands of kubectl apportion, as the table has them.
func (r *reader) asks(t *testing.T) {
	t.Helper()
	text := strings.NewReplacer(" [KIND]", "", "NODE", "n2", "-n ml", "-n "+inNamespace, "job.yaml", "examples/kubernetes/deploy/job.yaml").Replace(readFile(t, "README.md"))
	commands := regexp.MustCompile("(?m)^\\| `kubectl apportion ([^`]*)`").FindAllStringSubmatch(text, -1)
	for _, c := range commands {
		line := "kubectl-apportion " + strings.Replace(c[1], "-arrive examples/kubernetes/deploy/job.yaml -end lr", "-end lr2", 1)
		if out := r.says(line); len(out) == 0 {
			t.Errorf("%s says nothing", line)
		}
	}
	must.Equal(t, len(commands), 4, "commands are shown")
}

// counts runs the README of counts: what would be done is said, and then done.
func (r *reader) counts(t *testing.T) {
	t.Helper()
	sh, manifests := managertest.Blocks(t, "counts/README.md", "sh"), managertest.Blocks(t, "counts/README.md", "yaml")
	lines := strings.SplitAfter(strings.TrimSpace(sh[0]), "\n")
	r.does(strings.Join(lines[:2], ""))
	r.cluster.Apply(strings.Replace(manifests[0], "metadata:\n", "metadata:\n  namespace: "+inNamespace+"\n", 1))
	r.delete("lr")
	r.delete("lr2")
	r.Holds(map[string]int{})
	pods := func() int32 {
		if j := r.get("resnet"); j != nil && j.Spec.Suspend != nil && !*j.Spec.Suspend {
			return *j.Spec.Parallelism
		}
		return 0
	}
	for i, line := range lines[2:] {
		line, _, _ = strings.Cut(strings.ReplaceAll(line, "~", r.home), " #")
		ctx, stop := context.WithCancel(context.Background())
		log := must.Have(os.Create(filepath.Join(r.Dir, "counts.log")))(t)
		// The go command's own child is what is to end.
		command := r.command(ctx, strings.Replace(line, "go run -C examples/kubernetes ./counts", r.program(t), 1))
		command.Stderr = log
		must.Do(t, command.Start())
		processes.Eventually(r.Bench, "it is said or done", 90*time.Second, func() bool {
			text, _ := os.ReadFile(log.Name())
			return i == 0 && strings.Contains(string(text), "default/resnet") || i == 1 && pods() > 2
		})
		if i == 0 && pods() > 0 {
			t.Error("what would be done was done")
		}
		stop()
		_ = command.Wait() // it was killed
		_ = log.Close()
	}
}

// program builds counts.
func (r *reader) program(t *testing.T) string {
	return processes.Build(t, r.Dir, "counts", ".", "./counts")
}

// goEnv is a setting of the go command, which has another home in the test.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out := must.Have(exec.Command("go", "env", name).Output())(t)
	return strings.TrimSpace(string(out))
}
