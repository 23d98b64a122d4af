// This file tests "apportion oasis" beyond its cases: against the library, and its state: whatever
// ends a run, the next one goes on as if nothing had happened.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

// certificateSteps keeps the upper bounds of tests cheap.
const certificateSteps = 2

// workload returns a cluster and jobs of the paper's kind, as objects for JSON.
func workload(seed uint64) (*primaldual.Cluster, []primaldual.Job) {
	return primaldual.Workload{Slots: 30, WorkerServers: 8, PSServers: 8, Jobs: 20}.Draw(rand.New(rand.NewPCG(seed, 5)))
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text := must.Have(json.Marshal(v))(t)
	return string(text) + "\n"
}

func headerLine(t *testing.T, cluster *primaldual.Cluster, bounds *primaldual.Bounds) string {
	header := map[string]any{"kinds": cluster.Kinds, "slots": cluster.Slots,
		"worker_servers": cluster.WorkerServers, "ps_servers": cluster.PSServers,
		"options": map[string]any{"certificate_steps": certificateSteps}}
	if bounds != nil {
		header["bounds"] = map[string]any{"U_worker": bounds.UWorker, "L_worker": bounds.LWorker,
			"U_ps": bounds.UPS, "L_ps": bounds.LPS, "eta_worker": bounds.EtaWorker, "eta_ps": bounds.EtaPS}
	}
	return encode(t, header)
}

func jobLine(t *testing.T, job *primaldual.Job) string {
	s := job.Utility.(primaldual.Sigmoid)
	return encode(t, map[string]any{"id": job.ID, "arrival": job.Arrival, "epochs": job.Epochs, "chunks": job.Chunks,
		"minibatches": job.Minibatches, "minibatch_slots": job.MinibatchSlots, "comm_slots": job.CommSlots,
		"worker_bandwidth": job.WorkerBandwidth, "ps_bandwidth": job.PSBandwidth, "worker": job.Worker, "ps": job.PS,
		"utility": map[string]any{"sigmoid": []float64{s.Gamma1, s.Gamma2, s.Gamma3}}})
}

// workloadText returns a stream, with bounds in its first line or not.
func workloadText(t *testing.T, seed uint64, given bool) string {
	cluster, jobs := workload(seed)
	var bounds *primaldual.Bounds
	if given {
		b := must.Have(primaldual.BoundsOf(cluster, jobs, nil))(t)
		bounds = &b
	}
	text := headerLine(t, cluster, bounds)
	for i := range jobs {
		text += jobLine(t, &jobs[i])
	}
	return text
}

// eventful is a stream in which everything happens.
func eventful(t *testing.T) string {
	text := workloadText(t, 3, true)
	text = strings.Replace(text, `"slots":30`, `"slots":50`, 1)
	lines := strings.SplitAfter(text, "\n")
	cluster, jobs := workload(3)
	var out strings.Builder
	for i, line := range lines {
		out.WriteString(line)
		if i == len(lines)-2 {
			last := jobs[len(jobs)-1].Arrival
			fmt.Fprintf(&out, "{\"fail\": %q, \"slot\": %d}\n", cluster.WorkerServers[0].ID, last+1)
			fmt.Fprintf(&out, "{\"repair\": %q, \"slot\": %d}\n{\"advance\": %d}\n", cluster.WorkerServers[0].ID, last+2, last+1)
		}
	}
	return out.String()
}

// faulty returns a stream with lines behind every third one that are at fault: no JSON, an unknown job, and a job that comes too late.
func faulty(text string) string {
	lines := strings.SplitAfter(text, "\n")
	var out strings.Builder
	for i, line := range lines {
		if out.WriteString(line); i > 3 && i%3 == 0 && i < len(lines)-1 {
			late := regexp.MustCompile(`"id":"[^"]*"`).ReplaceAllString(lines[1], fmt.Sprintf(`"id":"late %d"`, i))
			fmt.Fprintf(&out, "{\"why\"\n{\"cancel\":\"nobody\"}\n%s", late)
		}
	}
	return out.String()
}

// The command decides as the library does.
func TestOASiSAgainstLibrary(t *testing.T) {
	admitted, refused := 0, 0
	seeds := uint64(5)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		cluster, jobs := workload(seed)
		bounds := must.Have(primaldual.BoundsOf(cluster, jobs, nil))(t)
		scheduler := must.Have(primaldual.NewScheduler(cluster, &bounds, nil))(t)
		want, total := "", 0.0
		o := oasis{oasisHeader: &oasisHeader{cluster: *cluster}}
		for _, job := range jobs {
			decision := must.Have(scheduler.Offer(job))(t)
			if decision.Admitted {
				total += decision.Utility
				admitted++
			} else {
				refused++
			}
			want += encode(t, o.decision(job.ID, &decision))
		}
		certificate, err := primaldual.Certify(scheduler.Ledger(), jobs, total, &primaldual.CertificateOptions{Steps: certificateSteps})
		must.Do(t, err)
		want += encode(t, oasisTotal{total, certificate.Bound, &certificate.Ratio})
		for _, given := range []bool{false, true} {
			code, out, errs := call(t, workloadText(t, seed, given), "oasis")
			if diff := cmp.Diff(want, out); code != answered || diff != "" {
				t.Errorf("seed %d, bounds given %v: exit %d: %s(-library +command)\n%s", seed, given, code, errs, diff)
			}
		}
	}
	if !testing.Short() && (admitted < 10 || refused < 10) {
		t.Errorf("%d jobs admitted and %d refused show little", admitted, refused)
	}
}

// killed is an output that fails after some lines, as a process does that is killed.
type killed struct {
	bytes.Buffer
	left int
}

func (k *killed) Write(p []byte) (int, error) {
	if k.left == 0 {
		return 0, errors.New("killed")
	}
	k.left--
	return k.Buffer.Write(p)
}

// A run that ends after any number of answers and is taken up again prints, in two parts, what a run
// to the end prints, and leaves the same state.
func TestResume(t *testing.T) {
	for name, text := range map[string]string{
		"bounds given": workloadText(t, 1, true), "bounds of the stream": workloadText(t, 1, false), "events": eventful(t),
		"faults": faulty(eventful(t)), "faults and no bounds": faulty(workloadText(t, 1, false)),
	} {
		t.Run(name, func(t *testing.T) {
			whole := filepath.Join(t.TempDir(), "whole")
			_, want, errs := stated(t, whole, text)
			faults := strings.HasPrefix(name, "faults")
			if (errs != "") != faults || faults && (!strings.Contains(errs, "lines that were refused") || strings.Count(want, "is out of range") < 3) {
				t.Fatal(errs)
			}
			step := 1
			if testing.Short() || faults {
				step = 7
			}
			for k := 0; k < strings.Count(want, "\n"); k += step {
				path := filepath.Join(t.TempDir(), "state")
				first := &killed{left: k}
				must.Equal(t, run(t.Context(), []string{"oasis", "-state", path}, strings.NewReader(text), first, io.Discard), failed, "killed after", k, "exit")
				code, rest, errs := stated(t, path, text)
				if got := first.String() + rest; code != answered && !faults || got != want {
					t.Fatalf("killed after %d: exit %d %s (-whole +parts)\n%s", k, code, errs, cmp.Diff(want, got))
				}
				if a, b := contents(t, whole), contents(t, path); a != b {
					t.Errorf("killed after %d: the states differ\n%s", k, cmp.Diff(a, b))
				}
			}
		})
	}
}

// A stream that was cut goes on when it is longer, where the bounds are given; its state says how far it has come.
func TestResumeLongerStream(t *testing.T) {
	text := workloadText(t, 1, true)
	_, want, _ := call(t, text, "oasis")
	lines := strings.SplitAfter(strings.TrimSpace(text), "\n")
	step := 1
	if testing.Short() {
		step = 7
	}
	for k := 1; k <= len(lines); k += step {
		path := filepath.Join(t.TempDir(), "state")
		_, first, _ := stated(t, path, strings.Join(lines[:k], ""))
		first = first[:strings.LastIndex(strings.TrimSpace(first), "\n")+1] // without the last line
		if k > 1 {                                                          // without an answer there is no state
			var file stateFile
			if err := json.Unmarshal([]byte(contents(t, path)), &file); err != nil || file.Lines != k-1 || file.Jobs != k-1 {
				t.Errorf("cut after line %d: the state has %d lines and %d jobs, %v", k, file.Lines, file.Jobs, err)
			}
		}
		code, rest, errs := stated(t, path, text)
		if got := first + rest; code != answered || got != want {
			t.Fatalf("cut after line %d: exit %d %s\n%s", k, code, errs, cmp.Diff(want, got))
		}
	}
}

func stated(t *testing.T, path, text string) (code int, out, errs string) {
	t.Helper()
	var outBuffer, errBuffer bytes.Buffer
	code = run(t.Context(), []string{"oasis", "-state", path}, strings.NewReader(text), &outBuffer, &errBuffer)
	return code, outBuffer.String(), errBuffer.String()
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data := must.Have(os.ReadFile(path))(t)
	return string(data)
}

// A file that is damaged in any byte, or cut off anywhere, is refused and left alone.
func TestDamagedState(t *testing.T) {
	text := workloadText(t, 1, true)
	path := filepath.Join(t.TempDir(), "state")
	stated(t, path, text)
	good := contents(t, path)
	step := 1
	if testing.Short() {
		step = 61
	}
	for i := 0; i < len(good); i += step {
		cut, changed := good[:i], []byte(good)
		changed[i] ^= 1
		for _, bad := range []string{cut, string(changed)} {
			state := oasisState{path: path}
			if err := state.decode([]byte(bad)); err == nil || state.saved.Lines > 0 {
				t.Fatalf("cut off or changed at %d: error %v, %d lines", i, err, state.saved.Lines)
			}
		}
	}
	for _, bad := range []string{"", good[:len(good)/2], good + "\n", good + good, "null", "[" + good + "]", strings.Replace(good, "\n", " ", 1)} {
		must.Do(t, os.WriteFile(path, []byte(bad), 0o600))
		code, out, errs := stated(t, path, text)
		if code != failed || out != "" || !strings.Contains(errs, `state \"`) || contents(t, path) != bad {
			t.Errorf("%.20q: exit %d\n%s%s", bad, code, out, errs)
		}
	}
}

// The error says what does not go with the file.
func TestForeignState(t *testing.T) {
	text := workloadText(t, 1, true)
	lines := strings.SplitAfter(text, "\n")
	open := workloadText(t, 1, false)
	version := func(state string) string {
		var file stateFile
		must.Do(t, json.Unmarshal([]byte(state), &file))
		file.Version++
		data := must.Have(file.encode())(t)
		return string(data)
	}
	for _, test := range []struct {
		name, before, after string
		change              func(string) string
		field, problem      string
	}{
		{"other first line", text, strings.Replace(text, `"slots":30`, `"slots":31`, 1), nil, "header", "contradicts another field"},
		{"other line", text, strings.Replace(text, `"epochs":`, `"epochs": `, 1), nil, "stream", "contradicts another field"},
		{"lines swapped", text, lines[0] + lines[2] + lines[1] + strings.Join(lines[3:], ""), nil, "stream", "contradicts another field"},
		{"shorter stream", text, strings.Join(lines[:5], ""), nil, "lines", "contradicts another field"},
		{"the rest only", text, lines[0] + strings.Join(lines[5:], ""), nil, "lines", "contradicts another field"},
		{"other jobs behind", strings.Join(strings.SplitAfter(open, "\n")[:6], ""), open, nil, "bounds", "contradicts another field"},
		{"newer version", text, text, version, "version", "is unknown"},
		{"another JSON file", text, text, func(string) string { return "{}" }, "format", "is no state, or a damaged one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state")
			if code, _, errs := stated(t, path, test.before); code != answered {
				t.Fatal(errs)
			}
			if test.change != nil {
				must.Do(t, os.WriteFile(path, []byte(test.change(contents(t, path))), 0o600))
			}
			code, _, errs := stated(t, path, test.after)
			var answer failure
			if err := json.Unmarshal([]byte(errs), &answer); err != nil || code != failed || len(answer.Faults) != 1 {
				t.Fatalf("exit %d, %v: %s", code, err, errs)
			}
			if fault := answer.Faults[0]; fault.Field != test.field || fault.Item != fmt.Sprintf("state %q", path) || fault.Problem != test.problem {
				t.Errorf("fault %+v, want %s of the state: %s", fault, test.field, test.problem)
			}
		})
	}
}

// Where the file cannot be written there is an error, and no leftover.
func TestUnwritableState(t *testing.T) {
	folder := t.TempDir()
	text := workloadText(t, 1, true)
	for _, path := range []string{folder, filepath.Join(folder, "absent", "state")} {
		if code, _, errs := stated(t, path, text); code != failed || errs == "" {
			t.Errorf("%s: exit %d, %q", path, code, errs)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// asCommand is the variable that makes the test binary the command.
const asCommand = "APPORTION_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// Where bounds are given every job is answered before the next one is read; a process that is killed
// between two jobs loses nothing.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	text := workloadText(t, 2, true)
	_, want, _ := call(t, text, "oasis")
	lines := strings.SplitAfter(text, "\n")
	for _, k := range []int{1, 5, 19} {
		path := filepath.Join(t.TempDir(), "state")
		command := exec.Command(os.Args[0], "oasis", "-state", path)
		command.Env = append(os.Environ(), asCommand+"=1")
		in := must.Have(command.StdinPipe())(t)
		out := must.Have(command.StdoutPipe())(t)
		must.Do(t, command.Start())
		answers, got := bufio.NewReader(out), ""
		for i := range k + 1 {
			must.Have(io.WriteString(in, lines[i]))(t)
			if i > 0 {
				answer := must.Have(answers.ReadString('\n'))(t)
				got += answer
			}
		}
		waitForJobs(t, path, k)
		must.Do(t, command.Process.Kill())
		_ = command.Wait() // it was killed
		_, rest, errs := stated(t, path, text)
		must.Equal(t, got+rest, want, "killed after", k, "jobs", errs, cmp.Diff(want, got+rest))
	}
}

// waitForJobs waits until the file has the answers to n jobs.
func waitForJobs(t *testing.T, path string, n int) {
	t.Helper()
	for range 3000 {
		var file stateFile
		if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &file) == nil && file.Jobs == n {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("the state does not come to %d jobs", n)
}

// Every option of the first line arrives where it belongs.
func TestOASiSOptions(t *testing.T) {
	for options, want := range map[string]oasisHeader{
		`{}`:                      {steps: defaultCertificateSteps},
		`{"literal": true}`:       {steps: defaultCertificateSteps, choice: primaldual.BoundsOptions{Literal: true}},
		`{"eta_per_job": true}`:   {steps: defaultCertificateSteps},
		`{"eta_per_job": false}`:  {steps: defaultCertificateSteps, choice: primaldual.BoundsOptions{EtaGlobal: true}},
		`{"raw_units": true}`:     {steps: defaultCertificateSteps, choice: primaldual.BoundsOptions{RawUnits: true}},
		`{"l_floor_eps": 0}`:      {steps: defaultCertificateSteps, choice: primaldual.BoundsOptions{LFloorEps: -1}},
		`{"l_floor_eps": 0.5}`:    {steps: defaultCertificateSteps, choice: primaldual.BoundsOptions{LFloorEps: 0.5}},
		`{"l_scale": 3}`:          {steps: defaultCertificateSteps, choice: primaldual.BoundsOptions{LScale: 3}},
		`{"u_scale": 4}`:          {steps: defaultCertificateSteps, choice: primaldual.BoundsOptions{UScale: 4}},
		`{"reached": 5}`:          {steps: defaultCertificateSteps, choice: primaldual.BoundsOptions{Reached: 5}},
		`{"rolling": true}`:       {steps: defaultCertificateSteps, choice: primaldual.BoundsOptions{Rolling: true}},
		`{"method": "chunk dp"}`:  {steps: defaultCertificateSteps, method: primaldual.ChunkDP},
		`{"certificate_steps":0}`: {},
	} {
		header := must.Have(readOASiSHeader(line(fullOASiS+`"options":`+options+`}`)))(t, options)
		if header.choice != want.choice || header.method != want.method || header.steps != want.steps {
			t.Errorf("%s: %+v, want %+v", options, header, want)
		}
	}
}
