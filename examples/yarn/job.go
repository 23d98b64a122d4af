//go:build unix

// This file reads jobs: files in a folder, each of the user to whom it belongs.

package yarn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// declared is what a user writes of a job.
type declared struct {
	// Queue is the queue that it is submitted to, Priority its priority there and among the elastic jobs, and Label the
	// partition of its nodes.
	Queue    string `json:"queue"`
	Priority int32  `json:"priority,omitzero"`
	Label    string `json:"label,omitempty"`
	// Application is the ID of the application whose master follows decisions; empty: there will be an unmanaged one.
	Application string `json:"application,omitempty"`
	// Demand is what one container takes, by YARN's names of resources.
	Demand map[string]int64 `json:"demand"`
	// Command is what every container runs, as an argument vector, and Env its environment.
	Command []string          `json:"command"`
	Env     map[string]string `json:"env,omitempty"`
	// SaveSignal asks a container to save: USR1, USR2 or HUP; empty: a file does.
	SaveSignal string `json:"save_signal,omitempty"`
	// The rest is as in alloc.Application. A Min and a Weight that are absent are 1.
	Max        int64    `json:"max"`
	Min        *int64   `json:"min,omitempty"`
	Step       int64    `json:"step,omitzero"`
	PerServer  int64    `json:"per_server,omitzero"`
	MaxServers int64    `json:"max_servers,omitzero"`
	Weight     *float64 `json:"weight,omitempty"`
	// AdjustCost and Preemptible are as in alloc.Application.
	AdjustCost  *int64 `json:"adjust_cost,omitempty"`
	Preemptible bool   `json:"preemptible,omitzero"`
}

// submission is a job that a user has submitted.
// As JSON it is the spec of the job, which Start reads again, perhaps under a controller that has never seen the file.
type submission struct {
	declared
	// Job is its name, User whose it is, and Stamp a tag that tells it from others of its name.
	Job   string `json:"job"`
	User  string `json:"user"`
	Stamp string `json:"stamp"`

	// Neither is part of the spec: one is for the order of the jobs, and the other says why this is none.
	submitted time.Time
	fault     error
}

// jobEnding ends the names of files of jobs; what does not end so is left alone.
// So whoever writes one under another name first, and renames it then, has it read as a whole.
const jobEnding = ".json"

// over is the folder within that of the jobs for those that have ended.
// It is on the same file system, so that a rename puts a file there.
const over = "over"

// readJobs reads all jobs, in the order of submission: that of the files' times, and of their names where these are equal.
// A file that cannot be read as a job is listed with its fault, so that its user is told. One that goes while
// the folder is read was withdrawn, and is none.
func readJobs(folder string, kinds apportion.Kinds) ([]submission, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var list []submission
	for _, file := range files {
		job, isJob := strings.CutSuffix(file.Name(), jobEnding)
		if !isJob || !file.Type().IsRegular() {
			continue
		}
		one := submission{Job: job}
		one.fault = one.read(filepath.Join(folder, file.Name()), kinds)
		if !errors.Is(one.fault, fs.ErrNotExist) {
			list = append(list, one)
		}
	}
	slices.SortStableFunc(list, func(a, b submission) int { return a.submitted.Compare(b.submitted) })
	return list, nil
}

// read reads the file of a job.
// Everything that a shell, YARN or the holder would take for something else is refused here, by the field that it stands in.
func (s *submission) read(name string, kinds apportion.Kinds) error {
	// A link could name a file of somebody else's, who would then be the one that has submitted it. A pipe would have this
	// program wait.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// Whoever writes the file anew submits another job: its time, to the nanosecond, is in the stamp.
	s.submitted = info.ModTime()
	s.Stamp = "t" + strconv.FormatInt(info.ModTime().UnixNano(), 10)
	// The user comes before the text, so that a job with a fault has one as well.
	if s.User, err = ownerOf(info); err != nil {
		return err
	}
	if info.Size() > longestJob {
		return fmt.Errorf("the file has %d bytes, more than %d", info.Size(), longestJob)
	}
	// A word that is misspelt would be a wish that nobody hears, so unknown ones are faults.
	decoder := json.NewDecoder(io.LimitReader(f, longestJob))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s.declared); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("something follows the job")
	}
	// Numbers are the optimizer's to judge, and queue and label are YARN's, with reasons of their own.
	switch {
	case len(s.Command) == 0:
		return errors.New("command is empty")
	case s.Queue == "":
		return errors.New("queue is missing")
	case s.Demand == nil:
		return errors.New("demand is missing")
	}
	if s.Application != "" && !applicationID.MatchString(s.Application) {
		return fmt.Errorf("application %q is not the ID of one", s.Application)
	}
	// Values are quoted in the script. Names cannot be.
	for name := range s.Env {
		if !isVariable(name) {
			return fmt.Errorf("env %q is no name of a variable", name)
		}
	}
	if _, known := map[string]bool{"": true, "USR1": true, "USR2": true, "HUP": true}[s.SaveSignal]; !known {
		return fmt.Errorf("save_signal %q: USR1, USR2 or HUP ask a job to save", s.SaveSignal)
	}
	// In the order of names, so that of several faults the same one is told at each look.
	for _, name := range slices.Sorted(maps.Keys(s.Demand)) {
		if !slices.Contains(kinds, name) {
			return fmt.Errorf("demand %q: this cluster has %s", name, strings.Join(kinds, ", "))
		}
	}
	return nil
}

// isVariable reports whether the shell takes a text as the name of a variable.
// Anything else would be taken for a command by the shell that exports it.
func isVariable(name string) bool {
	// A digit may not be the first.
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// longestJob is how many bytes the file of a job may have: everybody may write one.
const longestJob = 1 << 20

// ownerOf is the name of the user to whom a file belongs, if it is a regular one without another name.
// The file's owner is who the job runs as: whoever may write into the folder can name nobody else, and a second name is one
// that another user may have given it.
func ownerOf(info fs.FileInfo) (string, error) {
	stat, isStat := info.Sys().(*syscall.Stat_t)
	if !isStat {
		return "", errors.ErrUnsupported
	}
	if !info.Mode().IsRegular() || stat.Nlink != 1 {
		return "", errors.New("the file has other names, or is none: its owner need not be who has put it here")
	}
	owner, err := user.LookupId(strconv.FormatUint(uint64(stat.Uid), 10))
	if err != nil {
		return "", err
	}
	return owner.Username, nil
}

// partition is the label of servers that names their partition; that of most is empty.
// A job without a label runs on nodes without one and on no others, as in YARN.
const partition = "partition"

// application is the job for the optimizer. YARN grants multiples of least, so that is what is counted with.
// Weight and Min are 1 where the file does not say, and 0 where it says 0; Validate judges what it says.
func (s *submission) application(kinds apportion.Kinds, least apportion.Resources) alloc.Application {
	a := alloc.Application{ID: s.Job, Queue: s.Queue, Weight: 1, PerServer: s.PerServer, MaxServers: s.MaxServers,
		Priority: int64(s.Priority), AdjustCost: s.AdjustCost, Preemptible: s.Preemptible,
		Form: alloc.Form{Min: 1, Max: s.Max, Step: s.Step, Demand: make(apportion.Resources, len(kinds)),
			Requires: []apportion.Requirement{{Key: partition, Op: apportion.In, Values: []string{s.Label}}}}}
	if s.Weight != nil {
		a.Weight = *s.Weight
	}
	if s.Min != nil {
		a.Min = *s.Min
	}
	for k, kind := range kinds {
		// A kind that is not named is 0, and becomes the least grant where there is one.
		a.Demand[k] = s.Demand[kind]
		// A negative one stays as it is, for the optimizer's Validate to name.
		// A quantity near the largest is refused later, with all that no server has.
		if step := least[k]; step > 0 && a.Demand[k] >= 0 && a.Demand[k] < 1<<60 {
			a.Demand[k] = max(step, (a.Demand[k]+step-1)/step*step)
		}
	}
	return a
}
