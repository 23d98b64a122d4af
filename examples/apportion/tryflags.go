// This file has the flags of "apportion try", which its help lists in every build.

package main

import "time"

// tryOptions are the flags of "try".
type tryOptions struct {
	servers        int
	seed           uint64
	speed          float64
	length, from   time.Duration
	trace, listen  string
	theta1, theta2 float64
}

// tryFlags declares them.
func (c *command) tryFlags() {
	o := &c.try
	c.IntVar(&o.servers, "servers", 16, "how `many` servers of 8 GPUs there are")
	c.Uint64Var(&o.seed, "seed", 1, "chooses the jobs, where there is no trace")
	c.Float64Var(&o.speed, "speed", 100, "how many `times` as fast as time it goes")
	c.DurationVar(&o.length, "for", 0, "end after this `long`; 0: with an interrupt")
	c.StringVar(&o.trace, "trace", "", "a `file` of jobs to play: what sacct -P prints, Philly's log, Alibaba's pods or CSV as package trace reads it, plain or gzip, or what \"sim\" reads as its first line")
	c.DurationVar(&o.from, "from", 0, "where in the trace to begin: jobs that were submitted before are left out")
	c.StringVar(&o.listen, "listen", "127.0.0.1:0", "the loopback `address` of the page")
	c.Float64Var(&o.theta1, "theta1", 0.3, "how unfair a decision may be, from 0 to 1")
	c.Float64Var(&o.theta2, "theta2", 0.2, "which part of the running jobs one decision may move by its own will, from 0 to 1")
}
