//go:build linux

// This file implements limits by Docker: jobs are containers, and the daemon updates their limits while
// they run, [Zheng] §5.1.1.

package node

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

const (
	// answers is how long the daemon may take for one call.
	answers = time.Minute
	// ends is how long the daemon may take to notice that a container has ended.
	ends = 2 * time.Second
	// leastCPUs is the least that the daemon takes, in CPUs.
	leastCPUs = 0.01
	// programPath is where the program lies in the image.
	programPath = "nodeagent"
)

// docker starts jobs as containers and sets NanoCpus, what `docker update --cpus` does.
// It is writer and runner in one.
type docker struct {
	client     *client.Client
	version    string
	host       Machine
	image      string
	containers map[string]string // IDs by the names of the jobs under control
}

// newDocker probes for a daemon that can run this program and limit it. It makes an image, which close
// removes.
func newDocker(host Machine) (*docker, error) {
	image, err := archive(host.Program)
	if err != nil {
		return nil, err
	}
	options := []client.Opt{client.FromEnv}
	if host.DockerHost != "" {
		options = append(options, client.WithHost(host.DockerHost))
	}
	c, err := client.New(append(options, client.WithTimeout(answers))...)
	if err != nil {
		return nil, err
	}
	d := &docker{
		client: c, host: host, containers: map[string]string{},
		image: fmt.Sprintf("apportion-nodeagent:%d", os.Getpid()),
	}
	if err := d.prepare(context.Background(), image); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return d, nil
}

// prepare makes the image and sees that it runs under a limit.
// A daemon that cannot limit CPU time would take the call and do nothing.
func (d *docker) prepare(ctx context.Context, image io.Reader) error {
	info, err := d.client.Info(ctx, client.InfoOptions{})
	if err != nil {
		return err
	}
	if d.version = info.Info.ServerVersion; !info.Info.CPUCfsQuota {
		return fmt.Errorf("%s cannot limit CPU time", d.Name())
	}
	if err := d.load(ctx, image); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if err := d.probe(ctx); err != nil {
		return fmt.Errorf("container: %w", errors.Join(err, d.unload(ctx)))
	}
	return nil
}

// probe limits a container that runs until it is killed.
// It goes the whole way that a job goes.
func (d *docker) probe(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	none := func([]byte) (float64, bool) { return 0, false }
	p, err := d.start(ctx, &Job{Name: "probe", Argv: append([]string{d.host.Program}, d.host.Endless...), Read: none})
	if err != nil {
		return err
	}
	err = errors.Join(p.here(), d.add(p), d.limit(p.Name, 0.5), d.remove(p.Name))
	cancel()
	if end := p.finish(); err != nil {
		return errors.Join(err, end) // its end may explain the fault
	}
	return nil
}

// here checks that a container is on this machine, whose kernel tells its CPU time at any moment; the
// daemon collects it once a second.
// A daemon in a virtual machine has processes that this kernel does not know.
func (p *Process) here() error {
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", p.pid))
	if err != nil || !bytes.Contains(groups, []byte(p.container)) {
		return fmt.Errorf("its process, %d at the daemon, is not among those of this machine", p.pid)
	}
	return nil
}

// Name says which daemon it is.
func (d *docker) Name() string {
	return fmt.Sprintf("Docker %s, update of NanoCpus, at %s", d.version, d.client.DaemonHost())
}

// archive returns a root file system that holds the program alone, as tar. The program must not need
// shared libraries.
func archive(program string) (io.Reader, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return nil, errors.New("this program needs shared libraries, which its container has not; build it with CGO_ENABLED=0")
	}
	image := &bytes.Buffer{}
	w := tar.NewWriter(image)
	if err := w.WriteHeader(&tar.Header{Name: programPath, Mode: 0o755, Size: int64(len(data))}); err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	return image, w.Close()
}

// load makes the image. The daemon tells of faults in a stream of messages after it has accepted the
// call.
func (d *docker) load(ctx context.Context, image io.Reader) error {
	source := client.ImageImportSource{Source: image, SourceName: "-"}
	messages, err := d.client.ImageImport(ctx, source, d.image, client.ImageImportOptions{})
	if err != nil {
		return err
	}
	defer messages.Close()
	for decoder := json.NewDecoder(messages); ; {
		var message struct{ Error string }
		switch err := decoder.Decode(&message); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case message.Error != "":
			return errors.New(message.Error)
		}
	}
}

// unload removes the image.
// Force also removes what a probe has left.
func (d *docker) unload(ctx context.Context) error {
	_, err := d.client.ImageRemove(ctx, d.image, client.ImageRemoveOptions{Force: true})
	return err
}

// start starts a job as a container on the CPU, without network. The container is removed when it has
// ended or the context is done.
func (d *docker) start(ctx context.Context, j *Job) (*Process, error) {
	if j.Argv[0] != d.host.Program {
		return nil, fmt.Errorf("containers hold %s alone, not %s", d.host.Program, j.Argv[0])
	}
	uncancelled := context.WithoutCancel(ctx) // a container that nobody knows would stay
	created, err := d.client.ContainerCreate(uncancelled, client.ContainerCreateOptions{
		Config: &container.Config{Image: d.image, Cmd: append([]string{"/" + programPath}, j.Argv[1:]...), Env: j.Env},
		HostConfig: &container.HostConfig{
			NetworkMode: "none",
			LogConfig:   container.LogConfig{Type: "none"}, // the agent reads it all
			Resources:   container.Resources{CpusetCpus: strconv.Itoa(d.host.CPU)},
		},
	})
	if err != nil {
		return nil, err
	}
	remove := sync.OnceValue(func() error {
		_, err := d.client.ContainerRemove(uncancelled, created.ID, client.ContainerRemoveOptions{Force: true})
		return err
	})
	p := &Process{Job: j, container: created.ID}
	if err := d.launch(ctx, p); err != nil {
		return nil, errors.Join(err, remove())
	}
	stop := context.AfterFunc(ctx, func() { _ = remove() }) // wait has the error
	p.wait = func() error {
		defer stop()
		return errors.Join(d.wait(ctx, created.ID), remove())
	}
	return p, nil
}

// launch starts the container of a process and connects its output.
// It attaches before the start, so that no line is lost.
func (d *docker) launch(ctx context.Context, p *Process) (err error) {
	attached, err := d.client.ContainerAttach(ctx, p.container, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			attached.Close()
		}
	}()
	if _, err := d.client.ContainerStart(ctx, p.container, client.ContainerStartOptions{}); err != nil {
		return err
	}
	started, err := d.client.ContainerInspect(ctx, p.container, client.ContainerInspectOptions{})
	if err != nil {
		return err
	}
	if state := started.Container.State; state != nil {
		p.pid = state.Pid // 0 once it has ended
	}
	output, w := io.Pipe()
	p.output = output
	go func() {
		_, err := stdcopy.StdCopy(w, p.stderr(), attached.Reader)
		attached.Close()
		w.CloseWithError(err)
	}()
	return nil
}

// wait waits for the end of a container. A status other than 0 is an error.
func (d *docker) wait(ctx context.Context, id string) error {
	waiting := d.client.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case err := <-waiting.Error:
		return err
	case end := <-waiting.Result:
		if end.StatusCode != 0 {
			return fmt.Errorf("exit status %d", end.StatusCode)
		}
		return nil
	}
}

// The container was started without a limit.
func (d *docker) add(p *Process) error {
	d.containers[p.Name] = p.container
	return nil
}

// A container that has just ended cannot be updated, which is no error.
func (d *docker) limit(id string, share float64) error {
	resources := &container.Resources{NanoCPUs: int64(1e9 * max(leastCPUs, share))}
	_, err := d.client.ContainerUpdate(context.Background(), d.containers[id], client.ContainerUpdateOptions{Resources: resources})
	if err != nil && d.ended(d.containers[id]) {
		return nil
	}
	return err
}

// ended says whether a container has ended or is gone. The daemon may need a moment to notice.
func (d *docker) ended(id string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), ends)
	defer cancel()
	waiting := d.client.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case err := <-waiting.Error:
		return errdefs.IsNotFound(err)
	case <-waiting.Result:
		return true
	}
}

// remove forgets a container; its end has removed it.
func (d *docker) remove(id string) error {
	delete(d.containers, id)
	return nil
}

// The image goes with the agent.
func (d *docker) Close() error {
	return errors.Join(d.unload(context.Background()), d.client.Close())
}
