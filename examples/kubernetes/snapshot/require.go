// This file turns node selectors, node affinity and tolerations into requirements on labels.

package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller"
)

// places says which nodes suit Jobs. It adds labels to the servers of a view.
type places struct {
	servers []controller.Server
	// taints are those that repel, by their labels.
	taints map[string]*corev1.Taint
}

// newPlaces gathers the taints of nodes.
func newPlaces(nodes []*corev1.Node, servers []controller.Server) *places {
	p := &places{servers, map[string]*corev1.Taint{}}
	for _, n := range nodes {
		for i := range n.Spec.Taints {
			// Those that the servers' labels have are those that count.
			if t := &n.Spec.Taints[i]; repels(t) {
				p.taints[taintLabel(t)] = t
			}
		}
	}
	return p
}

// requirements are those of a pod.
func (p *places) requirements(id string, spec *corev1.PodSpec) ([]apportion.Requirement, error) {
	var list []apportion.Requirement
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		list = append(list, apportion.Requirement{Key: key, Op: apportion.In, Values: []string{spec.NodeSelector[key]}})
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		more, err := p.affinity(id, a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	for _, label := range slices.Sorted(maps.Keys(p.taints)) {
		if !tolerates(spec.Tolerations, p.taints[label]) {
			list = append(list, apportion.Requirement{Key: label, Op: apportion.NotExists})
		}
	}
	return list, nil
}

// tolerates reports whether a taint is tolerated for good.
func tolerates(list []corev1.Toleration, t *corev1.Taint) bool {
	return slices.ContainsFunc(list, func(one corev1.Toleration) bool {
		return one.TolerationSeconds == nil && one.ToleratesTaint(klog.Background(), t, false)
	})
}

// affinity are the requirements of terms of which one must hold. One term is said in full; more of them are looked at here,
// node by node, and become one label.
func (p *places) affinity(id string, terms []corev1.NodeSelectorTerm) ([]apportion.Requirement, error) {
	for i := range terms {
		for _, e := range slices.Concat(terms[i].MatchExpressions, terms[i].MatchFields) {
			if err := checkExpression(&e); err != nil {
				return nil, err
			}
		}
	}
	if len(terms) == 1 {
		if list, plain := plainly(&terms[0]); plain {
			return list, nil
		}
	}
	label := "node affinity of " + id
	for i := range p.servers {
		s := &p.servers[i]
		if slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool { return holds(&t, s.Labels) }) {
			s.Labels[label] = "true"
		}
	}
	return []apportion.Requirement{{Key: label, Op: apportion.Exists}}, nil
}

// operators are those that requirements have as well.
var operators = map[corev1.NodeSelectorOperator]apportion.Operator{
	corev1.NodeSelectorOpIn: apportion.In, corev1.NodeSelectorOpNotIn: apportion.NotIn,
	corev1.NodeSelectorOpExists: apportion.Exists, corev1.NodeSelectorOpDoesNotExist: apportion.NotExists,
}

// checkExpression says what of an expression cannot be decided by.
func checkExpression(e *corev1.NodeSelectorRequirement) error {
	_, known := operators[e.Operator]
	if !known && e.Operator != corev1.NodeSelectorOpGt && e.Operator != corev1.NodeSelectorOpLt {
		return fmt.Errorf("node affinity on %q: the operator %q cannot be decided by", e.Key, e.Operator)
	}
	return nil
}

// plainly turns a term into requirements, if it has neither Gt nor Lt and is not empty: an empty one holds nowhere.
func plainly(t *corev1.NodeSelectorTerm) ([]apportion.Requirement, bool) {
	var list []apportion.Requirement
	for _, e := range slices.Concat(t.MatchExpressions, t.MatchFields) {
		op, known := operators[e.Operator]
		if !known {
			return nil, false
		}
		list = append(list, apportion.Requirement{Key: e.Key, Op: op, Values: e.Values})
	}
	return list, len(list) > 0
}

// holds reports whether a term holds for labels.
func holds(t *corev1.NodeSelectorTerm, labels map[string]string) bool {
	all := slices.Concat(t.MatchExpressions, t.MatchFields)
	for i := range all {
		e := &all[i]
		if op, known := operators[e.Operator]; known {
			r := apportion.Requirement{Key: e.Key, Op: op, Values: e.Values}
			if !r.Holds(labels) {
				return false
			}
			continue
		}
		have, err := strconv.ParseInt(labels[e.Key], 10, 64)
		if err != nil || len(e.Values) != 1 {
			return false
		}
		than, err := strconv.ParseInt(e.Values[0], 10, 64)
		if err != nil || e.Operator == corev1.NodeSelectorOpGt && have <= than || e.Operator == corev1.NodeSelectorOpLt && have >= than {
			return false
		}
	}
	return len(all) > 0
}
