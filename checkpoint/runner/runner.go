// This file declares what a training framework must be able to do so that its jobs can be resized:
// [Dorm] §III-C2, the commands start and resume.

package runner

import "context"

// Framework hides how the jobs of one training framework start, save, stop and resume. Its methods are
// the effects of the protocol that touch processes. Each is idempotent for one attempt: called again for
// the same Run it finds what the first call did, and a second Resume starts nothing, even if the
// processes of the first have died. A call for an older attempt than one it has seen
// returns ErrFenced and does nothing.
type Runner interface {
	// Resume makes the run's containers work: from the checkpoint in run.Restore, or from the beginning
	// where that is empty. It returns when the processes run, not when they are done.
	Resume(ctx context.Context, run Run) error
	// Save asks the job to write its state and waits until that is complete. It returns the directory and
	// the files in it that make the checkpoint, verified as far as the framework's format allows. A
	// signal that was sent is not a save: only files that were written are.
	Save(ctx context.Context, run Run) (Saved, error)
	// Stop ends every process of the run and returns when none is alive any more.
	Stop(ctx context.Context, run Run) error
	// Progress tells how the job stands.
	Progress(ctx context.Context, run Run) (Progress, error)
}

// Chooser is a Runner whose processes need only some parts of a checkpoint on their server: of a model in shards, those of
// their ranks. The others are not fetched.
type Chooser interface {
	Runner
	// Needs reports whether a part must be in run.Restore here. The checkpoint may be of a run with other containers.
	Needs(run Run, part string) bool
}

// Run is one attempt to run a job on a set of containers.
type Run struct {
	// Job names the job.
	Job string `json:"job"`
	// Attempt numbers the runs of a job, ascending from at least 1 and not one by one. Of two runs the
	// one with the higher number is valid: whatever the other still says or writes is ignored.
	Attempt int64 `json:"attempt"`
	// Containers are the servers, one entry a container, ascending: the container's rank is its place.
	Containers []string `json:"containers"`
	// Dir is the directory into which this attempt writes its checkpoints; no other attempt has it.
	Dir string `json:"dir"`
	// Restore is the directory with the files of the checkpoint to resume from; empty: start anew.
	Restore string `json:"restore,omitempty"`
}

// Saved is a complete checkpoint on the disk of a job.
type Saved struct {
	// Dir is where the files are; Files are relative to it, with forward slashes, ascending.
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
	// Step is the number of training steps that the checkpoint holds; -1 if the format does not tell.
	Step int64 `json:"step"`
	// Given says that the job has given the files away: it neither opens them any more nor needs their names, so a store on
	// the same disk may take the files themselves in place of a copy.
	Given bool `json:"given,omitempty"`
}

// Progress is how a job stands.
type Progress struct {
	// Step is the number of training steps done, counted over all attempts.
	Step int64 `json:"step"`
	// Running says that processes of the run are alive; Done that the job has finished its work; Failed
	// is the reason when it ended otherwise.
	Running bool   `json:"running"`
	Done    bool   `json:"done"`
	Failed  string `json:"failed,omitempty"`
	// Refused says of a run that has Failed that it never began, since others have its room.
	Refused bool `json:"refused,omitempty"`
}
