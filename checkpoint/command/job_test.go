//go:build linux

// This file is the other side of the tests: the jobs and the agents that they start and kill. The test
// binary runs itself with the name of a behaviour.

package command_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/runner"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if os.Args[1] == "guard" {
			program, err := os.Executable()
			orExit(err)
			os.Exit(guard.Main([]string{program, "guard"}, os.Args[2:], os.Stderr))
		}
		if name, ok := strings.CutPrefix(os.Args[1], "job:"); ok {
			jobs[name]()
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

var jobs map[string]func()

func init() {
	if len(os.Args) > 1 && os.Args[1] == "job:headless" {
		runtime.LockOSThread() // which here is the first
	}
	jobs = map[string]func(){
		"train": train, "signal": onSignal, "half": half, "deaf": deaf, "flood": flood, "env": environment, "agent": resumes, "pair": pair, "shard": shard,
		"sleep":    func() { time.Sleep(time.Hour) },
		"die":      func() { os.Exit(3) },
		"killed":   func() { orExit(syscall.Kill(os.Getpid(), syscall.SIGKILL)); time.Sleep(time.Hour) },
		"finish":   func() { fmt.Println(`{"step":7,"done":true}`) },
		"frozen":   func() { orExit(syscall.Kill(os.Getpid(), syscall.SIGSTOP)); time.Sleep(time.Hour) },
		"forks":    forks,
		"headless": headless,
		"daemon":   func() { spawn(false, "job:between") },
		"between":  func() { spawn(true, "job:sleep") },
		"closed":   func() { syscall.CloseOnExec(3); spawn(true, "job:sleep"); time.Sleep(time.Hour) },
		"saved":    func() { orExit(os.WriteFile(own("state-5"), []byte("5"), 0o600)); acknowledge(1, 5, "state-5") },
	}
}

func orExit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
}

func own(name string) string { return filepath.Join(os.Getenv(command.EnvCheckpointDir), name) }

func report(step int) { fmt.Printf("{\"step\":%d,\"value\":%g}\n", step, 1/float64(step+1)) }

func acknowledge(request, step int64, files ...string) {
	text, err := json.Marshal(command.Acknowledgement{Request: request, Step: &step, Files: files})
	orExit(err)
	name := os.Getenv(command.EnvSaveAck)
	orExit(os.WriteFile(name+".new", text, 0o600))
	orExit(os.Rename(name+".new", name))
}

// requested returns the number in the request file, 0 if there is none.
func requested() int64 {
	text, err := os.ReadFile(os.Getenv(command.EnvSaveRequest))
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	orExit(err)
	return n
}

// train counts steps from those in the checkpoint, saves on request, and ends after the steps that its
// second argument says.
func train() {
	step := 0
	if dir := os.Getenv(command.EnvRestoreDir); dir != "" {
		text, err := os.ReadFile(filepath.Join(dir, "state"))
		orExit(err)
		step, err = strconv.Atoi(string(text))
		orExit(err)
	}
	last, err := strconv.Atoi(os.Args[2])
	orExit(err)
	answered := int64(0)
	for ; step < last; time.Sleep(time.Millisecond) {
		step++
		report(step)
		if name := os.Getenv("FIRST_STEP"); name != "" {
			orExit(os.Unsetenv("FIRST_STEP"))
			orExit(os.WriteFile(name, []byte("1"), 0))
		}
		if n := requested(); n > answered {
			orExit(os.WriteFile(own("state.new"), []byte(strconv.Itoa(step)), 0o600))
			orExit(os.Rename(own("state.new"), own("state")))
			acknowledge(n, int64(step), "state")
			answered = n
		}
	}
	fmt.Printf("{\"step\":%d,\"done\":true}\n", step)
}

// archive is a checkpoint that torch.save could have written.
func archive(contents string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range []string{"m/data.pkl", "m/version"} {
		record, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(contents)),
			CompressedSize64: uint64(len(contents)), UncompressedSize64: uint64(len(contents))})
		orExit(err)
		_, err = record.Write([]byte(contents))
		orExit(err)
	}
	orExit(w.Close())
	return out.Bytes()
}

// onSignal writes the same file anew at each signal, in place.
func onSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	report(1) // says that the handler is there
	for n := 0; ; n++ {
		<-signals
		orExit(os.WriteFile(own("model.pt"), archive(fmt.Sprint("state ", n)), 0o600))
	}
}

// half answers with half a checkpoint, and claims that it is whole.
func half() {
	report(1)
	for requested() == 0 {
		time.Sleep(time.Millisecond)
	}
	whole := archive("state")
	orExit(os.WriteFile(own("model.pt"), whole[:len(whole)/2], 0o600))
	acknowledge(requested(), 1, "model.pt")
	deaf()
}

func deaf() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1)
	report(1)
	time.Sleep(time.Hour)
}

// headless ends the first thread of the process, whose others go on.
func headless() {
	orExit(os.WriteFile(own("pid"), []byte(strconv.Itoa(os.Getpid())), 0o600))
	go func() { time.Sleep(time.Hour) }()
	_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
}

// flood prints far more than the bound, garbage among it, and a reading at the end.
func flood() {
	line := strings.Repeat("x", 1<<10)
	for i := range 32 << 10 {
		fmt.Println(line)
		if i%1000 == 0 {
			report(i)
		}
	}
	fmt.Print(strings.Repeat("y", 1<<20), "\n{\"step\":nonsense}\n{\"step\":4242}\n")
	time.Sleep(time.Hour)
}

func environment() {
	orExit(os.WriteFile(own("env-"+os.Getenv(command.EnvRank)), []byte(strings.Join(os.Environ(), "\n")), 0o600))
	folder, err := os.Getwd()
	orExit(err)
	orExit(os.WriteFile(own("args-"+os.Getenv(command.EnvRank)), []byte(fmt.Sprintf("%q %s", os.Args[1:], folder)), 0o600))
}

// spawn starts a process of ours; away: in a session of its own and without any environment.
func spawn(away bool, args ...string) {
	program, err := os.Executable()
	orExit(err)
	cmd := exec.Command(program, args...)
	if away {
		cmd.Env, cmd.SysProcAttr = []string{}, &syscall.SysProcAttr{Setsid: true}
	}
	orExit(cmd.Start())
}

// forks starts children of every sort and stays.
func forks() {
	spawn(false, "job:deaf")
	spawn(true, "job:sleep")
	spawn(false, "job:between")
	report(1)
	time.Sleep(time.Hour)
}

// resumes resumes a run with a runner and waits to be killed. Arguments: the folder, the directory, the
// attempt, the number of containers, and the command.
func resumes() {
	attempt, err := strconv.ParseInt(os.Args[4], 10, 64)
	orExit(err)
	containers, err := strconv.Atoi(os.Args[5])
	orExit(err)
	a, err := command.New(command.Commands{Start: os.Args[6:], Work: os.Args[2]}, nil)
	orExit(err)
	fmt.Println("resuming")
	run := runner.Run{Job: "job", Attempt: attempt, Dir: os.Args[3]}
	for range containers {
		run.Containers = append(run.Containers, "here")
	}
	orExit(a.Resume(context.Background(), run))
	fmt.Println("resumed")
	time.Sleep(time.Hour)
}
