//go:build linux

// This file checks the writer of Docker against a daemon that runs nothing.

package node

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/examples/nodeagent/train"
	"github.com/apportion/apportion/internal/must"
)

// executable writes a file that looks like a program with segments of these types.
func executable(t *testing.T, segments ...elf.ProgType) string {
	t.Helper()
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: uint16(len(segments)),
	}
	file := &bytes.Buffer{}
	err := binary.Write(file, binary.LittleEndian, header)
	for _, segment := range segments {
		err = errors.Join(err, binary.Write(file, binary.LittleEndian, elf.Prog64{Type: uint32(segment)}))
	}
	must.Do(t, err)
	path := filepath.Join(t.TempDir(), "program")
	write(t, path, file.String())
	return path
}

// endless make the program in containers run until it is killed.
var endless = append([]string{"train"}, train.Job{Epochs: math.MaxInt32, Hidden: 1, Rate: 0.01}.Arguments()...)

// onFake returns a writer on a daemon that has forgotten the probe.
func onFake(t *testing.T) (*docker, *fakeDaemon) {
	t.Helper()
	fake, host := newFakeDaemon(t)
	d := must.Have(newDocker(Machine{CPU: 3, DockerHost: host, Program: executable(t, elf.PT_LOAD), Endless: endless}))(t)
	must.Equal(t, d.Name(), "Docker 1.2.3, update of NanoCpus, at "+host, "name")
	fake.calls = nil
	return d, fake
}

// jobOf returns a job that is the program in the writer's containers.
func jobOf(d *docker, name string, job train.Job) *Job {
	return &Job{Name: name, Argv: append([]string{d.host.Program, "train"}, job.Arguments()...), Read: train.ReadLine}
}

func TestDockerCalls(t *testing.T) {
	d, fake := onFake(t)
	fake.output = "1 0.5\n2 0.25\n"
	p := must.Have(d.start(t.Context(), jobOf(d, "a", train.Job{Epochs: 2, Hidden: 3, Rate: 0.5, Seed: 7})))(t)
	var got struct {
		Image      string
		Cmd        []string
		HostConfig struct {
			CpusetCpus, NetworkMode string
			LogConfig               struct{ Type string }
		}
	}
	_, body, _ := strings.Cut(fake.heard("POST /containers/create")[0], "{")
	must.Do(t, json.Unmarshal([]byte("{"+body), &got))
	want := got
	want.Image, want.Cmd = d.image, strings.Fields("/nodeagent train 2 3 0.5 7")
	want.HostConfig.CpusetCpus, want.HostConfig.NetworkMode, want.HostConfig.LogConfig.Type = "3", "none", "none"
	if !reflect.DeepEqual(got, want) {
		t.Errorf("container %+v, want %+v", got, want)
	}
	must.Equal(t, p.pid, os.Getpid(), "process")
	must.Do(t, d.add(p))
	for _, share := range []float64{0.25, 1, 0.0001} {
		must.Do(t, d.limit("a", share))
	}
	var cpus []int64
	for _, call := range fake.heard("POST /containers/" + fake.id + "/update ") {
		var update struct{ NanoCpus int64 }
		must.Do(t, json.Unmarshal([]byte(call[strings.Index(call, "{"):]), &update))
		cpus = append(cpus, update.NanoCpus)
	}
	must.Same(t, cpus, []int64{250_000_000, 1_000_000_000, 10_000_000}, "NanoCpus")
	if err := p.finish(); err != nil || p.value != 0.25 || p.values != 2 {
		t.Errorf("loss %v after %d values, %v; want 0.25 after 2", p.value, p.values, err)
	}
	must.Do(t, errors.Join(d.remove("a"), d.Close()))
	if calls, want := fake.heard("DELETE"), []string{"DELETE /containers/" + fake.id, "DELETE /images/" + d.image}; !slices.Equal(calls, want) {
		t.Errorf("removed %v, want %v", calls, want)
	}
}

// The context ends a container, which is removed once.
func TestDockerKills(t *testing.T) {
	d, fake := onFake(t)
	p, kill := spin(t, d)
	if kill(); len(fake.heard("DELETE /containers/")) != 1 {
		t.Errorf("removed by %v", fake.heard("DELETE"))
	}
	if p.pid == 0 {
		t.Error("no process")
	}
	fake.status = 1
	p = must.Have(d.start(t.Context(), jobOf(d, "b", train.Job{})))(t)
	if err := p.finish(); err == nil || err.Error() != "exit status 1" {
		t.Errorf("container that fails: %v", err)
	}
	must.Equal(t, len(fake.heard("DELETE /containers/")), 2, "removals of two containers")
}

// What the daemon refuses to do.
func TestDockerFaults(t *testing.T) {
	d, fake := onFake(t)
	p, kill := spin(t, d)
	must.Do(t, d.add(p))
	update, wait := "POST /containers/"+fake.id+"/update", "POST /containers/"+fake.id+"/wait"
	own := fault{http.StatusInternalServerError, `{"message": "cannot update container"}`}
	fake.fail(update, own)
	if err := d.limit("spin", 0.5); err == nil || !strings.Contains(err.Error(), "cannot update container") {
		t.Errorf("update that fails: %v", err)
	}
	fake.fail(wait, fault{http.StatusNotFound, `{"message": "no such container"}`})
	must.Do(t, d.limit("spin", 0.5), "update of a container that is gone")
	fake.fail(wait, fault{http.StatusOK, `{"StatusCode": 0}`})
	must.Do(t, d.limit("spin", 0.5), "update of a container that has ended")
	kill()
	for _, call := range []string{"/containers/create", "/containers/" + fake.id + "/attach", "/containers/" + fake.id + "/start"} {
		fake.fail("POST "+call, fault{http.StatusConflict, `{"message": "not now"}`})
		removals := len(fake.heard("DELETE"))
		if p, err := d.start(t.Context(), jobOf(d, "a", train.Job{})); err == nil {
			t.Errorf("%s: no error, %+v", call, p)
		}
		must.Equal(t, call != "/containers/create", len(fake.heard("DELETE")) == removals+1, call, fake.heard("DELETE"))
		fake.fail("POST "+call, fault{})
	}
}

// What the probe finds.
func TestDockerRefuses(t *testing.T) {
	program := executable(t, elf.PT_LOAD)
	for name, test := range map[string]struct {
		change func(d *fakeDaemon)
		want   string
	}{
		"no quotas": {func(d *fakeDaemon) { d.info = `{"ServerVersion": "1"}` }, "cannot limit CPU time"},
		"call refused": {func(d *fakeDaemon) {
			d.fail("POST /images/create", fault{http.StatusForbidden, `{"message": "read only"}`})
		}, "image: .*read only"},
		"image refused": {func(d *fakeDaemon) { d.fail("POST /images/create", fault{http.StatusOK, `{"error": "disk is full"}`}) }, "image: disk is full"},
		"broken answer": {func(d *fakeDaemon) { d.fail("POST /images/create", fault{http.StatusOK, `{"error`}) }, "image: "},
		"does not start": {func(d *fakeDaemon) {
			d.fail("POST /containers/create", fault{http.StatusInternalServerError, `{"message": "no runtime"}`})
		}, "container: .*no runtime"},
		"elsewhere": {func(d *fakeDaemon) { d.id = "elsewhere" }, "is not among those of this machine"},
	} {
		fake, host := newFakeDaemon(t)
		test.change(fake)
		d, err := newDocker(Machine{DockerHost: host, Program: program, Endless: endless})
		if err == nil {
			t.Errorf("%s: no error, %s", name, d.Name())
			continue
		}
		before, after, _ := strings.Cut(test.want, ".*")
		if text := err.Error(); !strings.Contains(text, before) || !strings.Contains(text, after) {
			t.Errorf("%s: error %v, want %s", name, err, test.want)
		}
	}
	nobody := "unix://" + filepath.Join(t.TempDir(), "nobody")
	if _, err := newDocker(Machine{DockerHost: nobody, Program: program, Endless: endless}); err == nil || !strings.Contains(err.Error(), nobody) {
		t.Errorf("no daemon: %v", err)
	}
	must.Fail(newDocker(Machine{DockerHost: "nonsense", Program: program, Endless: endless}))(t, must.ErrAny, "no error for a host that is none")
}

func TestArchive(t *testing.T) {
	program := executable(t, elf.PT_LOAD)
	want := must.Have(os.ReadFile(program))(t)
	image := must.Have(archive(program))(t)
	files := tar.NewReader(image)
	header := must.Have(files.Next())(t)
	got, err := io.ReadAll(files)
	if err != nil || header.Name != "nodeagent" || header.Mode != 0o755 || !bytes.Equal(got, want) {
		t.Errorf("%+v, %d bytes, %v", header, len(got), err)
	}
	must.Fail(files.Next())(t, io.EOF, "more than the program")
	if _, err := archive(executable(t, elf.PT_LOAD, elf.PT_INTERP)); err == nil || !strings.Contains(err.Error(), "CGO_ENABLED=0") {
		t.Errorf("program with an interpreter: %v", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	write(t, text, "not a program")
	for _, path := range []string{text, filepath.Join(t.TempDir(), "nothing")} {
		must.Fail(archive(path))(t, must.ErrAny, path, "no error")
	}
}
