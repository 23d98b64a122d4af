// This file pairs decisions with problems that they do not belong to, and damages them on their way through JSON.

package alloc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/internal/rapidtest"
)

// examine asks everything about d as an answer to p that may be asked, and returns whether it is one. Nothing may panic.
func examine(t *rapid.T, p *alloc.Problem, d *alloc.Decision) bool {
	_, explains := alloc.Explain(p, d)
	_, verifies := alloc.Verify(p, d)
	// Explain believes nothing that Verify would refuse; Verify alone asks about the bound.
	if explains != nil && verifies == nil {
		t.Fatalf("explained with %v, and verified", explains)
	}
	for _, err := range [...]error{explains, verifies} {
		if err != nil && !errors.Is(err, alloc.ErrMismatch) {
			t.Fatalf("the problem is valid, and the error is no mismatch: %v", err)
		}
	}
	alloc.NewPlan(p, d.Allocation, d.Shares...)
	_, _ = alloc.Measure(p, d.Allocation, d.Shares...)
	_, _ = alloc.NewRecord(p, d).Verify()
	return verifies == nil
}

// quick takes a decision with little effort.
func quick(t *rapid.T, p *alloc.Problem) *alloc.Decision {
	d, err := recorded(t, context.Background(), p, embedded.New(&embedded.Options{Effort: 1}))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The decision of another problem is refused or happens to be an answer as well; it is never a panic.
func TestPropDecisionOfAnother(t *testing.T) {
	refused := 0
	rapidtest.Until(t, "every decision was an answer to every problem", func() bool { return refused > 0 }, func(t *rapid.T) {
		p, other := genProblem(t), genProblem(t)
		d := quick(t, p)
		if !examine(t, p, d) {
			t.Fatal("it is no answer to its own problem")
		}
		if !examine(t, other, d) {
			refused++
		}
	})
}

// paths lists the ways to every value of a document.
func paths(value any, at []any) [][]any {
	all := [][]any{slices.Clone(at)}
	switch v := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			all = append(all, paths(v[key], append(at, key))...)
		}
	case []any:
		for i := range v {
			all = append(all, paths(v[i], append(at, i))...)
		}
	}
	return all
}

// replaced returns value with what is at a path replaced; a nil replacement takes it out of an object or a list.
func replaced(value any, path []any, with any) any {
	if len(path) == 0 {
		return with
	}
	switch v := value.(type) {
	case map[string]any:
		key := path[0].(string)
		if len(path) == 1 && with == nil {
			delete(v, key)
		} else {
			v[key] = replaced(v[key], path[1:], with)
		}
	case []any:
		i := path[0].(int)
		if len(path) == 1 && with == nil {
			return slices.Delete(v, i, i+1)
		}
		v[i] = replaced(v[i], path[1:], with)
	}
	return value
}

// tampered returns what a leaf of a document is changed to: the same sort of value, and another one.
func tampered(t *rapid.T, leaf any, path []any) any {
	switch v := leaf.(type) {
	case float64:
		return v + rapid.SampledFrom([]float64{-1, -.125, .25, 1}).Draw(t, "more")
	case bool:
		return !v
	case string:
		if path[len(path)-1] == "proven" {
			return rapid.SampledFrom([]string{"nothing", "utilization", "adjusted", "order"}).Filter(func(s string) bool { return s != v }).Draw(t, "rank")
		}
		return v + "x"
	}
	return nil
}

// Whatever one leaf of a decision is changed to, it is refused, or the answer says that this field was not checked; the prices
// alone may be any that prove the bound.
func TestPropTamperedLeaf(t *testing.T) {
	refused, unchecked := 0, 0
	rapidtest.Until(t, "no leaf was refused, or none left unchecked", func() bool { return refused > 0 && unchecked > 0 }, func(t *rapid.T) {
		p := genProblem(t)
		text, err := json.Marshal(quick(t, p))
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		path := rapid.SampledFrom(paths(document, nil)[1:]).Draw(t, "path")
		leaf := document
		for _, key := range path {
			switch v := leaf.(type) {
			case map[string]any:
				leaf = v[key.(string)]
			case []any:
				leaf = v[key.(int)]
			}
		}
		with := tampered(t, leaf, path)
		if with == nil || slices.Contains(path, any("multipliers")) || slices.Contains(path, any("copies")) {
			return
		}
		text, err = json.Marshal(replaced(document, path, with))
		if err != nil {
			t.Fatal(err)
		}
		d := new(alloc.Decision)
		if json.Unmarshal(text, d) != nil {
			refused++
			return
		}
		proof, err := alloc.Verify(p, d)
		if err != nil {
			refused++
			return
		}
		name := dotted(path)
		for _, field := range proof.Unchecked {
			if strings.HasPrefix(name, jsonName(field)) {
				unchecked++
				return
			}
		}
		// That a search had to help is found anew, whatever is said, and so is a bound on the loss.
		if !strings.HasSuffix(name, "certificate.searched") && !(name == "least_loss.bound" && d.LeastLoss.Bound <= proof.LeastLoss) {
			t.Fatalf("%s: %v became %v, which is not refused and not among %v", name, leaf, with, proof.Unchecked)
		}
	})
}

// jsonName writes a Go path, LeastLoss.Bound, as JSON has it, least_loss.bound.
func jsonName(field string) string { return strings.ToLower(hump.ReplaceAllString(field, "${1}_$2")) }

var hump = regexp.MustCompile(`([a-z])([A-Z])`)

// dotted writes a path as fields are written, waiting[0].reason.
func dotted(path []any) string {
	name := ""
	for _, key := range path {
		if i, at := key.(int); at {
			name += fmt.Sprintf("[%d]", i)
		} else {
			name += "." + key.(string)
		}
	}
	return strings.TrimPrefix(name, ".")
}

// A decision that was changed on its way is refused, or says the same still; whatever it says, nobody panics.
func TestPropDamagedDecision(t *testing.T) {
	refused, unread := 0, 0
	rapidtest.Until(t, "no damage was refused, or all of it was", func() bool { return refused > 0 && unread > 0 }, func(t *rapid.T) {
		p := genProblem(t)
		text, err := json.Marshal(quick(t, p))
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			path := rapid.SampledFrom(paths(document, nil)[1:]).Draw(t, "path")
			with := rapid.SampledFrom([]any{nil, -1.0, 0.0, 1.0, 3.0, 1e300, "", "s0", "a1", []any{}, map[string]any{}, true}).Draw(t, "with")
			document = replaced(document, path, with)
		}
		text, err = json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		d := new(alloc.Decision)
		if json.Unmarshal(text, d) != nil {
			unread++
			return
		}
		if !examine(t, p, d) {
			refused++
		}
	})
}
