// This file declares how a controller sees a cluster.

package controller

import (
	"context"
	"encoding/json"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/drf"
)

// Cluster is a cluster manager, as a controller needs it.
type Cluster interface {
	managed.Manager
	// Look returns the cluster as it is now. An error changes nothing: a manager that cannot be asked says nothing about
	// its servers, and guards go on to claim.
	Look(ctx context.Context) (*View, error)
	// Ended tells the manager that a job is over: its work is done, it was cancelled, or it was given up, for its runs come to
	// nothing, and why says how; it is to end as one that has failed then, by the manager's own words. It is called again until
	// the View does not have the job any more, neither in Jobs nor in Rejected.
	Ended(ctx context.Context, job string, how checkpoint.Ending, why string) error
	// Forget removes what the manager keeps of the runs of a job that is over. Another job may have its name then, and
	// numbers its attempts from 1.
	Forget(ctx context.Context, job string) error
}

// View is a cluster at one moment.
type View struct {
	// Servers are all that the manager knows, in any order.
	Servers []Server `json:"servers"`
	// Jobs are those that were submitted and not withdrawn, in the order of submission.
	Jobs []Job `json:"jobs"`
	// Queues are those that jobs belong to, beside those of Config.Problem.
	Queues []drf.Queue `json:"queues,omitempty"`
	// Waiting is work of others that waits for room, in the order in which its manager would begin it.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Withdrawn are those that the manager knows to have been stopped by their users, by ID. One that is merely not there
	// counts as withdrawn when it has been missing for Config.Missing: a manager that was started again may not know all of
	// its jobs at first.
	Withdrawn []string `json:"withdrawn,omitempty"`
	// Rejected says of jobs that cannot be understood why, by ID. One that runs goes on as it was until it has ended or is in
	// neither list; nothing is begun.
	Rejected map[string]string `json:"rejected,omitempty"`
}

// Server is a server and how the manager sees it.
type Server struct {
	// Capacity is what elastic jobs may have: what is there, less what others use.
	apportion.Server
	// Down says why the server is not up; "": it is.
	Down string `json:"down,omitempty"`
	// Draining says that jobs are to leave it, by the Deadline if that is not zero.
	Draining bool      `json:"draining,omitempty"`
	Deadline time.Time `json:"deadline,omitzero"`
}

// Job is a job and what it runs.
type Job struct {
	Application alloc.Application `json:"application"`
	// Spec is handed to Start as Task.Spec.
	Spec json.RawMessage `json:"spec,omitempty"`
	// MaxDeaths is Config.MaxDeaths for this job, where its user says another number; 0: that of the Config.
	MaxDeaths int `json:"max_deaths,omitempty"`
}
