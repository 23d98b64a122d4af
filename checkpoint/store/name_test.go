// This file tests the rules on names.

package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 255)
	for _, test := range []struct {
		name      string
		job, part bool
	}{
		{"a", true, true},
		{"model.ckpt-100.index", true, true},
		{"häuser 模型", true, true},
		{"host:8080", true, true},
		{"...", true, true},
		{".hidden", true, true},
		{"a/b", false, true},
		{"a/.../b", false, true},
		{strings.Repeat("x", 128), true, true},
		{strings.Repeat("x", 129), false, true},
		{long, false, true},
		{long + "x", false, false},
		{long + "/" + long + "/" + long + "/" + long, false, true},
		{long + "/" + long + "/" + long + "/" + long + "/", false, false},
		{long + "/" + long + "/" + long + "/" + long + "/x", false, false},
		{"", false, false},
		{".", false, false},
		{"..", false, false},
		{"../a", false, false},
		{"a/..", false, false},
		{"a/./b", false, false},
		{"/a", false, false},
		{"a/", false, false},
		{"a//b", false, false},
		{`a\b`, false, false},
		{"a\x00b", false, false},
		{"a\nb", false, false},
		{"a\u0085b", false, false},
		{"a\xffb", false, false},
	} {
		for what, check := range map[string]struct {
			err  error
			good bool
		}{"job": {store.CheckJob(test.name), test.job}, "part": {store.CheckPart(test.name), test.part}} {
			if (check.err == nil) != check.good || check.err != nil && !errors.Is(check.err, store.ErrName) {
				t.Errorf("%s %.40q: %v, want good: %v", what, test.name, check.err, check.good)
			}
			if check.err != nil && len(check.err.Error()) > 200 {
				t.Errorf("%s: a message of %d bytes", what, len(check.err.Error()))
			}
		}
	}
}

func TestDigestText(t *testing.T) {
	d := store.Digest{0: 0xab, 31: 0x01}
	text, err := d.MarshalText()
	if err != nil || len(text) != 64 || string(text) != d.String() || !strings.HasPrefix(d.String(), "ab00") {
		t.Fatalf("%s, %v", text, err)
	}
	var back store.Digest
	if err := back.UnmarshalText(text); err != nil || back != d {
		t.Fatalf("%v, %v", back, err)
	}
	for _, bad := range []string{"", "ab", d.String() + "00", strings.ToUpper(d.String()), "g" + d.String()[1:]} {
		if err := back.UnmarshalText([]byte(bad)); err == nil || back != d {
			t.Errorf("%q: %v, and the digest is %v", bad, err, back)
		}
	}
}
