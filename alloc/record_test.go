package alloc_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
)

// reporter is what a test and a draw of rapid have in common.
type reporter interface {
	Helper()
	Fatalf(string, ...any)
}

// reread writes value as JSON and reads it back into a new value of its type.
func reread[T any](t reporter, value *T) *T {
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("%v", err)
	}
	again := new(T)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if !reflect.DeepEqual(value, again) {
		t.Fatalf("read back as another (-written +read):\n%s\n%s", cmp.Diff(value, again), text)
	}
	return again
}

// recorded decides as Reallocate does, and holds every decision of the tests to what a site needs that keeps a log of its own: the
// record survives JSON, is verified, and says the same when it is taken again.
func recorded(t reporter, ctx context.Context, p *alloc.Problem, by solver.Solver) (*alloc.Decision, error) {
	t.Helper()
	d, err := alloc.Reallocate(ctx, p, by)
	if err != nil {
		return nil, err
	}
	record := reread(t, alloc.NewRecord(p, d))
	if _, err := record.Verify(); err != nil {
		t.Fatalf("the decision is refused: %v", err)
	}
	if _, own := by.(*embedded.Solver); own {
		by = nil // made anew from the record
	}
	if found, err := record.Replay(ctx, by); err != nil || len(found) > 0 && !d.Interrupted {
		t.Fatalf("taken again it is another: %v, %v", found, err)
	}
	return d, nil
}

// Every result of the package survives JSON, and what is read back is explained, verified and replayed
// as the original.
func TestResultsSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		if rapid.Bool().Draw(t, "damaged") {
			damage(t, p)
		}
		d, err := recorded(t, context.Background(), p, embedded.New(&embedded.Options{Seed: rapid.Uint64Range(0, 9).Draw(t, "seed")}))
		if err != nil {
			t.Fatal(err)
		}
		record := reread(t, alloc.NewRecord(p, d))
		explained, err := alloc.Explain(p, d)
		if err != nil {
			t.Fatal(err)
		}
		again, err := alloc.Explain(record.Problem, record.Decision)
		if diff := cmp.Diff(explained, again); diff != "" || err != nil {
			t.Fatalf("explained otherwise: %v\n%s", err, diff)
		}
		reread(t, explained)
		reread(t, alloc.NewPlan(p, d.Allocation))
		proof, err := record.Verify()
		if err != nil || d.Status == alloc.Decided && proof.Bound < d.Objective-solver.ObjectiveTolerance {
			t.Fatalf("%+v, %v", proof, err)
		}
		reread(t, &proof)
		if found, err := record.Replay(context.Background(), nil); err != nil || len(found) > 0 {
			t.Fatalf("replayed as another: %v, %v", found, err)
		}
		// A decision for another problem is refused, or says the same about it; it never panics.
		other := genProblem(t)
		if _, err := alloc.Explain(other, d); err != nil && !errors.Is(err, alloc.ErrMismatch) {
			t.Fatal(err)
		}
		if _, err := alloc.Verify(other, d); err != nil && !errors.Is(err, alloc.ErrMismatch) {
			t.Fatal(err)
		}
	})
}

// Replay says what another solver answers.
func TestReplayDiffers(t *testing.T) {
	p := fig5()
	record := alloc.NewRecord(p, reallocate(t, p))
	counts := solver.Counts{{{Server: 0, Count: 1}, {Server: 1, Count: 2}}, {{Server: 0, Count: 1}}, {{Server: 1, Count: 1}}}
	found, err := record.Replay(context.Background(), answering{counts, nil})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range found {
		lines = append(lines, d.String())
		if *reread(t, &d) != d {
			t.Errorf("%+v does not survive JSON", d)
		}
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{`application "a": Allocation[s1]: recorded 2, replayed 1`, "Objective: recorded ", "Proven: recorded order, replayed nothing", "Metrics.FairnessLoss: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q among\n%s", want, text)
		}
	}
}

func TestRecordErrors(t *testing.T) {
	p := fig5()
	d := reallocate(t, p)
	if d.Certificate.By != (solver.Settings{Solver: "embedded", Effort: int64(embedded.Default)}) {
		t.Errorf("by %+v", d.Certificate.By)
	}
	foreign := *d
	foreign.Certificate.By.Solver = "oracle"
	for name, c := range map[string]struct {
		record *alloc.Record
		want   error
	}{
		"another version": {&alloc.Record{Version: alloc.RecordVersion + 1, Problem: p, Decision: d}, apportion.ErrRange},
		"no problem":      {&alloc.Record{Version: 1, Decision: d}, apportion.ErrEmpty},
		"no decision":     {&alloc.Record{Version: 1, Problem: p}, apportion.ErrEmpty},
		"another solver":  {alloc.NewRecord(p, &foreign), apportion.ErrUnknown},
		"a bad problem":   {alloc.NewRecord(&alloc.Problem{}, d), apportion.ErrEmpty},
	} {
		if _, err := c.record.Replay(context.Background(), nil); !errors.Is(err, c.want) {
			t.Errorf("%s: replayed with %v, want %v", name, err, c.want)
		}
		if _, err := c.record.Verify(); name != "another solver" && !errors.Is(err, c.want) {
			t.Errorf("%s: verified with %v, want %v", name, err, c.want)
		}
	}
}
