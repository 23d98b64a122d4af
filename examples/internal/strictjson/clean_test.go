// This file holds the look beforehand to the walk: what it lets pass has no fault, and right texts pass.

package strictjson

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

// TestCleanIsRight changes bytes and repeats and drops parts of right texts, so that keys are there twice, missing, unknown or of another
// case, and values are null or of another type.
func TestCleanIsRight(t *testing.T) {
	problem := must.Have(os.ReadFile("../../apportion/cluster.json"))(t)
	cleanIsRight[alloc.Problem](t, string(problem))
	cleanIsRight[primaldual.Job](t, `{"id":"a","arrival":1,"epochs":1,"chunks":2,"minibatches":1,"minibatch_slots":1,"comm_slots":0,
		"worker_bandwidth":1,"ps_bandwidth":2,"worker":[1],"ps":[1],"utility":{"sigmoid":[1,2,3]}}`)
	type part struct {
		X int `json:"x"`
	}
	type all struct {
		ID     string                    `json:"id"`
		Grid   [][]int                   `json:"grid,omitempty"`
		Parts  []*part                   `json:"parts"`
		Places map[string]map[string]int `json:"places,omitzero"`
		Data   []byte                    `json:"data,omitempty"`
		On     *bool                     `json:"on,omitempty"`
		Share  float64                   `json:"share"`
	}
	cleanIsRight[all](t, `{"id":"a\"}","grid":[[1],null,[2,3]],"parts":[{"x":1},{"x":-2}],"places":{"b":{"s":1,"t":2},"a":{}},"data":"aGk=","on":true,"share":1e3}`)
}

func cleanIsRight[T any](t *testing.T, right string) {
	t.Helper()
	typ := reflect.TypeFor[T]()
	if !isClean([]byte(right), typ, &Options{}) {
		t.Fatalf("%s is right", right)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	clean, faulty := 0, 0
	for range 30000 {
		text := changedText(rng, right)
		var quick, slow T
		err := walk(text, &slow, &Options{})
		if err != nil && json.Unmarshal(text, new(T)) == nil {
			faulty++
		}
		if !isClean(text, typ, &Options{}) || json.Unmarshal(text, &quick) != nil {
			continue
		}
		clean++
		must.Do(t, err, text, "is clean, and")
		must.Equal(t, cmp.Diff(quick, slow, cmp.Exporter(func(reflect.Type) bool { return true })), "", text)
	}
	if clean < 500 || faulty < 500 {
		t.Errorf("%v: %d clean, %d with faults that encoding/json lets pass", typ, clean, faulty)
	}
}

// changedText changes one thing in a text.
func changedText(rng *rand.Rand, right string) []byte {
	text := []byte(right)
	// Places are drawn from those at which something begins or ends.
	var places []int
	for n, c := range text {
		if strings.IndexByte(`{}[],:" `, c) >= 0 {
			places = append(places, n)
		}
	}
	from := places[rng.IntN(len(places))]
	to := min(len(text), from+1+rng.IntN(40))
	for _, at := range places {
		if at > from && rng.IntN(6) == 0 {
			to = at
			break
		}
	}
	switch rng.IntN(6) {
	case 0:
		return slices.Delete(text, from, to)
	case 1, 2: // again, with a comma before it
		return slices.Insert(text, to, []byte(","+strings.Trim(right[from:to], ","))...)
	case 3:
		return slices.Replace(text, from+1, to, []byte([...]string{"null", `"x"`, "-1", "1.5", "{}", "[]", "true", `"NaN"`, `{"x":1,"x":2}`}[rng.IntN(9)])...)
	case 4:
		if at := from + 1; at < len(text) {
			text[at] ^= 0x20 // of a letter the other case
		}
		return text
	}
	text[rng.IntN(len(text))] = byte(' ' + rng.IntN(95))
	return text
}

// TestKeySet adds keys in any order.
func TestKeySet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		var k keySet
		seen := make(map[string]bool)
		for range rng.IntN(12) {
			key := fmt.Sprint(rng.IntN(20))
			if k.add([]byte(key)) == seen[key] {
				t.Fatalf("%q of %v", key, seen)
			}
			seen[key] = true
		}
	}
}

// BenchmarkUnmarshal reads a cluster of 10,000 servers and 5,000 applications: by encoding/json alone, with the look beforehand, and by
// the walk.
func BenchmarkUnmarshal(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"kinds":["cpu","gpu"],"theta1":0.1,"theta2":0.1,"servers":[`)
	for j := range 10000 {
		fmt.Fprintf(&text, `%s{"id":"server-%d","capacity":[64,8],"labels":{"zone":"a"}}`, comma(j), j)
	}
	text.WriteString(`],"applications":[`)
	for i := range 5000 {
		fmt.Fprintf(&text, `%s{"id":"application-%d","demand":[4,1],"min":1,"max":8}`, comma(i), i)
	}
	text.WriteString(`],"previous":{`)
	for i := range 5000 {
		fmt.Fprintf(&text, `%s"application-%d":{"server-%d":1,"server-%d":2}`, comma(i), i, i, i+1)
	}
	input := []byte(text.String() + `}}`)
	for name, read := range map[string]func(p *alloc.Problem) error{
		"json":   func(p *alloc.Problem) error { return json.Unmarshal(input, p) },
		"strict": func(p *alloc.Problem) error { return Unmarshal(input, p, nil) },
		"walk":   func(p *alloc.Problem) error { return walk(input, p, &Options{}) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(input)))
			for b.Loop() {
				must.Do(b, read(&alloc.Problem{}))
			}
		})
	}
}

func comma(n int) string {
	if n == 0 {
		return ""
	}
	return ","
}

// TestNotClean has faults that random changes do not find.
func TestNotClean(t *testing.T) {
	type all struct {
		Places map[string]int `json:"places,omitempty"`
		Shape  any            `json:"shape,omitempty"`
	}
	for _, text := range []string{
		`{"places":{"a":1,"\u0061":2}}`, `{"places":{"a":1,"b":2,"a":3}}`, `{"places":{"b":1,"a":2,"b":3}}`, "{\"places\":{\"\xff\":1,\"\xfe\":2}}",
		`{"shape":{"a":` + strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1) + `}}`, `{"shape":{"a":1,"a":2}}`, `{"shape":[]}`,
	} {
		if walk([]byte(text), new(all), &Options{}) == nil {
			t.Errorf("%s has no fault", text)
		}
		if isClean([]byte(text), reflect.TypeFor[all](), &Options{}) {
			t.Errorf("%s passes", text)
		}
	}
}
