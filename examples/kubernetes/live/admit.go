// This file implements Admit: the loop that says which jobs run, and when.

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/kubernetes/admit"
	"github.com/apportion/apportion/examples/kubernetes/resize"
)

// stateKey is where a ConfigMap holds the state of an admission.
const stateKey = "state"

// Admit admits the objects that say how much work they have, in the order of their creation, and gives them their pods slot by
// slot, until the context ends. The state is kept in a ConfigMap, which is written before anything is done: of two that
// admit at once only one can write.
func Admit(ctx context.Context, c Config, options admit.Options, namespace, name string) error {
	cluster, err := Watch(ctx, c.Clients, c.Objects)
	if err != nil {
		return err
	}
	a := &admitter{Config: c, cluster: cluster, options: options, namespace: namespace, name: name, told: told{}}
	return c.loop(ctx, cluster, a.decide)
}

// admitter holds the state between decisions.
type admitter struct {
	Config
	cluster         *Cluster
	options         admit.Options
	namespace, name string
	admission       *admit.Admission
	kept            *corev1.ConfigMap // as it was last read or written
	told            told
}

// decide brings the admission up to date, keeps it, and sets the pods of the current slot.
func (a *admitter) decide(ctx context.Context) error {
	now := time.Now()
	o := a.cluster.Objects(now)
	items, err := a.cluster.Items()
	if err != nil {
		return err
	}
	// What the others use is not for jobs that are admitted, and who is admitted is no other.
	items = slices.DeleteFunc(items, func(i resize.Item) bool { return i.Object.GetAnnotations()[admit.Work] == "" })
	slices.SortFunc(items, func(x, y resize.Item) int {
		s, t := x.Object.GetCreationTimestamp(), y.Object.GetCreationTimestamp()
		return s.Compare(t.Time)
	})
	servers := resize.Read(a.Kinds, o, items).Problem.Servers
	if err := a.load(ctx, servers); err != nil {
		return err
	}
	if err := a.update(now, servers, items); err != nil {
		a.admission, a.kept = nil, nil // it may be half changed: what is kept is whole
		return err
	}
	if err := a.keep(ctx); err != nil {
		a.admission, a.kept = nil, nil
		return err
	}
	var errs []error
	for i := range items {
		if items[i].IsOver() {
			continue
		}
		verdict, err := a.admission.Offer(&items[i])
		if err != nil {
			continue // it was told
		}
		change, err := items[i].Change(a.admission.Pods(items[i].ID()), nil)
		if change != nil && err == nil {
			err = a.carry(ctx, change, verdict.Why)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// update tells the admission what has happened: time, servers, ends, arrivals.
func (a *admitter) update(now time.Time, servers []apportion.Server, items []resize.Item) error {
	there, over := map[string]bool{}, map[string]bool{}
	for i := range items {
		there[items[i].ID()], over[items[i].ID()] = true, items[i].IsOver()
	}
	for _, id := range a.admission.Known() {
		if !there[id] || over[id] {
			if err := a.admission.Forget(id); err != nil {
				return err
			}
		}
	}
	if err := a.admission.Advance(now, func(id string) bool { return there[id] && !over[id] }); err != nil {
		return err
	}
	down := map[string]bool{}
	for i := range servers {
		down[servers[i].ID] = servers[i].Cordoned
	}
	if err := a.admission.Servers(servers, down); err != nil {
		return err
	}
	for i := range items {
		if item := &items[i]; !over[item.ID()] {
			verdict, err := a.admission.Offer(item)
			a.answer(item, verdict, err)
		}
	}
	return nil
}

// answer tells a job what became of it.
func (a *admitter) answer(item *resize.Item, v admit.Verdict, err error) {
	switch {
	case err != nil:
		a.told.tell(&a.Config, item, corev1.EventTypeWarning, "NotUnderstood", err.Error())
	case v.Admitted:
		a.told.tell(&a.Config, item, corev1.EventTypeNormal, "Admitted", fmt.Sprintf("it runs between %s and %s: %s",
			v.Begin.UTC().Format(time.RFC3339), v.End.UTC().Format(time.RFC3339), v.Why))
	default:
		a.told.tell(&a.Config, item, corev1.EventTypeWarning, "Refused", v.Why)
	}
}

// load reads the state, once, or begins one.
func (a *admitter) load(ctx context.Context, servers []apportion.Server) error {
	if a.admission != nil {
		return nil
	}
	maps := a.Clients.CoreV1().ConfigMaps(a.namespace)
	kept, err := maps.Get(ctx, a.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if a.admission, err = admit.New(a.options, servers); err != nil {
			return err
		}
		a.kept = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.name}}
		return nil
	}
	if err != nil {
		return err
	}
	if a.admission, err = admit.Restore(kept.BinaryData[stateKey]); err != nil {
		return fmt.Errorf("the state in ConfigMap %s/%s: %w", a.namespace, a.name, err)
	}
	a.kept = kept
	return nil
}

// keep writes the state. The version that was read is part of the request, so that only one writer goes on.
func (a *admitter) keep(ctx context.Context) error {
	text, err := json.Marshal(a.admission)
	if err != nil || a.Dry || string(text) == string(a.kept.BinaryData[stateKey]) {
		return err
	}
	next := a.kept.DeepCopy()
	next.BinaryData = map[string][]byte{stateKey: text}
	maps := a.Clients.CoreV1().ConfigMaps(a.namespace)
	if next.ResourceVersion == "" {
		next, err = maps.Create(ctx, next, metav1.CreateOptions{})
	} else {
		next, err = maps.Update(ctx, next, metav1.UpdateOptions{})
	}
	if err == nil {
		a.kept = next
	}
	return err
}
