// This file tests both sides of a Lease on an API server in memory: what is written, what is refused and what is made again.

package lease

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/internal/must"
)

// claimAt is a claim of attempt 5 of a job by the guard of a life, at a time of its clock.
func claimAt(life string, at time.Duration) guard.Claim {
	return guard.Claim{ID: guard.ID{Job: "lr", Attempt: 5, Server: "s1"}, Epoch: 3, Life: life, Clock: agent.Stamp{Boot: "b", At: at}}
}

// world is an API server in memory, with the desk of a master that has admitted attempt 5.
type world struct {
	*fake.Clientset
	desk *guard.Desk
}

func newWorld() *world {
	w := &world{Clientset: fake.NewSimpleClientset(), desk: guard.NewDesk(3, time.Minute, time.Second, nil)}
	w.desk.Admit("lr", 5)
	return w
}

// authority is the one of a guard.
func (w *world) authority() *Authority { return &Authority{Leases: w.CoordinationV1().Leases("ml")} }

// answers has the desk answer Leases until the test ends, and returns the faults that it reports.
func (w *world) answers(t *testing.T) <-chan error {
	t.Helper()
	faults := make(chan error, 100)
	ctx, end := context.WithCancel(context.Background())
	wait := must.Have(Answer(ctx, w, "ml", w.desk, func(err error) {
		select {
		case faults <- err:
		default:
		}
	}))(t)
	t.Cleanup(func() { end(); wait() })
	return faults
}

// granted claims until the desk has answered a claim, at most as old as since, with something that is right.
func granted(t *testing.T, a guard.Authority, life string, is func(guard.Grant) bool) guard.Grant {
	t.Helper()
	var g guard.Grant
	var err error
	at := time.Second
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		at += time.Second
		if g, err = a.Renew(t.Context(), claimAt(life, at)); err == nil && is(g) {
			return g
		}
	}
	t.Fatalf("never: %+v, %v", g, err)
	return g
}

// get reads the Lease of the tests' run.
func (w *world) get(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	l := must.Have(w.CoordinationV1().Leases("ml").Get(t.Context(), Name(claimAt("", 0).ID), metav1.GetOptions{}))(t)
	return l
}

// A claim is granted from the clock that it had, and the Lease tells people who holds it and for how long.
func TestGranted(t *testing.T) {
	w := newWorld()
	a := w.authority()
	a.Owner = &metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}
	if g, err := a.Renew(t.Context(), claimAt("a", time.Second)); !errors.Is(err, errNoAnswer) {
		t.Fatalf("nobody has answered: %+v, %v", g, err)
	}
	w.answers(t)
	g := granted(t, a, "a", func(g guard.Grant) bool { return g.Heard.At >= 3*time.Second })
	if g.Length != time.Minute || g.Heard.Boot != "b" || g.Fenced != "" {
		t.Errorf("%+v", g)
	}
	l := w.get(t)
	if *l.Spec.HolderIdentity != "s1_a" || *l.Spec.LeaseDurationSeconds != 60 || time.Since(l.Spec.RenewTime.Time) > time.Minute ||
		len(l.OwnerReferences) != 1 || l.OwnerReferences[0].UID != "u" || l.Labels[Label] != "true" {
		t.Errorf("%+v", l)
	}
	number := w.desk.AskSave(claimAt("", 0).ID)
	granted(t, a, "a", func(g guard.Grant) bool { return g.Save == number })
	w.desk.Fence("lr", 5)
	granted(t, a, "a", func(g guard.Grant) bool { return strings.Contains(g.Fenced, "attempt 5 is over") })
}

// A second guard of a run is fenced off whether there is a desk or not, and the first is not.
func TestSecondGuard(t *testing.T) {
	w := newWorld()
	first, second := w.authority(), w.authority()
	_, _ = first.Renew(t.Context(), claimAt("a", time.Second)) // which nobody answers
	g, err := second.Renew(t.Context(), claimAt("b", time.Second))
	if err != nil || !strings.Contains(g.Fenced, "s1_a") {
		t.Errorf("%+v, %v", g, err)
	}
	w.answers(t)
	granted(t, first, "a", func(g guard.Grant) bool { return g.Length > 0 })
}

// A Lease that was there and is gone ends its run; one that was never there is made, and one whose creation nobody has answered is found.
func TestDeleted(t *testing.T) {
	w := newWorld()
	a := w.authority()
	lost := true
	w.PrependReactor("create", "leases", func(action ktesting.Action) (bool, runtime.Object, error) {
		if !lost {
			return false, nil, nil
		}
		lost = false
		if err := w.Tracker().Create(action.GetResource(), action.(ktesting.CreateAction).GetObject(), "ml"); err != nil {
			t.Error(err)
		}
		return true, nil, errors.New("nobody hears the answer")
	})
	if _, err := a.Renew(t.Context(), claimAt("a", time.Second)); err == nil || errors.Is(err, errNoAnswer) {
		t.Fatalf("%v", err)
	}
	must.Fail(a.Renew(t.Context(), claimAt("a", 2*time.Second)))(t, errNoAnswer, "its own Lease")
	must.Do(t, w.CoordinationV1().Leases("ml").Delete(t.Context(), w.get(t).Name, metav1.DeleteOptions{}))
	if g, err := a.Renew(t.Context(), claimAt("a", 3*time.Second)); err != nil || !strings.Contains(g.Fenced, "deleted") {
		t.Errorf("%+v, %v", g, err)
	}
}

// A conflict is no fault: the claim is made against what is there then, a few times. A Lease that is deleted between the read and the
// write is deleted.
func TestConflicts(t *testing.T) {
	w := newWorld()
	a := w.authority()
	_, _ = a.Renew(t.Context(), claimAt("a", time.Second)) // which nobody answers
	var fault error
	left := 0
	w.PrependReactor("update", "leases", func(ktesting.Action) (bool, runtime.Object, error) {
		left--
		return left >= 0, nil, fault
	})
	resource := schema.GroupResource{Resource: "leases"}
	fault, left = apierrors.NewConflict(resource, "l", nil), tries-1
	must.Fail(a.Renew(t.Context(), claimAt("a", 2*time.Second)))(t, errNoAnswer, tries-1, "conflicts")
	if c := w.get(t).Annotations[claimKey]; !strings.Contains(c, `2000000000`) {
		t.Errorf("the claim is %s", c)
	}
	left = tries
	if _, err := a.Renew(t.Context(), claimAt("a", 3*time.Second)); err == nil || errors.Is(err, errNoAnswer) {
		t.Errorf("%d conflicts: %v", tries, err)
	}
	fault, left = errors.New("away"), 1
	if _, err := a.Renew(t.Context(), claimAt("a", 4*time.Second)); err == nil || left != 0 {
		t.Errorf("%v, asked again", err)
	}
}

// An answer to another guard, and one that cannot be read, grant nothing.
func TestStrangeAnswers(t *testing.T) {
	w := newWorld()
	a := w.authority()
	c := claimAt("a", time.Second)
	_, _ = a.Renew(t.Context(), c) // which nobody answers
	for _, answer := range []string{`{"life":"b","grant":{"heard":{"boot":"b","at":1},"length":1000}}`, `{`, ``, `null`, `{"life":7}`} {
		l := w.get(t)
		l.Annotations[grantKey] = answer
		must.Have(w.CoordinationV1().Leases("ml").Update(t.Context(), l, metav1.UpdateOptions{}))(t)
		if g, err := a.Renew(t.Context(), c); !errors.Is(err, errNoAnswer) {
			t.Errorf("%q: %+v, %v", answer, g, err)
		}
	}
}

// The desk answers each claim once, no claim of another run, and none that it does not know; what cannot be written is tried again.
func TestAnswersOnce(t *testing.T) {
	w := newWorld()
	faults := w.answers(t)
	stranger, other, unknown := claimAt("a", time.Second), claimAt("c", time.Second), claimAt("d", time.Second)
	other.Job, unknown.Job = "other", "unknown"
	w.desk.Admit("other", 5)
	put := func(name string, c *guard.Claim) {
		l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{Label: "true"}}}
		must.Do(t, claim(l, c))
		must.Have(w.CoordinationV1().Leases("ml").Create(t.Context(), l, metav1.CreateOptions{}))(t)
	}
	broken := true
	w.PrependReactor("update", "leases", func(action ktesting.Action) (bool, runtime.Object, error) {
		if l := action.(ktesting.UpdateAction).GetObject().(*coordinationv1.Lease); l.Name == Name(other.ID) && broken {
			broken = false
			return true, nil, errors.New("away")
		}
		return false, nil, nil
	})
	put("not-its-name", &stranger)
	put(Name(unknown.ID), &unknown)
	put(Name(other.ID), &other)
	if err := <-faults; !strings.Contains(err.Error(), "away") {
		t.Error(err)
	}
	answer := func(name string) string {
		l := must.Have(w.CoordinationV1().Leases("ml").Get(t.Context(), name, metav1.GetOptions{}))(t)
		return l.Annotations[grantKey]
	}
	for end := time.Now().Add(time.Minute); answer(Name(other.ID)) == ""; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it was never answered")
		}
	}
	if answer("not-its-name") != "" || answer(Name(unknown.ID)) != "" {
		t.Error("a claim that is none was answered")
	}
	// The same claim comes again with any change of the Lease, and grants nothing anew.
	seen, _ := w.desk.Seen(other.ID)
	l := must.Have(w.CoordinationV1().Leases("ml").Get(t.Context(), Name(other.ID), metav1.GetOptions{}))(t)
	l.Annotations["by"] = "somebody"
	must.Have(w.CoordinationV1().Leases("ml").Update(t.Context(), l, metav1.UpdateOptions{}))(t)
	// One that comes later is answered later.
	later := claimAt("e", time.Second)
	later.Job = "later"
	w.desk.Admit("later", 5)
	put(Name(later.ID), &later)
	for end := time.Now().Add(time.Minute); answer(Name(later.ID)) == ""; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the later one was never answered")
		}
	}
	if again, _ := w.desk.Seen(other.ID); again.Granted != seen.Granted {
		t.Error("the same claim was granted twice")
	}
}

// A desk that comes after another answers claims that were answered by that, so that it knows of all runs; a replaced one says nothing.
func TestNextDesk(t *testing.T) {
	w := newWorld()
	a := w.authority()
	ctx, end := context.WithCancel(context.Background())
	wait := must.Have(Answer(ctx, w, "ml", w.desk, nil))(t)
	granted(t, a, "a", func(g guard.Grant) bool { return g.Length > 0 })
	end()
	wait()
	w.desk = guard.NewDesk(4, time.Minute, time.Second, nil)
	w.desk.Admit("lr", 5)
	w.answers(t)
	for limit := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, known := w.desk.Seen(claimAt("", 0).ID); known {
			break
		}
		if time.Now().After(limit) {
			t.Fatal("the next desk does not know of the run")
		}
	}
	w.desk.RequireLead(func() error { return checkpoint.ErrFenced })
	before := granted(t, a, "a", func(guard.Grant) bool { return true })
	time.Sleep(50 * time.Millisecond)
	c := claimAt("a", time.Hour)
	for range 3 {
		if g, err := a.Renew(t.Context(), c); err == nil && g.Heard.At > before.Heard.At+time.Minute {
			t.Fatalf("a replaced desk has answered: %+v", g)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A desk that cannot read the Leases says so when it is to end.
func TestAnswerWithoutLeases(t *testing.T) {
	w := newWorld()
	w.PrependReactor("list", "leases", func(ktesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("away") })
	ctx, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer end()
	must.Fail(Answer(ctx, w, "ml", w.desk, nil))(t, context.DeadlineExceeded)
}

// Names are names of Kubernetes whatever jobs and servers are called, begin with the job's, and differ.
func TestName(t *testing.T) {
	right := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	names := map[string]guard.ID{}
	for _, job := range []string{"lr", "LR", "ml/lr", "[", "../..", "größe", strings.Repeat("long-", 30), "-", "a.b"} {
		for _, server := range []string{"s1", "s-1", ""} {
			for _, rank := range []int{0, 1} {
				id := guard.ID{Job: job, Attempt: 12, Server: server, Rank: rank}
				name := Name(id)
				if !right.MatchString(name) || len(name) > 253 {
					t.Errorf("%+v: %q", id, name)
				}
				if other, taken := names[name]; taken {
					t.Errorf("%+v and %+v are both %s", id, other, name)
				}
				names[name] = id
			}
		}
	}
	if name := Name(guard.ID{Job: "ML/Lr", Attempt: 3, Server: "s", Rank: 2}); !strings.HasPrefix(name, "ml-lr-3-2-") {
		t.Error(name)
	}
}

// The pod is named whole or not at all.
func TestOwner(t *testing.T) {
	for _, c := range []struct {
		name, uid string
		owned     bool
		fault     bool
	}{{"", "", false, false}, {"p", "u", true, false}, {"p", "", false, true}, {"", "u", false, true}} {
		o, err := ownerOf(func(v string) string { return map[string]string{EnvPod: c.name, EnvPodUID: c.uid}[v] })
		if (o != nil) != c.owned || (err != nil) != c.fault || o != nil && (o.Name != "p" || o.UID != "u" || o.Kind != "Pod" || o.APIVersion != "v1") {
			t.Errorf("%+v: %+v, %v", c, o, err)
		}
	}
}
