// This file tells numbers of a controller to monitors, in the text format of Prometheus and by its conventions.

package controller

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// family is what is told of one metric.
type family struct{ name, kind, help string }

// families are all metrics, in the order in which they are told. METRICS.md says the same for people.
var families = []family{
	{"apportion_jobs", "gauge", "Jobs by phase of the checkpoint protocol."},
	{"apportion_jobs_rejected", "gauge", "Jobs that cannot be understood."},
	{"apportion_jobs_waiting", "gauge", "Jobs without containers by the newest decision, by queue and by what keeps them waiting."},
	{"apportion_job_wait_seconds", "histogram", "How long jobs waited until a run of theirs was begun, by queue."},
	{"apportion_job_pause_seconds", "histogram", "How long jobs that were stopped did not run, until they ran again."},
	{"apportion_starts_total", "counter", "Runs of jobs that were begun."},
	{"apportion_restarts_total", "counter", "Runs of jobs that had run before, by what has begun them."},
	{"apportion_lost_steps_total", "counter", "Training steps that were told and are done again, by what has begun the run that does them."},
	{"apportion_containers", "gauge", "Containers of elastic jobs."},
	{"apportion_servers", "gauge", "Servers by state, each in the first that holds: down, silent, draining, cordoned, up."},
	{"apportion_work_waiting", "gauge", "Work of others for which room is made."},
	{"apportion_queue_used", "gauge", "What a queue has by the newest decision, by resource, in the resource's unit."},
	{"apportion_queue_guaranteed", "gauge", "What is guaranteed to a queue, by resource, in the resource's unit."},
	{"apportion_queue_share_ratio", "gauge", "Dominant shares of the jobs of a queue together, 1 being the whole cluster."},
	{"apportion_queue_fair_share_ratio", "gauge", "What the jobs of a queue deserve together by dominant resource fairness."},
	{"apportion_reservations", "gauge", "Jobs that are due, for which room is kept."},
	{"apportion_decisions_total", "counter", "Decisions by outcome: decided, kept or failed."},
	{"apportion_decision_seconds", "histogram", "How long decisions took."},
	{"apportion_decision_gap_ratio", "histogram", "How far decisions were from their bounds at most, as a part of the bound."},
	{"apportion_objective", "gauge", "Objective of the newest decision."},
	{"apportion_objective_bound", "gauge", "Upper bound on the objective of the newest decision."},
	{"apportion_last_decision_timestamp_seconds", "gauge", "When the newest decision was begun, in Unix time."},
	{"apportion_looks_total", "counter", "Looks at the cluster, by result: seen or failed."},
	{"apportion_last_look_timestamp_seconds", "gauge", "When the cluster was seen last, in Unix time."},
}

// The upper ends of buckets: of times from a thousandth of a second to a day, and of gaps.
var (
	quick = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}
	slow  = []float64{1, 10, 60, 300, 1800, 7200, 21600, 86400}
	gaps  = []float64{0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1}
)

// histogram counts values by bucket.
type histogram struct {
	ends   []float64
	counts []int64 // one more than ends: the last has what is above all
	sum    float64
}

func (h *histogram) observe(value float64) {
	if h.counts == nil {
		h.counts = make([]int64, len(h.ends)+1)
	}
	at, _ := slices.BinarySearch(h.ends, value) // the first end that is not below
	h.counts[at]++
	h.sum += value
}

// meters count what has happened since the controller began. They are safe for concurrent use.
type meters struct {
	mu            sync.Mutex
	decisions     map[string]int64
	took, gap     histogram
	looks, missed int64
}

func newMeters() *meters {
	return &meters{decisions: map[string]int64{"decided": 0, "kept": 0, "failed": 0}, took: histogram{ends: quick}, gap: histogram{ends: gaps}}
}

// decided counts a decision. One that was taken and could not be carried out has failed.
func (m *meters) decided(t *Taken) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took.observe(t.Took.Seconds())
	switch {
	case t.Fault != "" || t.Decision == nil:
		m.decisions["failed"]++
	case t.Decision.Status == alloc.Kept:
		m.decisions["kept"]++
	default:
		m.decisions["decided"]++
		if !math.IsInf(t.Decision.Gap, 0) {
			m.gap.observe(t.Decision.Gap)
		}
	}
}

func (m *meters) looked(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looks++; err != nil {
		m.missed++
	}
}

// exposition gathers samples by metric.
type exposition map[string]*bytes.Buffer

// add adds a sample; labels are names and values in turn. Suffix is that of a part of a histogram.
func (e exposition) add(name, suffix string, value float64, labels ...string) {
	text := e[name]
	if text == nil {
		text = &bytes.Buffer{}
		e[name] = text
	}
	text.WriteString(name + suffix)
	for i := 0; i < len(labels); i += 2 {
		fmt.Fprintf(text, `%c%s="%s"`, "{,"[min(i, 1)], labels[i], escape.Replace(strings.ToValidUTF8(labels[i+1], "?")))
	}
	if len(labels) > 0 {
		text.WriteByte('}')
	}
	text.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// escape writes a value of a label as the format has it, which knows these three escapes alone.
var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (e exposition) histogram(name string, h *histogram, labels ...string) {
	all := int64(0)
	for i, end := range h.ends {
		if h.counts != nil {
			all += h.counts[i]
		}
		e.add(name, "_bucket", float64(all), append(slices.Clip(labels), "le", strconv.FormatFloat(end, 'g', -1, 64))...)
	}
	if h.counts != nil {
		all += h.counts[len(h.ends)]
	}
	e.add(name, "_bucket", float64(all), append(slices.Clip(labels), "le", "+Inf")...)
	e.add(name, "_sum", h.sum, labels...)
	e.add(name, "_count", float64(all), labels...)
}

// counts adds a sample for each value of a label, in the order of values.
func counts[N int | int64](e exposition, name, label string, values map[string]N) {
	for _, value := range slices.Sorted(maps.Keys(values)) {
		e.add(name, "", float64(values[value]), label, value)
	}
}

// metrics answers with all metrics. What is counted is counted since this controller began.
func (c *Controller) metrics(w http.ResponseWriter, _ *http.Request) {
	r, last, e := c.Report(), c.Last(), exposition{}
	phases, containers := map[string]int{}, 0
	for i := range r.Jobs {
		phases[string(r.Jobs[i].Job.Phase)]++
		containers += len(r.Jobs[i].Job.Containers)
	}
	states := map[string]int{"down": 0, "silent": 0, "draining": 0, "cordoned": 0, "up": 0}
	for i := range r.Servers {
		states[r.stateWord(&r.Servers[i])]++
	}
	counts(e, "apportion_jobs", "phase", phases)
	counts(e, "apportion_servers", "state", states)
	e.add("apportion_jobs_rejected", "", float64(len(r.Rejected)))
	e.add("apportion_containers", "", float64(containers))
	e.add("apportion_work_waiting", "", float64(len(r.Waiting)))
	c.starts.tell(e)
	c.meters.tell(e)
	c.mu.Lock()
	seen := c.seenAt
	c.mu.Unlock()
	if !seen.IsZero() {
		e.add("apportion_last_look_timestamp_seconds", "", clockOf(seen))
	}
	last.tell(e)
	var text bytes.Buffer
	for _, f := range families {
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		if samples := e[f.name]; samples != nil {
			text.Write(samples.Bytes())
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = text.WriteTo(w) // the monitor is gone
}

func (r *Report) stateWord(s *Server) string {
	switch {
	case s.Down != "":
		return "down"
	case slices.Contains(r.Silent, s.ID):
		return "silent"
	case s.Draining:
		return "draining"
	case s.Cordoned:
		return "cordoned"
	}
	return "up"
}

func (m *meters) tell(e exposition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts(e, "apportion_decisions_total", "outcome", m.decisions)
	e.histogram("apportion_decision_seconds", &m.took)
	e.histogram("apportion_decision_gap_ratio", &m.gap)
	e.add("apportion_looks_total", "", float64(m.looks-m.missed), "result", "seen")
	e.add("apportion_looks_total", "", float64(m.missed), "result", "failed")
}

// words are what reasons are called in labels: a bounded set, whatever texts say.
var words = map[solver.Constraint]string{solver.Capacity: "capacity", solver.Minimum: "minimum", solver.Fairness: "fairness", solver.Adjust: "adjustment",
	solver.Ceiling: "ceiling", solver.Options: "options", alloc.Maximum: "maximum"}

func (t *Taken) tell(e exposition) {
	if !t.At.IsZero() {
		e.add("apportion_last_decision_timestamp_seconds", "", clockOf(t.At))
	}
	d, p := t.Decision, t.Problem
	if d == nil || p == nil {
		return
	}
	e.add("apportion_objective", "", d.Objective)
	if !math.IsInf(d.Bound, 0) {
		e.add("apportion_objective_bound", "", d.Bound)
	}
	e.add("apportion_reservations", "", float64(len(d.Reservations)))
	queueOf := map[string]string{}
	for i := range p.Applications {
		queueOf[p.Applications[i].ID] = p.Applications[i].Queue
	}
	type line struct{ queue, reason string }
	waiting := map[line]int{}
	for _, w := range slices.Concat(d.Waiting, d.Suspended) {
		reason, known := words[w.Reason.Constraint]
		if !known {
			reason = "other"
		}
		waiting[line{queueOf[w.ID], reason}]++
	}
	for _, l := range slices.SortedFunc(maps.Keys(waiting), func(a, b line) int { return strings.Compare(a.queue+"\x00"+a.reason, b.queue+"\x00"+b.reason) }) {
		e.add("apportion_jobs_waiting", "", float64(waiting[l]), "queue", l.queue, "reason", l.reason)
	}
	has, deserves := map[string]float64{}, map[string]float64{}
	for _, share := range d.Shares {
		has[queueOf[share.ID]] += share.Actual
		deserves[queueOf[share.ID]] += share.Theoretical
	}
	for _, queue := range slices.Sorted(maps.Keys(has)) {
		e.add("apportion_queue_share_ratio", "", has[queue], "queue", queue)
		e.add("apportion_queue_fair_share_ratio", "", deserves[queue], "queue", queue)
	}
	for i := range d.Queues {
		q := &d.Queues[i]
		tellKinds(e, "apportion_queue_used", p, q.ID, q.Used)
		tellKinds(e, "apportion_queue_guaranteed", p, q.ID, q.Guarantee)
	}
}

func tellKinds(e exposition, name string, p *alloc.Problem, queue string, quantities []int64) {
	for k, quantity := range quantities {
		if k < len(p.Kinds) { // kinds that are derived from others are not told
			e.add(name, "", float64(quantity), "queue", queue, "resource", p.Kinds[k])
		}
	}
}
