// This file tests the text form of Digest.

package store_test

import (
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

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
