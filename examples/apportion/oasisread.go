// This file reads the lines of "apportion oasis": the cluster, the jobs, and what else happens.

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/primaldual"
)

// oasisHeader is the first line.
type oasisHeader struct {
	cluster primaldual.Cluster
	// bounds is nil where they are to be taken from all jobs of the stream, as choice says.
	bounds *oasisBounds
	choice primaldual.BoundsOptions
	method primaldual.Method
	// steps is the number of subgradient steps behind the upper bound.
	steps int
}

// oasisBounds are bounds as they are written: a single number holds for every kind.
type oasisBounds struct {
	primaldual.Bounds
	single map[string]bool
}

// oasisEvent is any later line: a job, or a verb with its object and slot.
type oasisEvent struct {
	line int
	// digest is the SHA-256 of the line.
	digest [sha256.Size]byte
	verb   string // "" for a job
	job    primaldual.Job
	id     string
	slot   int
}

func readOASiSHeader(l *lines) (*oasisHeader, error) {
	r, h := newReader(bytes.NewReader(l.text)), &oasisHeader{steps: defaultCertificateSteps}
	r.object("", []field{
		{"kinds", true, func(path string) { h.cluster.Kinds = r.strs(path) }},
		{"slots", true, func(path string) { h.cluster.Slots = int(r.integer(path, 1)) }},
		{"worker_servers", true, func(path string) {
			r.array(path, func(_ string, j int) { h.cluster.WorkerServers = append(h.cluster.WorkerServers, r.server(j)) })
		}},
		{"ps_servers", true, func(path string) {
			r.array(path, func(_ string, j int) { h.cluster.PSServers = append(h.cluster.PSServers, r.server(j)) })
		}},
		{"bounds", false, func(path string) { h.bounds = r.bounds(path) }},
		{"options", false, func(path string) { r.oasisOptions(path, h) }},
	})
	return h, r.finish(h.cluster.Kinds, h.validate)
}

// defaultCertificateSteps is the number of subgradient steps where the options say nothing.
const defaultCertificateSteps = 60

func (r *reader) bounds(path string) *oasisBounds {
	b := &oasisBounds{single: map[string]bool{}}
	list := func(dst *[]float64) func(string) {
		return func(path string) { *dst, b.single[path] = r.perKind(path) }
	}
	r.object(path, []field{
		{"U_worker", true, list(&b.UWorker)},
		{"L_worker", true, list(&b.LWorker)},
		{"U_ps", true, list(&b.UPS)},
		{"L_ps", true, list(&b.LPS)},
		{"eta_worker", false, func(path string) { b.EtaWorker = r.number(path, 0) }},
		{"eta_ps", false, func(path string) { b.EtaPS = r.number(path, 0) }},
	})
	return b
}

// perKind reads a list with a number for each kind, or a single number that holds for all of them.
func (r *reader) perKind(path string) (list []float64, single bool) {
	token := r.next()
	if token != json.Delim('[') {
		return []float64{r.numberOf(token, path, 0)}, true
	}
	for i := 0; r.more(); i++ {
		list = append(list, r.number(fmt.Sprintf("%s[%d]", path, i), 0))
	}
	r.next()
	return list, false
}

// oasisMethods are the values of the option "method".
var oasisMethods = []primaldual.Method{primaldual.BoundsFirst, primaldual.CappedDP, primaldual.ChunkDP}

func (r *reader) oasisOptions(path string, h *oasisHeader) {
	r.object(path, []field{
		{"literal", false, func(path string) { h.choice.Literal = r.boolean(path) }},
		{"eta_per_job", false, func(path string) { h.choice.EtaGlobal = !r.boolean(path) }},
		{"raw_units", false, func(path string) { h.choice.RawUnits = r.boolean(path) }},
		{"l_floor_eps", false, func(path string) {
			if h.choice.LFloorEps = r.notNegative(path); h.choice.LFloorEps == 0 {
				h.choice.LFloorEps = -1 // no floor; in Go 0 stands for the default
			} else if h.choice.LFloorEps >= 1 {
				r.faults.Add(apportion.Item{}, path, apportion.ErrRange, jsonNumber(h.choice.LFloorEps)+" is not below 1")
			}
		}},
		{"l_scale", false, func(path string) { h.choice.LScale = r.positive(path) }},
		{"u_scale", false, func(path string) { h.choice.UScale = r.positive(path) }},
		{"reached", false, func(path string) { h.choice.Reached = r.notNegative(path) }},
		{"rolling", false, func(path string) { h.choice.Rolling = r.boolean(path) }},
		{"method", false, func(path string) { h.method = choose(r, path, oasisMethods) }},
		{"certificate_steps", false, func(path string) { h.steps = int(r.atLeast(path, 0, defaultCertificateSteps)) }},
	})
}

// choose reads the name of one of the values.
func choose[T interface{ String() string }](r *reader, path string, values []T) T {
	name := r.str(path)
	for _, value := range values {
		if value.String() == name {
			return value
		}
	}
	if r.err == nil {
		r.faults.Add(apportion.Item{}, path, apportion.ErrUnknown, strconv.Quote(name))
	}
	return values[0]
}

// positive reads a number above 0.
func (r *reader) positive(path string) float64 {
	value := r.number(path, 1)
	if value <= 0 {
		r.faults.Add(apportion.Item{}, path, apportion.ErrRange, jsonNumber(value)+" is not positive")
	}
	return value
}

// notNegative reads a number that is 0 or more.
func (r *reader) notNegative(path string) float64 {
	value := r.number(path, 0)
	if value < 0 {
		r.faults.Add(apportion.Item{}, path, apportion.ErrNegative, jsonNumber(value))
	}
	return value
}

// atLeast reads a whole number that is not below least.
func (r *reader) atLeast(path string, least, otherwise int64) int64 {
	value := r.integer(path, otherwise)
	if value < least {
		r.faults.Add(apportion.Item{}, path, apportion.ErrRange, strconv.FormatInt(value, 10)+" is below "+strconv.FormatInt(least, 10))
	}
	return value
}

func (h *oasisHeader) validate() error {
	var faults apportion.Faults
	errors.As(h.cluster.Validate(), &faults)
	if h.bounds == nil || len(h.cluster.Kinds) == 0 {
		return faults.Err()
	}
	if h.choice != (primaldual.BoundsOptions{}) {
		faults.Add(apportion.Item{}, "options", apportion.ErrConflict, "these set bounds, which are given")
	}
	h.bounds.spread(&faults, len(h.cluster.Kinds))
	if len(faults) == 0 {
		errors.As(h.bounds.Validate(h.cluster.Kinds), &faults)
	}
	return faults.Err()
}

// spread writes single numbers out for every kind. A kind whose U is 0 is one that nobody demands.
func (b *oasisBounds) spread(faults *apportion.Faults, kinds int) {
	for _, side := range []struct {
		name         string
		upper, lower *[]float64
	}{{"worker", &b.UWorker, &b.LWorker}, {"ps", &b.UPS, &b.LPS}} {
		for _, end := range []struct {
			name string
			list *[]float64
		}{{"bounds.U_", side.upper}, {"bounds.L_", side.lower}} {
			if b.single[end.name+side.name] {
				*end.list = slices.Repeat(*end.list, kinds)
			}
			if len(*end.list) != kinds {
				faults.Add(apportion.Item{}, end.name+side.name, apportion.ErrLength, strconv.Itoa(len(*end.list))+" numbers for "+strconv.Itoa(kinds)+" kinds")
				return
			}
		}
		for r, upper := range *side.upper {
			if upper == 0 && b.single["bounds.L_"+side.name] {
				(*side.lower)[r] = 0
			}
		}
	}
}

// oasisVerbs are the keys that make a line something else than a job.
var oasisVerbs = []string{"advance", "cancel", "complete", "fail", "repair"}

// readOASiSEvent reads a line behind the first.
func readOASiSEvent(l *lines, kinds apportion.Kinds) (*oasisEvent, error) {
	e := &oasisEvent{line: l.number, digest: sha256.Sum256(l.text)}
	r := newReader(bytes.NewReader(l.text))
	for _, key := range l.keys() {
		if slices.Contains(oasisVerbs, key) {
			e.verb = key
		}
	}
	slot := field{"slot", true, func(path string) { e.slot = int(r.atLeast(path, 1, 1)) }}
	object := field{e.verb, true, func(path string) { e.id = r.id(path) }}
	switch e.verb {
	case "":
		e.job = r.job()
		return e, r.finish(kinds, func() error { return e.job.Validate(kinds) })
	case "advance":
		slot.name = "advance"
		r.object("", []field{slot})
	case "cancel":
		r.object("", []field{object})
	default:
		r.object("", []field{object, slot})
	}
	return e, r.finish(kinds, func() error { return nil })
}

// job reads a job.
func (r *reader) job() primaldual.Job {
	job := primaldual.Job{Utility: primaldual.Constant(0)}
	count := func(dst *int64) func(string) {
		return func(path string) { *dst = r.integer(path, 1) }
	}
	r.object("", []field{
		{"id", true, func(path string) { job.ID = r.str(path) }},
		{"arrival", true, func(path string) { job.Arrival = int(r.integer(path, 1)) }},
		{"epochs", true, count(&job.Epochs)},
		{"chunks", true, count(&job.Chunks)},
		{"minibatches", true, count(&job.Minibatches)},
		{"minibatch_slots", true, func(path string) { job.MinibatchSlots = r.number(path, 1) }},
		{"comm_slots", true, func(path string) { job.CommSlots = r.number(path, 0) }},
		{"worker_bandwidth", true, count(&job.WorkerBandwidth)},
		{"ps_bandwidth", true, count(&job.PSBandwidth)},
		{"worker", true, func(path string) { job.Worker = r.resources(path) }},
		{"ps", true, func(path string) { job.PS = r.resources(path) }},
		{"utility", true, func(path string) { job.Utility = r.utility(path) }},
	})
	r.named(0, check.Item("job", job.ID, 0))
	return job
}

// utility reads an object with one of the forms of a utility.
func (r *reader) utility(path string) primaldual.Utility {
	var forms []primaldual.Utility
	before := len(r.faults)
	add := func(u primaldual.Utility) { forms = append(forms, u) }
	r.object(path, []field{
		{"sigmoid", false, func(path string) {
			g := r.fixed(path, 3)
			add(primaldual.Sigmoid{Gamma1: g[0], Gamma2: g[1], Gamma3: g[2]})
		}},
		{"constant", false, func(path string) { add(primaldual.Constant(r.number(path, 0))) }},
		{"linear", false, func(path string) {
			g := r.fixed(path, 2)
			add(primaldual.Linear{Start: g[0], PerSlot: g[1]})
		}},
		{"steps", false, func(path string) { add(r.steps(path)) }},
	})
	switch {
	case len(forms) == 1:
		return forms[0]
	case r.err != nil || len(r.faults) > before:
	case len(forms) == 0:
		r.faults.Add(apportion.Item{}, path, errMissing, "one of sigmoid, constant, linear, steps")
	default:
		r.faults.Add(apportion.Item{}, path, apportion.ErrConflict, "more than one form")
	}
	return primaldual.Constant(0)
}

// fixed reads a list of n numbers, and returns as many in any case.
func (r *reader) fixed(path string, n int) []float64 {
	before := len(r.faults)
	list := r.numbers(path)
	if len(list) != n && r.err == nil && len(r.faults) == before {
		r.faults.Add(apportion.Item{}, path, apportion.ErrLength, strconv.Itoa(len(list))+" numbers, not "+strconv.Itoa(n))
	}
	return append(list, make([]float64, n)...)[:n]
}

// steps reads deadlines, each with what the job is worth if it ends by then.
func (r *reader) steps(path string) primaldual.Steps {
	steps := primaldual.Steps{}
	last := -1.0
	r.array(path, func(path string, _ int) {
		before := len(r.faults)
		pair := r.fixed(path, 2)
		switch within := pair[0]; {
		case len(r.faults) > before || r.err != nil:
		case within != math.Trunc(within) || within < 0 || within > math.MaxInt32:
			r.faults.Add(apportion.Item{}, path, apportion.ErrRange, "a duration is a whole number of slots, 0 or more")
		case within <= last:
			r.faults.Add(apportion.Item{}, path, apportion.ErrRange, "durations must ascend")
		default:
			last = within
		}
		steps = append(steps, primaldual.Step{Within: int(pair[0]), Value: pair[1]})
	})
	return steps
}
