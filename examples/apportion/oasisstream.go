// This file reads the stream of "apportion oasis", and takes the bounds of the prices from all of it where the first line has none.

package main

import (
	"errors"
	"io"
	"iter"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual"
)

// stream reads the events one by one. A job that was in the stream before is a fault.
func (o *oasis) stream(l *lines) iter.Seq2[*oasisEvent, error] {
	return func(yield func(*oasisEvent, error) bool) {
		// Names are never freed: a job that has ended keeps its name, or the answers could not be told
		// apart.
		seen := make(map[string]bool)
		for {
			err := l.next()
			if err == io.EOF {
				return
			}
			var e *oasisEvent
			if err == nil {
				e = readOASiSEvent(l, o.cluster.Kinds)
				if e.fault == nil && e.verb == "" && seen[e.job.ID] {
					e.fault = &apportion.FieldError{Item: apportion.Item{Kind: "job", ID: e.job.ID}, Field: "id", Err: apportion.ErrDuplicate}
				}
			}
			// A job counts as seen only when it was read without a fault, so that one that is repeated
			// in a right form is not a duplicate as well.
			if err == nil && e.fault == nil && e.verb == "" {
				seen[e.job.ID] = true
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// prepare reads the whole stream and sets the bounds from all jobs in it that have no fault; with -strict there may be no fault.
func (o *oasis) prepare(events iter.Seq2[*oasisEvent, error]) (iter.Seq2[*oasisEvent, error], error) {
	var all []*oasisEvent
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	// A job may be right in itself and wrong for the cluster: then it has a fault, and the others have bounds without it.
	for {
		if err := o.allFaults(all); err != nil {
			return nil, err
		}
		fault, err := o.bound(all)
		if err != nil {
			return nil, err
		}
		if !fault {
			break
		}
	}
	return func(yield func(*oasisEvent, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}, nil
}

// allFaults returns, with -strict, the faults of all lines at once.
func (o *oasis) allFaults(events []*oasisEvent) error {
	var faults apportion.Faults
	for _, e := range events {
		if e.fault == nil || !o.strict {
			continue
		}
		var found apportion.Faults
		if err := atLine(e.line, e.fault); errors.As(err, &found) {
			faults = append(faults, found...)
		} else {
			return err
		}
	}
	return faults.Err()
}

// bound sets the bounds from the jobs that have no fault, or says that one of them has a fault now.
//
// BoundsOf needs all jobs, and so is wrong for a stream that is still being written: then nothing is
// answered until it ends.
func (o *oasis) bound(events []*oasisEvent) (faulty bool, err error) {
	var jobs []primaldual.Job
	of := make(map[string]*oasisEvent)
	for _, e := range events {
		if e.fault == nil && e.verb == "" {
			jobs = append(jobs, e.job)
			of[e.job.ID] = e
		}
	}
	bounds, err := primaldual.BoundsOf(&o.cluster, jobs, &o.choice)
	o.bounds = &bounds
	var fault *apportion.FieldError
	if errors.As(err, &fault) && of[fault.Item.ID] != nil {
		of[fault.Item.ID].fault = err
		return true, nil
	}
	if err != nil {
		// A fault that is of no job is one of the cluster or the options, which are in the first line.
		err = atLine(o.line, err)
	}
	return false, err
}
