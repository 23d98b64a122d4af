// This file tests which files are taken for one checkpoint, and that a choice that may be wrong is refused.

package format_test

import (
	"archive/zip"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/internal/must"
)

func directory(names ...string) fstest.MapFS {
	dir := fstest.MapFS{}
	for _, name := range names {
		dir[name] = &fstest.MapFile{Data: archive("m", zip.Store), Mode: 0o644}
	}
	return dir
}

// What may be one checkpoint or several is refused, and so is a piece that lies alone.
func TestAmbiguous(t *testing.T) {
	for _, names := range [][]string{
		{"model-13.pt", "optimizer-13.pt"},
		{"model.pt", "optimizer.pt"},
		{"best.pt", "last.pt"},
		{"model-13.pt", "model-13.pth"},
		{"model-12.pt", "model-13.pt", "ema-13.pt"},
		{"optimizer-13.pt"}, {"optim.pt"}, {"scheduler_13.pt"}, {"scaler-1.pt"}, {"13-opt.pt"}, {"model-13-optim_states.pt"}, {"rng_state.pth"},
		{"model-13-rank0.pt", "model-13-rank1.pt"}, {"rank-3.pt"}, {"mp_rank_00_model_states.pt"}, {"shard-0.pt"},
		{"model-00001-of-00002.pt"}, {"ckpt_13_part1.pt"}, {"tp_0.pt"}, {"zero_pp_rank_0_mp_rank_00_optim_states.pt"},
	} {
		found, err := (format.PyTorch{}).Newest(directory(names...))
		if !errors.Is(err, format.ErrAmbiguous) || !errors.Is(err, format.ErrNone) {
			t.Errorf("%q: %+v, %v", names, found, err)
		}
		// The same files are a checkpoint once the job has named them.
		listed, err := format.Of(format.PyTorch{}, names).Newest(directory(names...))
		want := slices.Sorted(slices.Values(names))
		if err != nil || !slices.Equal(listed.Files, want) || len(names) > 1 != (listed.Name == ".") {
			t.Errorf("%q named: %+v, %v", names, listed, err)
		}
	}
	for _, names := range [][]string{
		{"model-13.pt"}, {"model-12.pt", "model-13.pt"}, {"optimal-13.pt"}, {"options.pt"}, {"frank-13.pt"}, {"epoch_9_step_120.pt", "epoch_10_step_90.pt"},
		{"partial-1.pt"}, {"adapt-1.pt"}, {"top-5.pt"}, {"step13.pt"}, {"resnet50-epoch3.pt"},
	} {
		must.Have((format.PyTorch{}).Newest(directory(names...)))(t, names)
	}
}

// Together: the newest number of which every pattern has one whole file.
func TestTogether(t *testing.T) {
	f := format.PyTorch{Patterns: []string{"model-*.pt", "opt-*.pt"}, Together: true, StepsPerNumber: 2}
	dir := directory("model-11.pt", "opt-11.pt", "model-12.pt", "opt-12.pt", "model-13.pt", "other-14.pt")
	want := format.Found{Name: "model-12.pt", Files: []string{"model-12.pt", "opt-12.pt"}, Step: 24}
	found, err := f.Newest(dir)
	if err != nil || len(found.Skipped) != 1 || found.Skipped[0].Name != "model-13.pt" {
		t.Fatalf("%+v, %v", found, err)
	}
	found.Skipped = nil
	must.Equal(t, cmp.Diff(want, found), "")
	verified, err := f.Verify(dir, "model-12.pt")
	if diff := cmp.Diff(want, verified); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	// The partner that is half-written, or there twice, makes no checkpoint.
	dir["opt-12.pt"] = &fstest.MapFile{Data: dir["opt-12.pt"].Data[:50]}
	dir["opt-011.pt"] = dir["opt-11.pt"]
	if found, err := f.Newest(dir); !errors.Is(err, format.ErrNone) || !strings.Contains(err.Error(), "opt-12.pt is not complete") {
		t.Errorf("%+v, %v", found, err)
	}
}

// Of what a job has named, every file of the format is read, and what is not the format's is not.
func TestNamed(t *testing.T) {
	dir := directory("a/model-13.pt", "a/optimizer-13.pt", "rank-0.pt", "rank-1.pt")
	dir["notes.json"] = &fstest.MapFile{Data: []byte("{}")}
	f := format.PyTorch{StepsPerNumber: 1}
	named := []string{"notes.json", "a/optimizer-13.pt", "a/model-13.pt"}
	found, err := format.Of(f, named).Newest(dir)
	want := format.Found{Name: ".", Files: []string{"a/model-13.pt", "a/optimizer-13.pt"}, Step: 13}
	if diff := cmp.Diff(want, found); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if verified, err := format.Of(f, named).Verify(dir, "."); err != nil || !cmp.Equal(verified, want) {
		t.Errorf("%+v, %v", verified, err)
	}
	if found, err := format.Of(f, []string{"rank-0.pt", "rank-1.pt"}).Newest(dir); err != nil || found.Step != -1 {
		t.Errorf("numbers of shards are taken for steps: %+v, %v", found, err)
	}
	for _, name := range named[1:] {
		cut := maps.Clone(dir)
		cut[name] = &fstest.MapFile{Data: dir[name].Data[:len(dir[name].Data)-1]}
		if found, err := format.Of(f, named).Newest(cut); !errors.Is(err, format.ErrIncomplete) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is cut: %+v, %v", name, found, err)
		}
		delete(cut, name)
		if found, err := format.Of(f, named).Newest(cut); !errors.Is(err, format.ErrIncomplete) {
			t.Errorf("%s is gone: %+v, %v", name, found, err)
		}
	}
	if found, err := format.Of(f, []string{"../escape.pt"}).Newest(dir); !errors.Is(err, format.ErrIncomplete) {
		t.Errorf("a name leads out: %+v, %v", found, err)
	}
	// Where no file is one of the format's, they are found as without the list.
	must.Have(format.Of(f, []string{"notes.json"}).Newest(directory("m-1.pt")))(t)
	// A format that sees what belongs together is not told.
	if got := format.Of(format.MXNet{}, named); got != (format.MXNet{}) {
		t.Errorf("%+v", got)
	}
}
