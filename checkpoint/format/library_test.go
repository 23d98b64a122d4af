// This file tests the formats of today's libraries on what these have written: whole, cut, and with files missing.

package format_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/internal/must"
)

// library returns the folder that a library has written, see testdata/library/README.md; below names one in it.
func library(t testing.TB, name, below string) fstest.MapFS {
	t.Helper()
	packed := must.Have(zip.OpenReader(filepath.Join("testdata", "library", name+".zip")))(t)
	defer packed.Close()
	dir := fstest.MapFS{}
	for _, file := range packed.File {
		contents := must.Have(file.Open())(t)
		data := must.Have(io.ReadAll(contents))(t)
		inside, ok := strings.CutPrefix(file.Name, below)
		if ok && !(below == "" && strings.HasPrefix(file.Name, "sharded/")) {
			dir[inside] = &fstest.MapFile{Data: data, Mode: 0o644}
		}
	}
	return dir
}

// written is what a library has written, and what is to be found in it.
type written struct {
	library, below string
	format         format.Format
	newest, older  string
	step           int64
	// free are files without which, or cut, a checkpoint is whole all the same: the framework does not need them.
	// Of uncut ones only the form is checked, so that a cut goes unseen.
	free, uncut []string
}

var libraries = map[string]written{
	"distributed": {library: "dcp", format: format.Distributed(1), newest: "step-20", older: "step-10", step: 20},
	"safetensors": {library: "safetensors", format: format.SafeTensors{StepsPerNumber: 1}, newest: "model-20.safetensors",
		older: "model-10.safetensors", step: 20},
	"safetensors, shards": {library: "safetensors", below: "sharded/", format: format.SafeTensors{}, newest: "model.safetensors.index.json", step: -1},
	"huggingface": {library: "huggingface", format: format.HuggingFace(), newest: "checkpoint-2", step: 2,
		free: []string{"config.json", "training_args.bin"}},
	"deepspeed": {library: "deepspeed", format: format.DeepSpeed(), newest: "global_step2", older: "global_step1", step: 2, uncut: []string{"latest"}},
	"lightning": {library: "lightning", format: format.Lightning(), newest: "last.ckpt", older: "epoch=0-step=4.ckpt", step: 4},
	"keras":     {library: "keras", format: format.Keras(1), newest: "model-20.keras", older: "model-10.keras", step: 20},
	"orbax": {library: "orbax", format: format.Orbax(), newest: "20", older: "10", step: 20,
		free:  []string{"commit_success.txt", "_sharding", "array_metadatas/process_0"},
		uncut: []string{"d/"}},
}

// is reports whether a file is called as one of a list says: by its end, or, with a slash, as a folder that it is in.
func is(file string, list []string) bool {
	return slices.ContainsFunc(list, func(name string) bool {
		return strings.HasSuffix(file, name) || strings.HasSuffix(name, "/") && strings.Contains(file, "/"+name)
	})
}

// What a library has written is found: the newest, with its step and every file that it has.
func TestLibraries(t *testing.T) {
	for name, w := range libraries {
		dir := library(t, w.library, w.below)
		found, err := w.format.Newest(dir)
		if err != nil || found.Name != w.newest || found.Step != w.step || len(found.Skipped) > 0 {
			t.Errorf("%s: %+v, %v", name, found, err)
			continue
		}
		if verified, err := w.format.Verify(dir, w.newest); err != nil || !cmp.Equal(verified, found) {
			t.Errorf("%s: %+v, %v", name, verified, err)
		}
		var want []string
		for file := range dir {
			if file == w.newest || strings.HasPrefix(file, w.newest+"/") || file == "latest" || w.below != "" {
				want = append(want, file)
			}
		}
		slices.Sort(want)
		must.Equal(t, cmp.Diff(want, found.Files), "", name)
		// A job that names the files of one checkpoint gets that one, and the runner resumes from it.
		must.Have(format.Of(w.format, found.Files).Newest(only(dir, found.Files)))(t, name, "named")
	}
}

// only returns of a directory these files.
func only(dir fstest.MapFS, files []string) fstest.MapFS {
	left := fstest.MapFS{}
	for _, file := range files {
		left[file] = dir[file]
	}
	return left
}

// A library that was killed has written some of its files, and of one of them the beginning: whichever these are, the
// newest checkpoint is then passed over, and the one before it found.
func TestLibrariesCut(t *testing.T) {
	for name, w := range libraries {
		dir := library(t, w.library, w.below)
		found := must.Have(w.format.Newest(dir))(t)
		for _, file := range found.Files {
			data := dir[file].Data
			lengths := []int{-1, 0, 1, len(data) / 2, len(data) - 1}
			if testing.Short() {
				lengths = []int{-1, 0, len(data) - 1}
			}
			for _, length := range lengths {
				// Nothing tells a folder with one file less in it, or a text that was cut, from one that never had more.
				if is(file, w.free) || length == len(data)-1 && data[length] == '\n' || length >= 0 && is(file, w.uncut) || length == -1 && is(file, w.uncut) && file != "latest" {
					continue
				}
				cut := maps.Clone(dir)
				if cut[file] = (&fstest.MapFile{Data: data[:max(0, length)]}); length == -1 {
					delete(cut, file)
				}
				got, err := w.format.Newest(cut)
				switch {
				case w.older == "" || file == "latest":
					must.Err(t, err, format.ErrNone, name, file, "cut to", length, got)
				case err != nil || got.Name != w.older || len(got.Skipped) != 1 && length >= 0:
					t.Errorf("%s, %s cut to %d: %+v, %v", name, file, length, got, err)
				}
			}
		}
	}
}

// Where the format has checksums, a flipped bit is seen in all but what nobody reads.
func TestLibrariesFlipped(t *testing.T) {
	for _, name := range []string{"distributed", "huggingface", "deepspeed", "lightning", "keras", "orbax"} {
		w := libraries[name]
		dir := library(t, w.library, w.below)
		found := must.Have(w.format.Newest(dir))(t)
		seen, tried := 0, 0
		for _, file := range found.Files {
			data := dir[file].Data
			if base := path.Base(file); !strings.Contains(".pt .pth .bin .distcp .ckpt .keras", path.Ext(base)) && base != "manifest.ocdbt" || path.Ext(base) == "" && base != "manifest.ocdbt" {
				continue
			}
			for at := 0; at < len(data); at += max(1, len(data)/40) {
				flipped := maps.Clone(dir)
				contents := bytes.Clone(data)
				contents[at] ^= 0x10
				flipped[file] = &fstest.MapFile{Data: contents}
				tried++
				if got, err := w.format.Newest(flipped); err != nil || got.Name != found.Name {
					seen++
				}
			}
		}
		// Padding, dates and attributes of archives are read by nobody; in archives of a few numbers they are a large part.
		if tried == 0 || name == "orbax" && seen < tried || seen*6 < tried {
			t.Errorf("%s: of %d flipped bits %d were seen", name, tried, seen)
		}
	}
}

// What a library fills under another name, or has not listed as the latest, does not count yet.
func TestUnfinished(t *testing.T) {
	orbax := library(t, "orbax", "")
	for file, contents := range library(t, "orbax", "20/") {
		orbax["30.orbax-checkpoint-tmp-77/"+file] = contents
	}
	if found, err := format.Orbax().Newest(orbax); err != nil || found.Name != "20" {
		t.Errorf("%+v, %v", found, err)
	}
	orbax["20/_CHECKPOINT_METADATA"] = &fstest.MapFile{Data: bytes.Replace(orbax["20/_CHECKPOINT_METADATA"].Data, []byte(`"commit_timestamp_nsecs": 1`), []byte(`"commit_timestamp_nsecs":-1`), 1)}
	if found, err := format.Orbax().Newest(orbax); err != nil || found.Name != "10" {
		t.Errorf("%+v, %v", found, err)
	}
	deepspeed := library(t, "deepspeed", "")
	deepspeed["latest"] = &fstest.MapFile{Data: []byte("global_step1\n")}
	if found, err := format.DeepSpeed().Newest(deepspeed); err != nil || found.Name != "global_step1" || found.Step != 1 || !slices.Contains(found.Files, "latest") {
		t.Errorf("%+v, %v", found, err)
	}
	deepspeed["latest"] = &fstest.MapFile{Data: []byte("global_step3")}
	if found, err := format.DeepSpeed().Newest(deepspeed); err != nil || found.Name != "global_step2" || slices.Contains(found.Files, "latest") {
		t.Errorf("%+v, %v", found, err)
	}
	deepspeed["global_step2/mp_rank_01_model_states.pt"] = deepspeed["global_step2/mp_rank_00_model_states.pt"]
	if found, err := format.DeepSpeed().Newest(deepspeed); err != nil || found.Name != "global_step1" {
		t.Errorf("a part of the model too many: %+v, %v", found, err)
	}
	delete(deepspeed, "global_step2/mp_rank_01_model_states.pt")
	// Two processes of the four that the model's file would tell of are not enough; one that it does not tell of is not either.
	delete(deepspeed, "global_step2/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt")
	deepspeed["global_step2/bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"] = deepspeed["global_step1/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt"]
	if found, err := format.DeepSpeed().Newest(deepspeed); err != nil || found.Name != "global_step1" {
		t.Errorf("%+v, %v", found, err)
	}
}

// A folder is believed by what is in it, not by its name alone.
func TestHuggingFaceFolders(t *testing.T) {
	whole := library(t, "huggingface", "")
	moved := fstest.MapFS{}
	for file, contents := range whole {
		moved[strings.Replace(file, "checkpoint-2/", "checkpoint-12/", 1)] = contents
	}
	if found, err := format.HuggingFace().Newest(moved); !errors.Is(err, format.ErrNone) || !strings.Contains(err.Error(), "step") {
		t.Errorf("a folder of another step: %+v, %v", found, err)
	}
	ranks := maps.Clone(whole)
	ranks["checkpoint-2/rng_state_0.pth"], ranks["checkpoint-2/rng_state_2.pth"] = ranks["checkpoint-2/rng_state.pth"], ranks["checkpoint-2/rng_state.pth"]
	delete(ranks, "checkpoint-2/rng_state.pth")
	if found, err := format.HuggingFace().Newest(ranks); !errors.Is(err, format.ErrNone) || !strings.Contains(err.Error(), "rng_state_1.pth") {
		t.Errorf("a process is missing: %+v, %v", found, err)
	}
	// A model in shards, whose shard is missing.
	sharded := maps.Clone(whole)
	delete(sharded, "checkpoint-2/model.safetensors")
	for file, contents := range library(t, "safetensors", "sharded/") {
		sharded["checkpoint-2/"+file] = contents
	}
	if found, err := format.HuggingFace().Newest(sharded); err != nil || len(found.Files) != 11 {
		t.Errorf("shards: %+v, %v", found, err)
	}
	delete(sharded, "checkpoint-2/model-00002-of-00004.safetensors")
	if found, err := format.HuggingFace().Newest(sharded); !errors.Is(err, format.ErrNone) || !strings.Contains(err.Error(), "model-00002") {
		t.Errorf("a shard is missing: %+v, %v", found, err)
	}
	// The optimizer in folders of other writers.
	for writer, name := range map[string]string{"dcp": "optimizer_0", "deepspeed": "global_step2"} {
		other := maps.Clone(whole)
		delete(other, "checkpoint-2/optimizer.pt")
		below := map[string]string{"dcp": "step-20/", "deepspeed": "global_step2/"}[writer]
		for file, contents := range library(t, writer, below) {
			other["checkpoint-2/"+name+"/"+file] = contents
		}
		if writer == "deepspeed" {
			other["checkpoint-2/latest"] = &fstest.MapFile{Data: []byte("global_step2")}
		}
		if found, err := format.HuggingFace().Newest(other); err != nil {
			t.Errorf("%s: %+v, %v", writer, found, err)
		}
		for file := range other {
			if strings.HasPrefix(file, "checkpoint-2/"+name+"/") {
				cut := maps.Clone(other)
				cut[file] = &fstest.MapFile{Data: other[file].Data[:len(other[file].Data)-1]}
				if found, err := format.HuggingFace().Newest(cut); !errors.Is(err, format.ErrNone) {
					t.Errorf("%s is cut: %+v, %v", file, found, err)
				}
			}
		}
	}
}

// Files of safetensors beside an index may be anything: the choice is the job's.
func TestSafeTensorsBeside(t *testing.T) {
	dir := library(t, "safetensors", "sharded/")
	dir["optimizer.safetensors"] = library(t, "safetensors", "")["model-10.safetensors"]
	if found, err := (format.SafeTensors{}).Newest(dir); !errors.Is(err, format.ErrAmbiguous) {
		t.Errorf("%+v, %v", found, err)
	}
	delete(dir, "model.safetensors.index.json")
	if found, err := (format.SafeTensors{}).Newest(dir); !errors.Is(err, format.ErrAmbiguous) {
		t.Errorf("shards without their index: %+v, %v", found, err)
	}
	all := slices.Sorted(maps.Keys(dir))
	if found, err := format.Of(format.SafeTensors{}, all).Newest(dir); err != nil || len(found.Files) != 5 {
		t.Errorf("named: %+v, %v", found, err)
	}
}

// What a file claims of others, and of itself, is not believed.
func TestClaims(t *testing.T) {
	// A table that names the file of another folder, which is there and whole.
	entry := func(file string) string {
		return "\x80\x02(X\x0d\x00\x00\x00relative_pathU" + string(rune(len(file))) + file + "X\x06\x00\x00\x00offsetK\x00X\x06\x00\x00\x00lengthK\x05t."
	}
	for file, whole := range map[string]bool{"__0_0.distcp": true, "../b/__0_0.distcp": false, "": false} {
		dir := fstest.MapFS{"a/.metadata": {Data: []byte(entry(file))}, "a/__0_0.distcp": {Data: []byte("12345")}, "b/__0_0.distcp": {Data: []byte("12345")}}
		if found, err := format.Distributed(0).Verify(dir, "a"); (err == nil) != whole {
			t.Errorf("a table that names %q: %+v, %v", file, found, err)
		}
	}
	// A file of safetensors with a byte behind its tensors, or a gap between them.
	tensors := library(t, "safetensors", "")["model-20.safetensors"].Data
	for what, contents := range map[string][]byte{
		"a byte more": append(bytes.Clone(tensors), 0), "a gap": bytes.Replace(tensors, []byte("[0,16]"), []byte("[1,16]"), 1),
		"an overlap": bytes.Replace(tensors, []byte("[16,20]"), []byte("[15,20]"), 1), "no type": bytes.Replace(tensors, []byte(`"dtype"`), []byte(`"dtypo"`), 1),
	} {
		if bytes.Equal(contents, tensors) {
			t.Fatalf("%s: the header is not as expected: %.140q", what, tensors)
		}
		if found, err := (format.SafeTensors{}).Verify(fstest.MapFS{"m.safetensors": {Data: contents}}, "m.safetensors"); err == nil {
			t.Errorf("%s: %+v", what, found)
		}
	}
	// An index that names a tensor which its shard lacks.
	dir := library(t, "safetensors", "sharded/")
	index := dir["model.safetensors.index.json"]
	dir["model.safetensors.index.json"] = &fstest.MapFile{Data: bytes.Replace(index.Data, []byte(`"layer0"`), []byte(`"layer9"`), 1)}
	if found, err := (format.SafeTensors{}).Newest(dir); !errors.Is(err, format.ErrNone) || !strings.Contains(err.Error(), "layer9") {
		t.Errorf("%+v, %v", found, err)
	}
	// An archive whose checksums are zero has none.
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range []string{"metadata.json", "config.json", "model.weights.h5"} {
		record, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Store, CompressedSize64: 2, UncompressedSize64: 2})
		if err == nil {
			_, err = record.Write([]byte("{}"))
		}
		must.Do(t, err)
	}
	must.Do(t, w.Close())
	if found, err := format.Keras(0).Verify(fstest.MapFS{"m.keras": {Data: out.Bytes()}}, "m.keras"); err == nil {
		t.Errorf("%+v", found)
	}
	// A file of torch.save without the state of a training is none of Lightning's.
	plainFile := fstest.MapFS{"m.ckpt": library(t, "huggingface", "")["checkpoint-2/optimizer.pt"]}
	if found, err := format.Lightning().Verify(plainFile, "m.ckpt"); !errors.Is(err, format.ErrIncomplete) {
		t.Errorf("%+v, %v", found, err)
	}
}

// FuzzLibraries replaces one file of a real checkpoint by anything: what Newest finds, Verify accepts, and nothing panics.
func FuzzLibraries(f *testing.F) {
	type place struct {
		w    written
		dir  fs.FS
		file string
	}
	var places []place
	for _, name := range slices.Sorted(maps.Keys(libraries)) {
		w := libraries[name]
		dir := library(f, w.library, w.below)
		found := must.Have(w.format.Newest(dir))(f)
		for _, file := range found.Files {
			f.Add(uint8(len(places)), dir[file].Data)
			places = append(places, place{w, dir, file})
		}
	}
	f.Fuzz(func(t *testing.T, at uint8, contents []byte) {
		p := places[int(at)%len(places)]
		dir := maps.Clone(p.dir.(fstest.MapFS))
		dir[p.file] = &fstest.MapFile{Data: contents}
		found, err := p.w.format.Newest(dir)
		if err == nil {
			if again, err := p.w.format.Verify(dir, found.Name); err != nil || again.Step != found.Step {
				t.Errorf("Newest finds %+v, and Verify says %+v, %v", found, again, err)
			}
		} else if !errors.Is(err, format.ErrNone) {
			t.Error(err)
		}
	})
}
