// This file tests utilities of the caller's own types in snapshots.

package primaldual

import (
	"bytes"
	"errors"
	"strconv"
	"testing"

	"github.com/apportion/apportion"
)

// halving is a utility of a caller's own: it halves after so many slots, and again.
type halving int

func (h halving) Value(d int) float64 { return 100 / float64(int(1)<<(d/int(h))) }

// halvings is its codec; reading answers with the error, if there is one.
func halvings(name string, fault error) UtilityCodec {
	return UtilityCodec{
		Name: name,
		Encode: func(u Utility) ([]byte, bool) {
			h, ok := u.(halving)
			return []byte(strconv.Itoa(int(h))), ok
		},
		Decode: func(data []byte) (Utility, error) {
			n, err := strconv.Atoi(string(data))
			return halving(n), errors.Join(err, fault)
		},
	}
}

func TestCodec(t *testing.T) {
	cluster, bounds := plainCluster(8, 2)
	options := &SchedulerOptions{Codecs: []UtilityCodec{halvings("halving", nil)}}
	s, err := NewScheduler(cluster, bounds, options)
	if err != nil {
		t.Fatal(err)
	}
	j := plainJob("j", 1)
	j.Utility = halving(3)
	offer(t, s, j)
	data, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again, err := RestoreScheduler(cluster, bounds, options, data)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.jobs["j"].job.Utility; got != halving(3) {
		t.Errorf("restored as %v", got)
	}
	if more, err := again.Snapshot(); err != nil || !bytes.Equal(data, more) {
		t.Errorf("another snapshot: %v", err)
	}
	for name, codecs := range map[string][]UtilityCodec{
		"none": nil, "another name": {halvings("other", nil)}, "one that fails": {halvings("halving", apportion.ErrRange)},
	} {
		if _, err := RestoreScheduler(cluster, bounds, &SchedulerOptions{Codecs: codecs}, data); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCodecFaults(t *testing.T) {
	cluster, bounds := plainCluster(8, 2)
	whole := halvings("a", nil)
	for name, test := range map[string]struct {
		codecs []UtilityCodec
		want   error
	}{
		"no name": {[]UtilityCodec{halvings("", nil)}, apportion.ErrEmpty}, "no functions": {[]UtilityCodec{{Name: "a"}}, apportion.ErrEmpty},
		"no decoder": {[]UtilityCodec{{Name: "a", Encode: whole.Encode}}, apportion.ErrEmpty},
		"twice":      {[]UtilityCodec{whole, whole}, apportion.ErrDuplicate},
	} {
		if _, err := NewScheduler(cluster, bounds, &SchedulerOptions{Codecs: test.codecs}); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := plainJob("j", 1)
	j.Utility = halving(3)
	offer(t, s, j)
	if _, err := s.Snapshot(); !errors.Is(err, ErrUnsavable) {
		t.Errorf("saved without a codec: %v", err)
	}
}
