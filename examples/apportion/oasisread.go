// This file reads the lines of "apportion oasis": the cluster, the jobs, and what else happens.

package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/primaldual"
)

// oasisHeader is the first line.
type oasisHeader struct {
	// cluster has workers and parameter servers on two lists of servers, as §3.1 has it.
	cluster primaldual.Cluster
	// bounds is nil where they are to be taken from all jobs of the stream, as choice says.
	bounds *primaldual.Bounds
	choice primaldual.BoundsOptions
	// method is how Algorithm 2 looks for the best schedule; the answers agree, their cost does not.
	method primaldual.Method
	// steps is the number of subgradient steps behind the upper bound.
	steps int
}

// oasisEvent is any later line: a job, or a verb with its object and slot.
type oasisEvent struct {
	line int
	// digest is the SHA-256 of the line. The state keeps digests and no lines, so its size does not grow
	// with the stream.
	digest [sha256.Size]byte
	verb   string // "" for a job
	// job is set where verb is empty; id names a job or a server, as the verb says.
	job  primaldual.Job
	id   string
	slot int
	// fault is what is wrong with the line, if anything is.
	fault error
}

// oasisInput is the first line as it is written.
type oasisInput struct {
	primaldual.Cluster
	Bounds *boundsInput `json:"bounds,omitempty"`
	// A pointer marks an option whose zero is not the same as leaving it out.
	Options struct {
		// Literal takes (23)-(26) as printed; EtaPerJob false one eta for all jobs; RawUnits sums in the
		// units of the kinds.
		Literal   bool  `json:"literal,omitempty"`
		EtaPerJob *bool `json:"eta_per_job,omitempty"`
		RawUnits  bool  `json:"raw_units,omitempty"`
		// LFloorEps is the part of the largest utility below which utilities do not pull L down; 0: no
		// floor.
		LFloorEps *belowOne `json:"l_floor_eps,omitempty"`
		// LScale and UScale multiply L and U; safety factors for jobs that are a sample of those to come.
		LScale positive `json:"l_scale,omitempty"`
		UScale positive `json:"u_scale,omitempty"`
		// Reached is a total utility that some schedules of the jobs reach; 0: not known.
		Reached notNegative `json:"reached,omitempty"`
		// Rolling gives every job all slots from its arrival, for a window that moves on.
		Rolling bool `json:"rolling,omitempty"`
		// CertificateSteps trades time for a lower upper bound: a step costs about as much as all jobs
		// once more.
		Method           primaldual.Method `json:"method,omitempty"`
		CertificateSteps *count            `json:"certificate_steps,omitempty"`
	} `json:"options,omitzero"`
}

// boundsInput is a primaldual.Bounds in which a single number may stand for one of each kind.
type boundsInput struct {
	UWorker   perKind `json:"U_worker"`
	LWorker   perKind `json:"L_worker"`
	UPS       perKind `json:"U_ps"`
	LPS       perKind `json:"L_ps"`
	EtaWorker float64 `json:"eta_worker,omitempty"`
	EtaPS     float64 `json:"eta_ps,omitempty"`
}

// perKind is a list with a number for each kind, or a single number that holds for all of them.
// list is nil where the field was left out or refused.
type perKind struct {
	list   []float64
	single bool
}

// UnmarshalJSON reads either.
func (p *perKind) UnmarshalJSON(text []byte) (err error) {
	if text[0] == '[' {
		p.list, err = decoded[[]float64](text)
		return err
	}
	number, err := decoded[float64](text)
	p.list, p.single = []float64{number}, true
	return err
}

// readOASiSHeader reads the first line. It returns the header even with faults, filled as far as it was
// read.
func readOASiSHeader(l *lines) (*oasisHeader, error) {
	in, h := &oasisInput{}, &oasisHeader{steps: defaultCertificateSteps}
	return h, l.read(in, &strictjson.Options{
		Kinds: func() apportion.Kinds { return in.Kinds }, Validate: func() error { h.take(in); return h.validate(in.Bounds) },
	})
}

// defaultCertificateSteps is the number of subgradient steps where the options say nothing.
const defaultCertificateSteps = 60

// take sets the header as the first line says.
func (h *oasisHeader) take(in *oasisInput) {
	o := &in.Options
	h.cluster, h.method = in.Cluster, o.Method
	h.choice = primaldual.BoundsOptions{
		Literal: o.Literal, EtaGlobal: o.EtaPerJob != nil && !*o.EtaPerJob, RawUnits: o.RawUnits,
		LScale: float64(o.LScale), UScale: float64(o.UScale), Reached: float64(o.Reached), Rolling: o.Rolling,
	}
	if o.LFloorEps != nil {
		h.choice.LFloorEps = float64(*o.LFloorEps)
		h.choice.LFloorEps = cmp.Or(h.choice.LFloorEps, -1) // no floor; in Go 0 stands for the default
	}
	if o.CertificateSteps != nil {
		h.steps = int(*o.CertificateSteps)
	}
}

// validate returns all faults of the cluster, and of bounds that are given, which it takes.
func (h *oasisHeader) validate(given *boundsInput) error {
	var faults apportion.Faults
	errors.As(h.cluster.Validate(), &faults)
	if given == nil || len(h.cluster.Kinds) == 0 {
		return faults.Err()
	}
	// Options that choose bounds and bounds that are given contradict each other, and to ignore one of
	// them would hide that.
	if h.choice != (primaldual.BoundsOptions{}) {
		faults.Add(apportion.Item{}, "options", apportion.ErrConflict, "these set bounds, which are given")
	}
	h.bounds = given.spread(&faults, len(h.cluster.Kinds))
	if len(faults) == 0 {
		errors.As(h.bounds.Validate(h.cluster.Kinds), &faults)
	}
	return faults.Err()
}

// spread writes single numbers out for every kind. It stops at the first list of a wrong length, as U and L are looked at
// together.
func (b *boundsInput) spread(faults *apportion.Faults, kinds int) *primaldual.Bounds {
	out := &primaldual.Bounds{EtaWorker: b.EtaWorker, EtaPS: b.EtaPS}
	for _, side := range []struct {
		name         string
		u, l         perKind
		upper, lower *[]float64
	}{{"worker", b.UWorker, b.LWorker, &out.UWorker, &out.LWorker}, {"ps", b.UPS, b.LPS, &out.UPS, &out.LPS}} {
		if !side.u.spread(faults, "bounds.U_"+side.name, kinds, side.upper) || !side.l.spread(faults, "bounds.L_"+side.name, kinds, side.lower) {
			return out
		}
		// A kind that no job demands has U = 0. A single L holds for the others, and L <= U must hold
		// for this one as well.
		for r, upper := range *side.upper {
			if upper == 0 && side.l.single {
				(*side.lower)[r] = 0
			}
		}
	}
	return out
}

// spread sets to, or reports false for a list of the wrong length. What was refused or left out, which is told already, counts as 0.
func (p perKind) spread(faults *apportion.Faults, name string, kinds int, to *[]float64) bool {
	switch *to = p.list; {
	case p.list == nil:
		*to = make([]float64, kinds)
	case p.single:
		*to = slices.Repeat(p.list, kinds)
	case len(p.list) != kinds:
		faults.Add(apportion.Item{}, name, apportion.ErrLength, strconv.Itoa(len(p.list))+" numbers for "+strconv.Itoa(kinds)+" kinds")
		return false
	}
	return true
}

// oasisVerbs are the keys that make a line something else than a job.
var oasisVerbs = []string{"advance", "cancel", "complete", "fail", "repair"}

// The lines that are no jobs.
type (
	// advanceInput moves time on: slots before Slot are over.
	advanceInput struct {
		Slot slot `json:"advance"`
	}
	// cancelInput takes a running job away, without any utility.
	cancelInput struct {
		ID id `json:"cancel"`
	}
	// completeInput reports the slot in which a job has really ended.
	completeInput struct {
		ID   id   `json:"complete"`
		Slot slot `json:"slot"`
	}
	// failInput takes a server away from Slot on, and repairInput gives it back.
	failInput struct {
		ID   id   `json:"fail"`
		Slot slot `json:"slot"`
	}
	repairInput struct {
		ID   id   `json:"repair"`
		Slot slot `json:"slot"`
	}
)

// readOASiSEvent reads a line behind the first.
func readOASiSEvent(l *lines, kinds apportion.Kinds) *oasisEvent {
	e := &oasisEvent{line: l.number, digest: sha256.Sum256(l.text)}
	// Of two verbs in one line either may be taken: its strict reader refuses the other one as an
	// unknown field.
	for _, key := range l.keys() {
		if slices.Contains(oasisVerbs, key) {
			e.verb = key
		}
	}
	switch e.verb {
	case "":
		e.fault = l.read(&e.job, &strictjson.Options{
			Item:  func() apportion.Item { return apportion.Item{Kind: "job", ID: e.job.ID} },
			Kinds: func() apportion.Kinds { return kinds }, Validate: func() error { return e.job.Validate(kinds) },
		})
	case "advance":
		readVerb(l, e, func(in *advanceInput) (id, slot) { return "", in.Slot })
	case "cancel":
		readVerb(l, e, func(in *cancelInput) (id, slot) { return in.ID, 0 })
	case "complete":
		readVerb(l, e, func(in *completeInput) (id, slot) { return in.ID, in.Slot })
	case "fail":
		readVerb(l, e, func(in *failInput) (id, slot) { return in.ID, in.Slot })
	default:
		readVerb(l, e, func(in *repairInput) (id, slot) { return in.ID, in.Slot })
	}
	return e
}

// readVerb reads a line that is no job; parts returns what it says.
func readVerb[T any](l *lines, e *oasisEvent, parts func(*T) (id, slot)) {
	// Every form is checked by its own type, so that a slot behind "cancel" is an unknown field.
	var in T
	e.fault = l.read(&in, nil)
	name, at := parts(&in)
	e.id, e.slot = string(name), int(at)
}
