// This file reads where a pod of Kubernetes may stand.

package managers

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apportion/apportion"
)

// requires returns where a pod may stand, as far as that is about nodes alone.
func (s *kubePodSpec) requires(nodes []kubeNode) ([]apportion.Requirement, error) {
	if len(s.Affinity.Pod.Required) > 0 || len(s.Affinity.AntiPod.Required) > 0 {
		return nil, errors.New("it must stand beside some pods or away from others")
	}
	if len(s.SchedulingGates) > 0 {
		return nil, errors.New("a gate holds it back")
	}
	var list []apportion.Requirement
	for _, key := range slices.Sorted(maps.Keys(s.NodeSelector)) {
		list = append(list, apportion.Requirement{Key: key, Op: apportion.In, Values: []string{s.NodeSelector[key]}})
	}
	if required := s.Affinity.Node.Required; required != nil {
		if len(required.Terms) != 1 || len(required.Terms[0].Fields) > 0 {
			return nil, errors.New("its node affinity has several terms, or is about fields")
		}
		operators := map[string]apportion.Operator{"In": apportion.In, "NotIn": apportion.NotIn, "Exists": apportion.Exists, "DoesNotExist": apportion.NotExists}
		for _, e := range required.Terms[0].Expressions {
			op, known := operators[e.Operator]
			switch {
			case !known:
				return nil, fmt.Errorf("its node affinity has the operator %s", e.Operator)
			case (op == apportion.In || op == apportion.NotIn) != (len(e.Values) > 0) || e.Key == "":
				return nil, errors.New("its node affinity lacks a key or values, or has values too many")
			}
			list = append(list, apportion.Requirement{Key: e.Key, Op: op, Values: e.Values})
		}
	}
	return append(list, s.offTaints(nodes)...), nil
}

// offTaints returns that work stands on no node with a taint that it does not tolerate.
func (s *kubePodSpec) offTaints(nodes []kubeNode) []apportion.Requirement {
	values := make(map[string][]string) // by label, those that are not tolerated
	for n := range nodes {
		for _, t := range nodes[n].Spec.Taints {
			if t.keepsOff() && !s.tolerates(&t) && !slices.Contains(values[t.label()], t.Value) {
				values[t.label()] = append(values[t.label()], t.Value)
			}
		}
	}
	var list []apportion.Requirement
	for _, key := range slices.Sorted(maps.Keys(values)) {
		slices.Sort(values[key])
		list = append(list, apportion.Requirement{Key: key, Op: apportion.NotIn, Values: values[key]})
	}
	return list
}

func (s *kubePodSpec) tolerates(t *kubeTaint) bool {
	for _, one := range s.Tolerations {
		if (one.Effect == "" || one.Effect == t.Effect) && (one.Key == t.Key || one.Key == "" && one.Operator == "Exists") &&
			(one.Operator == "Exists" || one.Value == t.Value) {
			return true
		}
	}
	return false
}
