// This file tests what the suite is built of, where a fault would make it pass or fail for the wrong reason.

package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs/vfstest"
)

// failure is how a recorder ends a helper that calls Fatalf.
type failure struct{}

// recorder is a testing.TB that keeps whether it failed, and with what words, instead of failing the test.
type recorder struct {
	testing.TB
	failed bool
	text   string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed, r.text = true, format
	panic(failure{})
}

// failed reports whether a helper fails.
func failed(t *testing.T, use func(t testing.TB)) (text string, ok bool) {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() {
			if thrown := recover(); thrown != nil && thrown != (failure{}) {
				panic(thrown)
			}
		}()
		use(r)
	}()
	return r.text, r.failed
}

// The helpers of the suite fail where they should, and only there: a helper that is always content would
// make every check content.
func TestHelpersFail(t *testing.T) {
	s := new(MemStore)
	mustCommit(t, s, "job", 1, sample(1))
	mustCommit(t, s, "job", 2, sample(7)) // the contents of another number
	damaged := new(MemStore)
	mustCommit(t, damaged, "job", 1, sample(1))
	damaged.Damage(t, "job", 1, ManifestPart, Flip)
	for what, c := range map[string]struct {
		use  func(t testing.TB)
		want bool
	}{
		"wantFiles of what is there":       {func(t testing.TB) { wantFiles(t, s, "job", 1, sample(1)) }, false},
		"wantFiles of other contents":      {func(t testing.TB) { wantFiles(t, s, "job", 2, sample(2)) }, true},
		"wantFiles in another order":       {func(t testing.TB) { wantFiles(t, s, "job", 1, []file{sample(1)[1], sample(1)[0]}) }, true},
		"wantFiles of a part less":         {func(t testing.TB) { wantFiles(t, s, "job", 1, sample(1)[:1]) }, true},
		"wantFiles of another job":         {func(t testing.TB) { wantFiles(t, s, "bob", 1, sample(1)) }, true},
		"wantFiles of what is not there":   {func(t testing.TB) { wantFiles(t, s, "job", 3, sample(3)) }, true},
		"wantFiles of a damaged manifest":  {func(t testing.TB) { wantFiles(t, damaged, "job", 1, sample(1)) }, true},
		"wantAbsent of what is there":      {func(t testing.TB) { wantAbsent(t, s, "job", 1) }, true},
		"wantAbsent of what is not there":  {func(t testing.TB) { wantAbsent(t, s, "job", 3) }, false},
		"wantAbsent of a damaged manifest": {func(t testing.TB) { wantAbsent(t, damaged, "job", 1) }, true},
		"wantAbsent beside damage":         {func(t testing.TB) { wantAbsent(t, damaged, "job", 2) }, true},
		"wantError of nothing":             {func(t testing.TB) { wantError(t, "x", nil, io.EOF) }, true},
		"wantError of another":             {func(t testing.TB) { wantError(t, "x", io.ErrUnexpectedEOF, io.EOF) }, true},
		"wantError of one that wraps":      {func(t testing.TB) { wantError(t, "x", errors.Join(io.EOF), io.EOF) }, false},
		"mustCommit of other content":      {func(t testing.TB) { mustCommit(t, s, "job", 1, sample(2)) }, true},
		"mustWrite of a bad name":          {func(t testing.TB) { mustWrite(t, s, "job", 3, []file{{"..", ""}}) }, true},
	} {
		if text, got := failed(t, c.use); got != c.want {
			t.Errorf("%s: failed %v (%s), want %v", what, got, text, c.want)
		}
	}
}

// The manifest that the suite expects is that of a store that does all right, written down by hand once.
func TestManifestOf(t *testing.T) {
	m := manifestOf("job", 3, []file{{"a", "abc"}, {"empty", ""}})
	want := store.Manifest{Job: "job", Number: 3, Parts: []store.Part{
		{Name: "a", Bytes: 3, CRC32C: "364b3fb7", SHA256: sha256.Sum256([]byte("abc"))},
		{Name: "empty", Bytes: 0, SHA256: sha256.Sum256(nil)},
	}}
	if !sameManifest(m, want) {
		t.Errorf("%+v, want %+v", m, want)
	}
	for what, change := range map[string]func(m *store.Manifest){
		"job":    func(m *store.Manifest) { m.Job = "bob" },
		"number": func(m *store.Manifest) { m.Number++ },
		"name":   func(m *store.Manifest) { m.Parts[1].Name = "full" },
		"bytes":  func(m *store.Manifest) { m.Parts[0].Bytes++ },
		"digest": func(m *store.Manifest) { m.Parts[0].SHA256[31] ^= 1 },
		"order":  func(m *store.Manifest) { slices.Reverse(m.Parts) },
		"a part": func(m *store.Manifest) { m.Parts = m.Parts[:1] },
	} {
		other := want
		other.Parts = slices.Clone(want.Parts)
		if change(&other); sameManifest(other, want) || sameManifest(want, other) {
			t.Errorf("manifests that differ in %s are taken for the same", what)
		}
	}
	if !sameManifest(store.Manifest{Parts: []store.Part{}}, store.Manifest{}) {
		t.Error("no parts differ from no parts")
	}
}

// Samples of different numbers must differ in every part, or a mix-up of two checkpoints would go unseen.
func TestSamplesDiffer(t *testing.T) {
	seen := map[string]int64{}
	for number := range int64(200) {
		for _, f := range sample(number) {
			if other, ok := seen[f.data]; ok {
				t.Fatalf("numbers %d and %d share %q", number, other, f.data)
			}
			seen[f.data] = number
		}
	}
}

// Of every length, damage changes the bytes and leaves the original as it was.
func TestApplyChanges(t *testing.T) {
	for length := range 40 {
		for _, how := range []Damage{Flip, Truncate, Extend} {
			if length == 0 && how != Extend {
				continue // there is nothing to flip or to take away
			}
			original := []byte(strings.Repeat("x", length))
			got := how.Apply(original)
			if string(got) == string(original) || strings.Trim(string(original), "x") != "" {
				t.Errorf("%v of %d bytes gives %q and leaves %q", how, length, got, original)
			}
			if want := length + map[Damage]int{Truncate: -1, Extend: 1}[how]; len(got) != want {
				t.Errorf("%v of %d bytes has %d, want %d", how, length, len(got), want)
			}
			// A slice with room behind it must not be written to: readers may hold it.
			roomy := append(make([]byte, 0, 100), original...)
			_ = how.Apply(roomy)
			if behind := roomy[:100][length]; behind != 0 {
				t.Errorf("%v of %d bytes wrote %d behind them", how, length, behind)
			}
		}
	}
}

func TestDamageNames(t *testing.T) {
	var names []string
	for how := Flip - 1; how <= Remove+1; how++ {
		names = append(names, how.String())
	}
	if got := strings.Join(names, " "); got != "Damage(?) Flip Truncate Extend Remove Damage(?)" {
		t.Error(got)
	}
}

// Damage needs something to damage: silence would let a check of damage pass on an intact store.
func TestDamageNeedsACheckpoint(t *testing.T) {
	s := new(MemStore)
	mustCommit(t, s, "job", 1, sample(1))
	for what, c := range map[string]struct {
		job    string
		number int64
		part   int
		want   bool
	}{
		"last part":       {"job", 1, 1, false},
		"manifest":        {"job", 1, ManifestPart, false},
		"part behind":     {"job", 1, 2, true},
		"another number":  {"job", 2, 0, true},
		"another job":     {"bob", 1, 0, true},
		"manifest of nil": {"job", 2, ManifestPart, true},
	} {
		_, got := failed(t, func(t testing.TB) { s.Damage(t, c.job, c.number, c.part, Extend) })
		if got != c.want {
			t.Errorf("damage of the %s failed: %v, want %v", what, got, c.want)
		}
	}
}

// TestPseudoRandom: the large part has its length, does not compress and is the same every time.
func TestPseudoRandom(t *testing.T) {
	first, err := io.ReadAll(pseudoRandom(10_000))
	second, err2 := io.ReadAll(pseudoRandom(10_000))
	if err != nil || err2 != nil || len(first) != 10_000 || !slices.Equal(first, second) {
		t.Fatalf("%d and %d bytes, %v, %v", len(first), len(second), err, err2)
	}
	var counts [256]int
	for _, b := range first {
		counts[b]++
	}
	// 10,000 bytes have about 39 of each value; 6 standard deviations are 38.
	if least, most := slices.Min(counts[:]), slices.Max(counts[:]); least < 5 || most > 80 {
		t.Errorf("a value of a byte appears between %d and %d times", least, most)
	}
}

// together has all goroutines in flight at once, and keeps their errors apart.
func TestTogether(t *testing.T) {
	var all sync.WaitGroup
	all.Add(writers)
	errs := together(func(i int) error {
		all.Done()
		all.Wait() // nobody goes on before everybody is here: one after the other would never end
		if i%2 == 1 {
			return &ownError{i}
		}
		return nil
	})
	for i, err := range errs {
		var own *ownError
		if errors.As(err, &own) != (i%2 == 1) || own != nil && own.i != i {
			t.Errorf("goroutine %d returned %v", i, err)
		}
	}
}

// ownError is the error of one goroutine.
type ownError struct{ i int }

func (e *ownError) Error() string { return "of one goroutine" }

// TestMemStoreAgainstMap compares a MemStore with a map of committed checkpoints over random calls.
func TestMemStoreAgainstMap(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 14))
		s, twin := new(MemStore), map[string]map[int64][]file{"a": {}, "b": {}}
		for step := range 200 {
			job, number, content := []string{"a", "b"}[rng.IntN(2)], 1+rng.Int64N(5), sample(rng.Int64N(3))
			switch rng.IntN(3) {
			case 0:
				w, err := write(ctx, s, job, number, content)
				if err != nil {
					t.Fatal(err)
				}
				_, err = w.Commit()
				first, taken := twin[job][number]
				if !taken {
					twin[job][number] = content
				}
				if want := taken && !slices.Equal(first, content); errors.Is(err, store.ErrExists) != want || err != nil && !want {
					t.Fatalf("seed %d, step %d: Commit: %v, want ErrExists: %v", seed, step, err, want)
				}
			case 1:
				if err := s.Delete(ctx, job, number); err != nil {
					t.Fatal(err)
				}
				delete(twin[job], number)
			case 2:
				s.Crash() // takes nothing that was committed
			}
			for job, numbers := range twin {
				list, err := s.List(ctx, job)
				if err != nil || len(list) != len(numbers) {
					t.Fatalf("seed %d, step %d: List of %s: %v, %v; want %d", seed, step, job, list, err, len(numbers))
				}
				for number, content := range numbers {
					if got, err := read(ctx, s, job, number); err != nil || !slices.Equal(got, content) {
						t.Fatalf("seed %d, step %d: %s/%d: %q, %v", seed, step, job, number, got, err)
					}
				}
			}
		}
	}
}

// A writer that has failed once commits no more, whatever failed: else a checkpoint would lack a piece.
func TestFaultyWriterStaysDead(t *testing.T) {
	for k := int64(1); k <= 4; k++ { // Part, Write, Close, Commit
		for _, when := range []When{Before, After} {
			s := NewFaulty(new(MemStore))
			w, err := s.Begin(t.Context(), "job", 1)
			if err != nil {
				t.Fatal(err)
			}
			s.FailAt(k, when)
			_ = writePart(w, file{"a", "content"})
			_, first := w.Commit()
			calls := s.Calls()
			_, again := w.Commit()
			_, part := w.Part("b")
			for what, err := range map[string]error{"Commit": first, "Commit again": again, "Part": part} {
				if !errors.Is(err, vfstest.ErrInjected) {
					t.Errorf("%s after call %d failed: %v", what, k, err)
				}
			}
			if s.Calls() != calls {
				t.Errorf("a dead writer made %d calls", s.Calls()-calls)
			}
			if err := w.Abort(); err != nil {
				t.Errorf("Abort of a dead writer: %v", err)
			}
		}
	}
}

// The injected error names the checkpoint as every error of a store does, and only the call asked for fails.
func TestFaultyNamesTheCheckpoint(t *testing.T) {
	s := NewFaulty(new(MemStore))
	mustCommit(t, s, "some-job", 4711, sample(1))
	for range 2 {
		s.FailAt(1, Before)
		_, err := s.Open(t.Context(), "some-job", 4711)
		if !errors.Is(err, vfstest.ErrInjected) || !strings.Contains(err.Error(), "some-job") || !strings.Contains(err.Error(), "4711") {
			t.Errorf("Open: %v", err)
		}
		if _, err := s.Open(t.Context(), "some-job", 4711); err != nil {
			t.Errorf("the call after: %v", err)
		}
	}
}

// A fault behind a Faulty is not covered by an injected one: the caller learns what is really wrong.
func TestFaultyKeepsRealErrors(t *testing.T) {
	s := NewFaulty(new(MemStore))
	s.FailAt(1, After)
	if _, err := s.Open(t.Context(), "job", 1); !errors.Is(err, store.ErrNotFound) || errors.Is(err, vfstest.ErrInjected) {
		t.Errorf("Open of nothing, its answer lost: %v", err)
	}
	// Before, the store behind is not asked, and nobody knows that it has nothing.
	s.FailAt(1, Before)
	if _, err := s.Open(t.Context(), "job", 1); errors.Is(err, store.ErrNotFound) || !errors.Is(err, vfstest.ErrInjected) {
		t.Errorf("Open of nothing that failed before: %v", err)
	}
}

// Manifests that the suite compares survive JSON, in which stores write them.
func TestManifestSurvivesJSON(t *testing.T) {
	m := manifestOf("job", 1<<62, sample(5))
	text, err := json.Marshal(m)
	var back store.Manifest
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil || !sameManifest(m, back) {
		t.Errorf("%s became %+v, %v", text, back, err)
	}
}
