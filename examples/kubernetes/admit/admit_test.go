// This file tests who is admitted, and that promises are kept while clusters change.

package admit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/kubernetes/admit"
	"github.com/apportion/apportion/examples/kubernetes/resize"
	"github.com/apportion/apportion/primaldual"
)

var (
	start   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	options = admit.Options{Kinds: apportion.Kinds{"nvidia.com/gpu"}, Slots: 48,
		Clock: primaldual.Clock{Start: start, Length: 10 * time.Minute}}
	kind = resize.Kinds()[0]
)

// servers returns servers with so many GPUs.
func servers(gpus ...int64) []apportion.Server {
	var list []apportion.Server
	for i, n := range gpus {
		list = append(list, apportion.Server{ID: fmt.Sprint("n", i+1), Capacity: apportion.Resources{n}})
	}
	return list
}

// item returns a Job whose pods take one GPU. annotations are pairs.
func item(t interface{ Fatal(...any) }, name string, annotations ...string) *resize.Item {
	o := &unstructured.Unstructured{}
	err := json.Unmarshal([]byte(`{"spec": {"parallelism": 1, "suspend": true, "template": {"spec": {"containers": [
		{"name": "train", "image": "train", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}}}`), &o.Object)
	if err != nil {
		t.Fatal(err)
	}
	o.SetNamespace("ml")
	o.SetName(name)
	o.SetCreationTimestamp(metav1.NewTime(start))
	all := map[string]string{}
	for i := 0; i < len(annotations); i += 2 {
		all[annotations[i]] = annotations[i+1]
	}
	o.SetAnnotations(all)
	return &resize.Item{Kind: &kind, Object: o}
}

// still says that every job runs on, over that none does.
func still(string) bool { return true }
func over(string) bool  { return false }

// at is the beginning of a slot.
func at(slot int) time.Time { return options.Clock.Begin(slot) }

func newAdmission(t testing.TB, gpus ...int64) *admit.Admission {
	t.Helper()
	a, err := admit.New(options, servers(gpus...))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func offer(t testing.TB, a *admit.Admission, i *resize.Item) admit.Verdict {
	t.Helper()
	v, err := a.Offer(i)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A job that is due runs before one that has time; one that cannot be done in time is refused, and says why.
func TestAdmit(t *testing.T) {
	a := newAdmission(t, 4)
	// 80 minutes of a pod, on at most 4 pods: two slots, whenever.
	nightly := item(t, "nightly", resize.Max, "4", admit.Work, "80m")
	urgent := item(t, "urgent", resize.Max, "4", admit.Work, "40m", admit.Deadline, "20m", admit.Worth, "9")
	late := item(t, "late", resize.Max, "2", admit.Work, "10h", admit.Deadline, "1h", admit.Worth, "9")
	if v := offer(t, a, nightly); !v.Admitted || !v.Begin.Equal(at(1)) || !v.End.Equal(at(3)) {
		t.Errorf("nightly: %+v", v)
	}
	if v := offer(t, a, urgent); !v.Admitted || v.End.After(at(3)) {
		t.Errorf("urgent must end within 20 minutes: %+v", v)
	}
	if v := offer(t, a, late); v.Admitted || v.Why == "" {
		t.Errorf("ten hours of work on two pods in one hour: %+v", v)
	}
	var pods []string
	for slot := 1; slot <= 4; slot++ {
		if err := a.Advance(at(slot), over); err != nil {
			t.Fatal(err)
		}
		pods = append(pods, fmt.Sprint(a.Pods(nightly.ID()), a.Pods(urgent.ID()), a.Pods(late.ID())))
	}
	sum := strings.Join(pods, ", ")
	if sum != "4 0 0, 0 4 0, 4 0 0, 0 0 0" && sum != "0 4 0, 4 0 0, 4 0 0, 0 0 0" {
		t.Errorf("pods of nightly, urgent and late by slot: %s", sum)
	}
}

// A job that has not ended when its time is over has more of it, while there is room; then it is told.
func TestLate(t *testing.T) {
	a := newAdmission(t, 2)
	slow := item(t, "slow", resize.Max, "2", admit.Work, "20m", admit.Deadline, "40m")
	offer(t, a, slow)
	var pods []int64
	for slot := 1; slot <= 6; slot++ {
		if err := a.Advance(at(slot), still); err != nil {
			t.Fatal(err)
		}
		pods = append(pods, a.Pods(slow.ID()))
		if v := offer(t, a, slow); slot == 3 && (!v.End.Equal(at(4)) || !strings.Contains(v.Why, "late")) {
			t.Errorf("in slot 3: %+v", v)
		}
	}
	if diff := cmp.Diff([]int64{2, 2, 2, 2, 0, 0}, pods); diff != "" {
		t.Errorf("pods by slot (-want +got):\n%s", diff)
	}
	if v := offer(t, a, slow); v.Admitted || !strings.Contains(v.Why, "has not ended") {
		t.Errorf("behind its deadline: %+v", v)
	}
}

// Nodes come, go and shrink; who loses a place is told, and who has ended gives it back.
func TestServers(t *testing.T) {
	a := newAdmission(t, 2, 2)
	first := item(t, "first", resize.Max, "4", admit.Work, "40m", admit.Deadline, "10m")
	offer(t, a, first)
	if err := a.Servers(servers(2, 2), map[string]bool{"n2": true}); err != nil {
		t.Fatal(err)
	}
	if v := offer(t, a, first); v.Admitted || !strings.Contains(v.Why, `"n2"`) || a.Pods(first.ID()) != 0 {
		t.Errorf("four pods on what is left of two servers: %+v", v)
	}
	if err := a.Forget(first.ID()); err != nil {
		t.Fatal(err)
	}
	if err := a.Servers(servers(2, 2, 4), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"second", "third"} {
		if v := offer(t, a, item(t, name, resize.Max, "4", admit.Work, "40m", admit.Deadline, "10m")); !v.Admitted {
			t.Errorf("%s, with n2 back and n3 new: %+v", name, v)
		}
	}
	if err := a.Servers(servers(2, 1, 4), nil); err != nil {
		t.Fatal(err)
	}
	if n := a.Pods("jobs/ml/second") + a.Pods("jobs/ml/third"); n != 4 {
		t.Errorf("%d pods, where one of two jobs of four is left room", n)
	}
}

// Who has ended, or is gone before it began, gives back what it had reserved. A part of a slot counts as one.
func TestForget(t *testing.T) {
	a := newAdmission(t, 2)
	running := item(t, "running", resize.Max, "2", admit.Work, "55m", admit.Deadline, "30m") // three slots of two pods
	waiting := item(t, "waiting", resize.Max, "2", admit.Work, "40m", admit.Deadline, "50m")
	if v := offer(t, a, running); !v.Admitted || !v.End.Equal(at(4)) {
		t.Errorf("55 minutes on two pods: %+v", v)
	}
	if v := offer(t, a, waiting); !v.Admitted || !v.Begin.Equal(at(4)) {
		t.Errorf("behind it: %+v", v)
	}
	full := item(t, "full", resize.Max, "2", admit.Work, "20m", admit.Deadline, "50m", admit.Worth, "0.001")
	if v := offer(t, a, full); v.Admitted {
		t.Errorf("five slots are taken: %+v", v)
	}
	for _, gone := range []*resize.Item{running, waiting} {
		if err := errors.Join(a.Forget(gone.ID()), a.Forget(full.ID())); err != nil {
			t.Fatal(err)
		}
		if v := offer(t, a, full); !v.Admitted {
			t.Errorf("with %s gone: %+v", gone.ID(), v)
		}
		if err := a.Forget(full.ID()); err != nil {
			t.Fatal(err)
		}
		again := item(t, gone.Object.GetName(), resize.Max, "2", admit.Work, "40m", admit.Deadline, "50m")
		if v := offer(t, a, again); !v.Admitted {
			t.Errorf("%s under its name again: %+v", gone.ID(), v)
		}
	}
}

func TestBadAnnotations(t *testing.T) {
	a := newAdmission(t, 4)
	for _, annotations := range [][]string{
		{},
		{resize.Max, "0", admit.Work, "1h"},
		{resize.Max, "2"},
		{resize.Max, "2", admit.Work, "-1h"},
		{resize.Max, "2", admit.Work, "1h", admit.Deadline, "soon"},
		{resize.Max, "2", admit.Work, "1h", admit.Worth, "much"},
		{resize.Max, "2", admit.Work, "1h", admit.Worth, "-1"},
		{resize.Max, "2", admit.Work, "1h", admit.Worth, "NaN"},
	} {
		if v, err := a.Offer(item(t, "a", annotations...)); err == nil {
			t.Errorf("%q: %+v", annotations, v)
		}
	}
	kueues := item(t, "a", resize.Max, "2", admit.Work, "1h")
	kueues.Object.SetLabels(map[string]string{"kueue.x-k8s.io/queue-name": "team"})
	if v, err := a.Offer(kueues); err == nil {
		t.Errorf("what is Kueue's to admit: %+v", v)
	}
	if len(a.Known()) != 0 {
		t.Errorf("known are %v", a.Known())
	}
}

// Whatever comes: pods fit in the cluster, who was promised an end and lost no node has the pods for its work by then, and a
// state that is written and read goes on alike.
func TestPropPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, err := admit.New(options, servers(4, 4))
		if err != nil {
			t.Fatal(err)
		}
		need, done := map[string]int64{}, map[string]int64{}
		for slot := 1; slot <= 12; slot++ {
			if err := a.Advance(at(slot), over); err != nil {
				t.Fatal(err)
			}
			for n := range rapid.IntRange(0, 2).Draw(t, "jobs") {
				slots := rapid.Int64Range(1, 12).Draw(t, "work")
				i := item(t, fmt.Sprint(slot, "-", n), resize.Max, fmt.Sprint(rapid.IntRange(1, 5).Draw(t, "most")),
					admit.Work, (time.Duration(slots) * 10 * time.Minute).String(),
					admit.Deadline, at(slot+rapid.IntRange(1, 8).Draw(t, "slots")).Format(time.RFC3339),
					admit.Worth, fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "worth")))
				v, err := a.Offer(i)
				if err != nil {
					t.Fatal(err)
				}
				if v.Admitted {
					need[i.ID()] = slots
				}
			}
			if rapid.Bool().Draw(t, "restart") {
				text, err := json.Marshal(a)
				if err != nil {
					t.Fatal(err)
				}
				if a, err = admit.Restore(text); err != nil {
					t.Fatal(err)
				}
			}
			used := int64(0)
			for id := range need {
				used += a.Pods(id)
				done[id] += a.Pods(id)
			}
			if used > 8 {
				t.Fatalf("slot %d: %d pods on 8 GPUs", slot, used)
			}
		}
		for slot := 13; slot <= 24; slot++ {
			if err := a.Advance(at(slot), over); err != nil {
				t.Fatal(err)
			}
			for id := range need {
				done[id] += a.Pods(id)
			}
		}
		for id, slots := range need {
			if done[id] < slots {
				t.Fatalf("%s was promised %d slots of pods and had %d", id, slots, done[id])
			}
		}
	})
}

func TestRestoreRefuses(t *testing.T) {
	a := newAdmission(t, 4)
	offer(t, a, item(t, "a", resize.Max, "2", admit.Work, "1h"))
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"", "{}", "null", string(text[:len(text)/2]),
		strings.Replace(string(text), `"jobs/ml/a":{"admitted":true`, `"jobs/ml/b":{"admitted":true`, 1)} {
		if _, err := admit.Restore([]byte(damaged)); err == nil {
			t.Errorf("%.60q is read", damaged)
		}
	}
}
