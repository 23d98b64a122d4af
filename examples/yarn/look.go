//go:build unix

// This file reads a YARN cluster: nodes with what others leave of them, and the jobs that are for the controller.

package yarn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// Look implements controller.Cluster.
// It makes some five requests. They are not one snapshot: what changes between them shows as others' use
// for one look, and the next one puts it right.
func (y *yarn) Look(ctx context.Context) (*controller.View, error) {
	least, err := y.leastOf(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := y.readJobs()
	if err != nil {
		return nil, err
	}
	apps, err := y.applications(ctx, jobs)
	if err != nil {
		return nil, err
	}
	view := &controller.View{Rejected: map[string]string{}}
	if err := y.lookAtJobs(ctx, view, jobs, apps, least); err != nil {
		return nil, err
	}
	all, err := y.holdings(ctx, apps)
	if err != nil {
		return nil, err
	}
	if err := y.lookAtNodes(ctx, view, all); err != nil {
		return nil, err
	}
	if view.Waiting, err = y.waiting(ctx); err != nil {
		return nil, err
	}
	return view, y.lookAtQueues(ctx, view, apps, all)
}

// readJobs reads the jobs; none for a dry run that was not told where they are.
func (y *yarn) readJobs() ([]submission, error) {
	if y.jobs == "" {
		return nil, nil
	}
	return readJobs(y.jobs, y.kinds)
}

// applications lists the applications of the controller's jobs: those that its holder has submitted, and those of masters
// that follow.
// An application of another controller on the same cluster has another tag and is none of ours.
func (y *yarn) applications(ctx context.Context, jobs []submission) ([]application, error) {
	following := map[string]string{}
	if y.masters != nil {
		var err error
		if following, err = y.masters.known(); err != nil {
			return nil, err
		}
	}
	for i := range jobs {
		// A master that has not been told yet that it may follow has no folder, but its job's file names
		// it.
		if id := jobs[i].Application; id != "" {
			following[id] = jobs[i].Job
		}
	}
	all, err := y.manager.applications(ctx)
	var own []application
	for _, a := range all {
		if job, follows := following[a.ID]; follows {
			a.Name, a.follows = job, true
			own = append(own, a)
			// For a dry run without a tag every application of the type counts.
		} else if y.instance == "" || slices.Contains(strings.Split(a.Tags, ","), y.instance) {
			own = append(own, a)
		}
	}
	return own, err
}

// lookAtJobs adds the jobs. Each has an application of YARN's, which is submitted as soon as the job is seen.
// Every file is a job that is there, or one that is rejected with a reason; an application without a file
// was withdrawn.
func (y *yarn) lookAtJobs(ctx context.Context, view *controller.View, jobs []submission, apps []application, least apportion.Resources) error {
	there := map[string]*submission{}
	for i := range jobs {
		s := &jobs[i]
		there[s.Job] = s
		if s.fault != nil {
			view.Rejected[s.Job] = s.fault.Error()
			continue
		}
		if err := y.lookAtJob(ctx, view, s, newestOf(apps, s), least); err != nil {
			return err
		}
	}
	for i := range apps {
		a := &apps[i]
		switch s := there[a.Name]; {
		// Its job has gone, or has another application now: nobody asks for its orders any more.
		case a.follows && a.isOver() && (s == nil || s.Application != a.ID) && y.masters != nil:
			if err := y.masters.forget(a.ID); err != nil {
				return err
			}
		case !a.isOver() && s == nil && y.holder != nil:
			// Its user has removed the file.
			view.Withdrawn = append(view.Withdrawn, a.Name)
			if !a.follows {
				// The holder takes an order for an application only when it holds it, so that it must hold
				// it once more to end it.
				gone := submission{Job: a.Name, User: a.User, Stamp: stampOf(a), declared: declared{Queue: a.Queue}}
				_, _ = y.open(ctx, &gone) // it is opened again with the next look
			}
		}
	}
	return nil
}

// lookAtJob adds a job, of which YARN may know an application.
// known is the newest application that YARN has for this very submission; nil where there is none yet.
func (y *yarn) lookAtJob(ctx context.Context, view *controller.View, s *submission, known *application, least apportion.Resources) error {
	y.mu.Lock()
	y.stamps[s.Job], y.followed[s.Job] = s.Stamp, s.Application
	y.mu.Unlock()
	switch {
	// Whoever submits a job may name his own application only.
	case s.Application != "" && (known == nil || known.User != s.User):
		view.Rejected[s.Job] = fmt.Sprintf("YARN knows no application %s of type %s of %s's", s.Application, applicationType, s.User)
		return nil
	// Its user has ended it by YARN's own means, or his own master has failed for good.
	case known != nil && (known.State == "KILLED" || known.State == "FAILED" && known.follows):
		view.Withdrawn = append(view.Withdrawn, s.Job)
		return nil
	// The job is over and its file was not put aside yet.
	case known != nil && known.State == "FINISHED":
		return y.bury(s.Job) // a controller before this one has not come to that
	}
	if y.holder != nil {
		why, err := y.open(ctx, s)
		if err != nil {
			why = "it is not held yet: " + err.Error()
		}
		// One that has its application and is about to be held again goes on.
		// A job that has never run is rejected while it is not held. One that runs is not taken away for
		// the seconds that a holder needs to start.
		if why != "" && (known == nil || known.State != "RUNNING" || known.follows) {
			view.Rejected[s.Job] = why
			return nil
		}
	}
	if known != nil {
		s.Queue = known.Queue // which may have been moved
	}
	text, err := json.Marshal(s)
	view.Jobs = append(view.Jobs, controller.Job{Application: s.application(y.kinds, least), Spec: text})
	return err
}

// newestOf is the newest application of a job, or the one that it names; nil: YARN knows none.
// A name may have been used before: the stamp, which is the file's time, tells submissions of one name
// apart. Whoever sees name and tags can give them to an application, but not the user.
func newestOf(apps []application, s *submission) *application {
	var newest *application
	for i := range apps {
		a := &apps[i]
		if s.Application != "" {
			if a.ID == s.Application {
				return a
			}
			continue
		}
		// Of several for one submission the newest counts: one before may have failed.
		if a.Name == s.Job && a.User == s.User && stampOf(a) == s.Stamp && (newest == nil || numberOf(a.ID) > numberOf(newest.ID)) {
			newest = a
		}
	}
	return newest
}

// numberOf is the number in the ID of an application, application_TIME_NUMBER.
// It rises within one ResourceManager's life, which is all that newestOf needs.
func numberOf(id string) int64 {
	n, _ := strconv.ParseInt(id[strings.LastIndex(id, "_")+1:], 10, 64) // YARN's own numbers
	return n
}

// stampOf is the stamp among the tags of an application.
// A tag is lower case and may have been given by a user; the first of the form t and digits counts.
func stampOf(a *application) string {
	for tag := range strings.SplitSeq(a.Tags, ",") {
		if _, err := strconv.ParseInt(strings.TrimPrefix(tag, "t"), 10, 64); err == nil && strings.HasPrefix(tag, "t") {
			return tag
		}
	}
	return ""
}

// leastOf asks once what YARN's grants are multiples of.
// It does not change while the ResourceManager runs, and a later one with other numbers is met by a later
// controller. Kinds beside memory and cores have no least.
func (y *yarn) leastOf(ctx context.Context) (apportion.Resources, error) {
	y.mu.Lock()
	least := y.least
	y.mu.Unlock()
	if least != nil {
		return least, nil
	}
	least = make(apportion.Resources, len(y.kinds))
	for k, name := range []string{"yarn.scheduler.minimum-allocation-mb", "yarn.scheduler.minimum-allocation-vcores"} {
		var answer struct {
			Property struct {
				Value quantity `json:"value"`
			} `json:"property"`
		}
		if err := y.manager.get(ctx, "/conf?name="+name, &answer); err != nil {
			return nil, err
		}
		least[k] = int64(answer.Property.Value)
	}
	y.mu.Lock()
	y.least = least
	y.mu.Unlock()
	return least, nil
}

// Ended implements controller.Cluster: the application ends, and the file of the job is put aside.
// A controller that dies between the two finds the application FINISHED at its next look, and puts the file
// aside then.
func (y *yarn) Ended(ctx context.Context, job string, how checkpoint.Ending, why string) error {
	status := map[checkpoint.Ending]string{checkpoint.Completed: "SUCCEEDED", checkpoint.Cancelled: "KILLED"}[how]
	// YARN knows no more ends than these: what was neither completed nor cancelled has failed.
	status = cmp.Or(status, "FAILED")
	if err := y.end(ctx, job, status, cmp.Or(why, string(how))); err != nil {
		return err
	}
	return y.bury(job)
}

// bury puts the file of a job aside, if it is still that of the submission that was seen.
// A file that its user has replaced meanwhile has another stamp, and is a job of its own.
func (y *yarn) bury(job string) error {
	y.mu.Lock()
	stamp := y.stamps[job]
	y.mu.Unlock()
	// The stamp of a job that was never seen is empty, and no file has that.
	name := filepath.Join(y.jobs, job+jobEnding)
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && "t"+strconv.FormatInt(info.ModTime().UnixNano(), 10) != stamp {
		return nil
	}
	if err != nil {
		return err
	}
	disk, err := vfs.NewOS(y.jobs)
	if err != nil {
		return err
	}
	// The new name first: a job that is over must not come back, and one that is there twice is put aside again.
	err = disk.Rename(job+jobEnding, path.Join(over, job+"."+stamp+jobEnding))
	return errors.Join(err, disk.SyncDir(over), disk.SyncDir("."), disk.Close())
}

// Forget implements controller.Cluster. A job that was withdrawn has an application until now.
func (y *yarn) Forget(ctx context.Context, job string) error {
	apps, err := y.applications(ctx, nil)
	if err != nil {
		return err
	}
	// An application that stays would keep its containers and its place in the queue.
	for i := range apps {
		if apps[i].Name == job && !apps[i].isOver() {
			if err := y.end(ctx, job, "KILLED", "its user has withdrawn it"); err != nil {
				return err
			}
		}
	}
	if err := y.bury(job); err != nil {
		return err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	delete(y.stamps, job)
	delete(y.followed, job)
	return nil
}

// Running implements external.Cluster.
// Containers with another priority belong to an application master's own needs.
func (y *yarn) Running(ctx context.Context) (alloc.Allocation, error) {
	jobs, err := y.readJobs()
	if err != nil {
		return nil, err
	}
	apps, err := y.applications(ctx, jobs)
	if err != nil {
		return nil, err
	}
	all, err := y.holdings(ctx, apps)
	running := alloc.Allocation{}
	for i := range all {
		job := all[i].Name
		for _, c := range all[i].containers {
			if c.Priority != runPriority {
				continue
			}
			if running[job] == nil {
				running[job] = map[string]int64{}
			}
			running[job][c.Node]++
		}
	}
	return running, err
}

// instanceIn reads the tag of this controller's applications, or makes it at the first time.
// The tag must be the same for every controller of this folder, as it is how their applications are found.
func instanceIn(name string) (string, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte("apportion-" + randomWord())
		err = vfs.WriteFile(name, text)
	}
	if err != nil {
		return "", fmt.Errorf("the tag of this controller: %w", err)
	}
	return string(text), nil
}
