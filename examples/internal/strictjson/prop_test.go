// This file changes right texts in many ways, and compares Unmarshal with encoding/json.

package strictjson_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

// TestChangedTexts replaces, leaves out and adds one thing of a right text at a time, at any depth. What is
// accepted means what it means to encoding/json, and what that accepts is refused only for the reasons
// that the package comment gives; most changes are refused.
func TestChangedTexts(t *testing.T) {
	problem := must.Have(os.ReadFile("../../apportion/cluster.json"))(t)
	changed[alloc.Problem](t, string(problem))
	changed[drf.Claim](t, `{"id":"a","demand":[1,2],"weight":0.5,"min":1,"max":3}`)
	changed[primaldual.Cluster](t, `{"kinds":["a"],"slots":3,"worker_servers":[{"id":"w","capacity":[1]}],"ps_servers":[]}`)
	for _, utility := range []string{`{"sigmoid":[1,2,3]}`, `{"constant":1}`, `{"linear":[1,2]}`, `{"steps":[[0,2],[3,1]]}`} {
		changed[primaldual.Job](t, `{"id":"a","arrival":1,"epochs":1,"chunks":2,"minibatches":1,"minibatch_slots":1,"comm_slots":0,`+
			`"worker_bandwidth":1,"ps_bandwidth":2,"worker":[1],"ps":[1],"utility":`+utility+`}`)
	}
}

func changed[T any](t *testing.T, text string) {
	t.Helper()
	must.Do(t, strictjson.Unmarshal([]byte(text), new(T), nil), text)
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	must.Do(t, decoder.Decode(&value))
	all, refused := variants(value), 0
	for _, variant := range all {
		text := must.Have(json.Marshal(variant))(t)
		var v T
		both(t, text, &v)
		if strictjson.Unmarshal(text, &v, nil) != nil {
			refused++
		}
	}
	if refused < len(all)/2 {
		t.Errorf("%T: %d of %d changed texts are refused", *new(T), refused, len(all))
	}
}

// variants returns value with one change each.
func variants(value any) []any {
	list := []any{nil, true, "x", "", -1.0, 1.5, json.Number("1e3"), json.Number("9223372036854775808"), []any{}, map[string]any{}}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			without := maps.Clone(v)
			delete(without, key)
			other := maps.Clone(without)
			other[strings.ToUpper(key)] = v[key]
			list = append(list, without, other)
			for _, changed := range variants(v[key]) {
				with := maps.Clone(v)
				with[key] = changed
				list = append(list, with)
			}
		}
		more := maps.Clone(v)
		more["more"] = []any{map[string]any{}}
		list = append(list, more)
	case []any:
		for i := range v {
			for _, changed := range variants(v[i]) {
				with := slices.Clone(v)
				with[i] = changed
				list = append(list, with)
			}
		}
	}
	return list
}
