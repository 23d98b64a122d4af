// This file tests that manifests survive JSON: stores keep them so, and masters send them.

package store_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

func TestManifestSurvivesJSON(t *testing.T) {
	digest := "0100000000000000000000000000000000000000000000000000000000000000"
	for want, m := range map[string]store.Manifest{
		`{"job":"a/b","number":7,"parts":[{"name":"x/y","bytes":3,"sha256":"` + digest + `"},{"name":"z","bytes":3,"crc32c":"01234567"}]}`: {
			Job: "a/b", Number: 7, Parts: []store.Part{{Name: "x/y", Bytes: 3, SHA256: store.Digest{1}}, {Name: "z", Bytes: 3, CRC32C: "01234567"}},
		},
		`{"job":"größe","number":9223372036854775807,"parts":[]}`: {Job: "größe", Number: math.MaxInt64, Parts: []store.Part{}},
		`{"job":"","number":0,"parts":null}`:                      {},
	} {
		text, err := json.Marshal(m)
		if err != nil || string(text) != want {
			t.Errorf("%+v is written as\n%s, %v, want\n%s", m, text, err, want)
		}
		var back store.Manifest
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%s is read as %+v, %v", text, back, err)
		}
	}
	for _, bad := range []string{`{"parts":[{"sha256":"00"}]}`, `{"parts":[{"sha256":7}]}`, `{"number":1.5}`} {
		if err := json.Unmarshal([]byte(bad), &store.Manifest{}); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}
