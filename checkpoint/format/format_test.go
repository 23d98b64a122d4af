// This file tests the choice among checkpoints and the particular ways in which each format can be wrong.

package format_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/internal/must"
)

func TestNothingThere(t *testing.T) {
	for name, f := range fixtures() {
		if found, err := f.format.Newest(fstest.MapFS{}); !errors.Is(err, format.ErrNone) {
			t.Errorf("%s: %+v, %v in an empty directory", name, found, err)
		}
		if found, err := f.format.Newest(os.DirFS(filepath.Join(t.TempDir(), "absent"))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %+v, %v without a directory", name, found, err)
		}
		for _, bad := range []string{"", ".", "..", "../" + f.new, "/" + f.new, "a/" + f.new, "absent", "absent_iter_3", "absent-0001"} {
			if found, err := f.format.Verify(f.dir(), bad); !errors.Is(err, format.ErrIncomplete) {
				t.Errorf("%s: %q: %+v, %v", name, bad, found, err)
			}
		}
	}
}

// TestDeterministic: the order in which a directory lists its files plays no part, and neither do
// directories, links that lead nowhere, and names that almost match.
func TestDeterministic(t *testing.T) {
	noise := []string{"model.ckpt-101.index.tempstate1", "x.index", "ckpt-11", "lenet_iter_2000.caffemodel", "lenet_iter_.solverstate",
		"net-99.params", "net-00000000000000000000001.params", "-0001.params", ".index", "model-9.pt.tmp", "lenet_iter_99999999999.solverstate"}
	for name, f := range fixtures() {
		folder := t.TempDir()
		random := rand.New(rand.NewPCG(3, 4))
		var list []string
		for file := range f.dir() {
			list = append(list, file)
		}
		list = append(list, noise...)
		for range 5 {
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			for _, file := range list {
				contents := []byte("noise")
				if made := f.files[file]; made != nil {
					contents = made.bytes
				}
				must.Do(t, os.WriteFile(filepath.Join(folder, file), contents, 0o600))
			}
			found := must.Have(f.format.Newest(os.DirFS(folder)))(t)
			must.Equal(t, found.Name, f.new, name, found)
		}
	}
}

// TestEscape: a link that leads out of an os.Root is not followed.
func TestEscape(t *testing.T) {
	f := torchFixture()
	outside, inside := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(outside, f.new), f.files[f.new].bytes, 0o600))
	must.Do(t, os.Symlink(filepath.Join(outside, f.new), filepath.Join(inside, f.new)))
	root := must.Have(os.OpenRoot(inside))(t)
	defer root.Close()
	if found, err := f.format.Newest(root.FS()); !errors.Is(err, format.ErrNone) {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := f.format.Newest(os.DirFS(inside)); err != nil || found.Name != f.new {
		t.Errorf("a directory that follows links: %+v, %v", found, err)
	}
}

func TestTensorFlowOrder(t *testing.T) {
	unnumbered := func(state string, prefixes ...string) fstest.MapFS {
		f := &fixture{files: map[string]*file{}}
		for _, p := range prefixes {
			f.bundle(p, []tensor{numbers("w", 1, make([]byte, 8), 2), numbers("x", 1, nil, 0)})
		}
		if state != "" {
			f.files["checkpoint"] = &file{bytes: []byte(state)}
		}
		return f.dir()
	}
	for name, test := range map[string]struct {
		dir  fs.FS
		want string
		step int64
	}{
		"numbers as numbers":          {unnumbered("", "m-9", "m-10"), "m-10", 10},
		"a number before none":        {unnumbered("", "best", "m-3"), "m-3", 3},
		"names where nothing tells":   {unnumbered("", "a", "b"), "b", -1},
		"the state file tells":        {unnumbered("model_checkpoint_path: \"a\"\n", "a", "b", "m-4"), "a", -1},
		"an older state file":         {unnumbered("model_checkpoint_path: \"m-9\"\n", "m-9", "m-10"), "m-10", 10},
		"a state file with a path":    {unnumbered("model_checkpoint_path: \"/away/it\\'s\"\n", "it's", "z"), "it's", -1},
		"a broken state file":         {unnumbered("model_checkpoint_path: \"a", "a", "b"), "b", -1},
		"no number but digits":        {unnumbered("", "m9", "7"), "m9", -1},
		"a number that overflows":     {unnumbered("", "m-99999999999999999999", "m-1"), "m-1", 1},
		"the state file names others": {unnumbered("model_checkpoint_path: \"gone\"\n", "a", "b"), "b", -1},
	} {
		found, err := format.TensorFlow{}.Newest(test.dir)
		if err != nil || found.Name != test.want || found.Step != test.step {
			t.Errorf("%s: %+v, %v, want %s at %d", name, found, err, test.want, test.step)
		}
	}
}

func TestTensorFlowBundles(t *testing.T) {
	two := []tensor{numbers("a", 1, []byte{1, 2, 3, 4}, 1), numbers("b", 1, []byte{5, 6, 7, 8}, 1)}
	wrongSum := numbers("b", 1, []byte{5, 6, 7, 8}, 1)
	wrongSum.crc++
	tooFew := text("s", "one", "two")
	tooFew.count = 1
	variant := tensor{key: "v", kind: 21, data: []byte("anything"), count: 1, crc: 1}
	for name, test := range map[string]struct {
		tensors []tensor
		damage  func(files map[string]*file)
		reason  string
	}{
		"whole":            {two, func(map[string]*file) {}, ""},
		"variant":          {[]tensor{two[0], variant}, func(map[string]*file) {}, ""},
		"longer data":      {two, func(files map[string]*file) { files["m.data-00000-of-00001"].add(0) }, ""},
		"wrong checksum":   {[]tensor{two[0], wrongSum}, func(map[string]*file) {}, "m.data-00000-of-00001 is not complete: tensor at 4: checksum differs"},
		"string too few":   {[]tensor{two[0], tooFew}, func(map[string]*file) {}, "lengths of strings"},
		"index of another": {two, func(files map[string]*file) { files["m.data-00000-of-00001"] = &file{bytes: []byte("otherone")} }, "checksum differs"},
		"bad meta":         {two, func(files map[string]*file) { files["m.meta"] = &file{bytes: []byte{0x12, 0}} }, "graph is not whole"},
		"no index":         {two, func(files map[string]*file) { files["m.index"] = &file{} }, "0 bytes hold no footer"},
	} {
		f := &fixture{files: map[string]*file{}}
		f.bundle("m", test.tensors)
		test.damage(f.files)
		_, err := format.TensorFlow{}.Verify(f.dir(), "m")
		if test.reason == "" && err != nil || test.reason != "" && (!errors.Is(err, format.ErrIncomplete) || !strings.Contains(err.Error(), test.reason)) {
			t.Errorf("%s: %v, want %q", name, err, test.reason)
		}
	}
	f := &fixture{files: map[string]*file{}}
	f.bundle("m", two)
	must.Fail((format.TensorFlow{Meta: true}).Verify(f.dir(), "m"))(t, fs.ErrNotExist, "demanded meta is missing")
}

func TestTensorFlowStep(t *testing.T) {
	int32Bytes := []byte{42, 0, 0, 0}
	graph := text("_CHECKPOINTABLE_OBJECT_GRAPH", "graph")
	for name, test := range map[string]struct {
		tensors []tensor
		want    int64
	}{
		"number in the name":      {[]tensor{numbers("w", 1, int32Bytes, 1)}, 5},
		"counts saves":            {[]tensor{graph, numbers("w", 1, int32Bytes, 1)}, -1},
		"global step":             {[]tensor{numbers("global_step", 9, int64Bytes(7), 1), numbers("w", 1, nil, 0)}, 7},
		"narrow":                  {[]tensor{numbers("global_step", 3, int32Bytes, 1), numbers("w", 1, nil, 0)}, 42},
		"of another type":         {[]tensor{numbers("global_step", 1, int32Bytes, 1), numbers("w", 1, nil, 0)}, 5},
		"not a scalar":            {[]tensor{numbers("global_step", 9, make([]byte, 16), 2), numbers("w", 1, nil, 0)}, 5},
		"negative":                {[]tensor{numbers("global_step", 9, int64Bytes(-9), 1), numbers("w", 1, nil, 0)}, -1},
		"step before iterations":  {[]tensor{numbers("optimizer/_iterations/.ATTRIBUTES/VARIABLE_VALUE", 9, int64Bytes(1), 1), numbers("step/.ATTRIBUTES/VARIABLE_VALUE", 9, int64Bytes(2), 1)}, 2},
		"iterations if that only": {[]tensor{graph, numbers("optimizer/_iterations/.ATTRIBUTES/VARIABLE_VALUE", 9, int64Bytes(8), 1)}, 8},
	} {
		f := &fixture{files: map[string]*file{}}
		f.bundle("m-5", test.tensors)
		found := must.Have(format.TensorFlow{}.Verify(f.dir(), "m-5"))(t)
		must.Equal(t, found.Step, test.want, name, found)
	}
}

func TestPyTorchArchives(t *testing.T) {
	unsummed := func() []byte { // a checksum of zero, which zip readers take for none
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for _, name := range []string{"m/data.pkl", "m/version"} {
			record := must.Have(w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Store, CompressedSize64: 1, UncompressedSize64: 1}))(t)
			must.Have(record.Write([]byte("x")))(t)
		}
		must.Do(t, w.Close())
		return out.Bytes()
	}
	for name, test := range map[string]struct {
		contents []byte
		reason   string
	}{
		"whole":         {archive("m", zip.Store), ""},
		"unknown more":  {archive("m", zip.Store, ".format_version"), ""},
		"compressed":    {archive("m", zip.Deflate), "does not belong here"},
		"twice":         {archive("m", zip.Store, "data/1"), "does not belong here"},
		"no archive":    {[]byte("\x80\x02a pickle of the form before 1.6."), "not a valid zip file"},
		"no checksums":  {unsummed(), "checksum differs"},
		"another's":     {archive("..", zip.Store)[:40], "not a valid zip file"},
		"without root":  {archive("", zip.Store), ""},
		"empty archive": {[]byte("PK\x05\x06" + strings.Repeat("\x00", 18)), "no records"},
	} {
		dir := fstest.MapFS{"m.pt": &fstest.MapFile{Data: test.contents}}
		_, err := format.PyTorch{}.Verify(dir, "m.pt")
		if test.reason == "" && err != nil || test.reason != "" && (!errors.Is(err, format.ErrIncomplete) || !strings.Contains(err.Error(), test.reason)) {
			t.Errorf("%s: %v, want %q", name, err, test.reason)
		}
	}
}

func TestPyTorchNames(t *testing.T) {
	whole := &fstest.MapFile{Data: archive("m", zip.Store)}
	dir := fstest.MapFS{"epoch_9_step_120.pt": whole, "epoch_10_step_90.pth": whole, "best.pt": whole, "m-500.bin": whole}
	for name, test := range map[string]struct {
		format format.PyTorch
		want   format.Found
	}{
		"default": {format.PyTorch{Patterns: []string{"*.pth"}}, format.Found{Name: "epoch_10_step_90.pth", Files: []string{"epoch_10_step_90.pth"}, Step: -1}},
		"steps":   {format.PyTorch{Patterns: []string{"epoch*.pt"}, StepsPerNumber: 1}, format.Found{Name: "epoch_9_step_120.pt", Files: []string{"epoch_9_step_120.pt"}, Step: 120}},
		"pattern": {format.PyTorch{Patterns: []string{"*.bin"}, StepsPerNumber: 3}, format.Found{Name: "m-500.bin", Files: []string{"m-500.bin"}, Step: 1500}},
	} {
		found, err := test.format.Newest(dir)
		if diff := cmp.Diff(test.want, found); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	must.Fail((format.PyTorch{Patterns: []string{"["}}).Newest(dir))(t, must.ErrAny, "a bad pattern is not refused")
}

func TestCaffePairs(t *testing.T) {
	whole := caffeFixture()
	weights := whole.files["lenet_iter_1000.caffemodel"].bytes
	blobs := [][]byte{blob(true, 2, 3), blob(true, 3), blob(true, 2, 2)}
	state := func(iter uint64, model string, history ...[]byte) []byte {
		return solverState(iter, model, history...)
	}
	doubled := append(bytes.Clone(weights), netParameter(blobs[2])...) // a layer that shares its weights
	for name, test := range map[string]struct {
		model, state []byte
		reason       string
	}{
		"one history":         {weights, state(7, "m_iter_7.caffemodel", blobs...), ""},
		"shared weights":      {doubled, state(7, "m_iter_7.caffemodel", blobs...), ""},
		"another iteration":   {weights, state(8, "m_iter_7.caffemodel", blobs...), "at iteration 8"},
		"another model":       {weights, state(7, "n_iter_7.caffemodel", blobs...), `the state of "n_iter_7.caffemodel"`},
		"a layer lost":        {netParameter(blobs[:2]...), state(7, "m_iter_7.caffemodel", blobs...), "do not fit"},
		"no history":          {weights, state(7, "m_iter_7.caffemodel"), "do not fit"},
		"uneven history":      {weights, state(7, "m_iter_7.caffemodel", append(blobs, blobs[0])...), "do not fit"},
		"no weights":          {netParameter(nil), state(7, "m_iter_7.caffemodel"), "array of 1 with 0"},
		"no layers":           {[]byte{}, state(7, "m_iter_7.caffemodel"), "no layers"},
		"cut between fields":  {weights, state(7, "m_iter_7.caffemodel", blobs...)[:len(state(7, "m_iter_7.caffemodel", blobs...))-2], "no field at the end"},
		"shape without data":  {netParameter(blob(true, 3)[:5]), state(7, "m_iter_7.caffemodel", blobs...), "array of 3 with 0 elements"},
		"not a state":         {weights, []byte("text"), "malformed"},
		"name without an end": {weights, []byte{0x12, 0xff, 0xff, 0x7f}, "beyond the end"},
	} {
		dir := fstest.MapFS{"m_iter_7.caffemodel": {Data: test.model}, "m_iter_7.solverstate": {Data: test.state}}
		found, err := format.Caffe{}.Verify(dir, "m_iter_7")
		if test.reason == "" && (err != nil || found.Step != 7) || test.reason != "" && (!errors.Is(err, format.ErrIncomplete) || !strings.Contains(err.Error(), test.reason)) {
			t.Errorf("%s: %v, want %q", name, err, test.reason)
		}
	}
}

func TestMXNetNames(t *testing.T) {
	whole := mxnetFixture()
	dir := whole.dir()
	dir["other-0200.params"] = dir["net-0099.params"] // without a network
	found, err := format.MXNet{}.Newest(dir)
	if err != nil || found.Name != "net-10000" || found.Step != -1 {
		t.Errorf("%+v, %v", found, err)
	}
	delete(dir, "net-10000.params")
	found, err = format.MXNet{StepsPerNumber: 20}.Newest(dir)
	if err != nil || found.Name != "net-0099" || found.Step != 1980 || len(found.Skipped) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	delete(dir, "net-0099.states")
	must.Fail((format.MXNet{States: true}).Newest(dir))(t, format.ErrNone, "demanded states are missing")
}

// TestMXNetSymbol: what is no network, and numbers that would overflow.
func TestMXNetSymbol(t *testing.T) {
	whole := mxnetFixture()
	for _, bad := range []string{"", "{}", "[]", `{"nodes":[{}],"heads":[[0]],"arg_nodes":[1]}`, `{"nodes":[{}],"heads":[[0]],"arg_nodes":[-1]}`, `{"nodes":[{}]}`} {
		must.Fail(whole.format.Verify(whole.with("net-symbol.json", []byte(bad)), whole.new))(t, format.ErrIncomplete, bad)
	}
	huge := &file{}
	huge.u64(0x112)
	huge.u64(0)
	huge.u64(1)
	huge.u32(0xF993FAC9)
	huge.u32(0)
	huge.u32(3)
	for range 3 {
		huge.u64(1 << 40)
	}
	if _, err := whole.format.Verify(whole.with("net-10000.params", huge.bytes), whole.new); err == nil || !strings.Contains(err.Error(), "dimension of") {
		t.Error(err)
	}
}

// TestMXNetStates: a pickle is whole when its last byte is its stop, and the first that could be one.
func TestMXNetStates(t *testing.T) {
	whole := mxnetFixture()
	pickle := string(whole.files["net-10000.states"].bytes)
	for name, test := range map[string]struct{ contents, reason string }{
		"protocol 2":     {"\x80\x02}q\x00(K\x00cm\nn\nX\x01\x00\x00\x00au.", ""},
		"text in it":     {"\x80\x04\x8c\x03a.b\x94.", ""},
		"bytes behind":   {pickle + "x", "1 bytes behind the end"},
		"another behind": {pickle + pickle, "bytes behind the end"},
		"protocol 0":     {"(dp0\n.", "no pickle"},
		"started twice":  {"\x80\x04\x80\x04.", "no pickle"},
		"no opcode":      {"\x80\x04\xff.", "opcode 0xff"},
		"endless name":   {"\x80\x02c" + strings.Repeat("x", 5000), "no end of line"},
		"long string":    {"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "beyond the end"},
	} {
		_, err := whole.format.Verify(whole.with("net-10000.states", []byte(test.contents)), whole.new)
		if test.reason == "" && err != nil || test.reason != "" && (!errors.Is(err, format.ErrIncomplete) || !strings.Contains(err.Error(), test.reason)) {
			t.Errorf("%s: %v, want %q", name, err, test.reason)
		}
	}
}

// failing is a file system whose files fail to be read.
type failing struct{ fstest.MapFS }

var errDisk = errors.New("disk failed")

type failingFile struct{ fs.File }

func (failingFile) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

func (f failing) Open(name string) (fs.File, error) {
	file, err := f.MapFS.Open(name)
	if err != nil || name == "." {
		return file, err
	}
	return failingFile{file}, nil
}

// TestDiskFails: an error of reading is in the reason why there is no checkpoint.
func TestDiskFails(t *testing.T) {
	for name, f := range fixtures() {
		found, err := f.format.Newest(failing{f.dir()})
		if !errors.Is(err, format.ErrNone) || !errors.Is(err, errDisk) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

func ExampleTensorFlow_Newest() {
	f := &fixture{files: map[string]*file{}}
	for _, step := range []int{90, 100} {
		f.bundle(fmt.Sprintf("model.ckpt-%d", step), []tensor{numbers("w", 1, make([]byte, 8), 2), numbers("x", 1, nil, 0)})
	}
	data := f.files["model.ckpt-100.data-00000-of-00001"]
	data.bytes = data.bytes[:5] // half-written: the process was killed

	found, err := format.TensorFlow{}.Newest(f.dir())
	fmt.Println(found.Name, found.Step, err)
	for _, skipped := range found.Skipped {
		fmt.Println("passed over:", skipped.Reason)
	}
	saved := found.Saved("/jobs/vae/checkpoints")
	fmt.Println(saved.Dir, saved.Files)
	// Output:
	// model.ckpt-90 90 <nil>
	// passed over: model.ckpt-100.data-00000-of-00001 is not complete: tensor at 0: 8 bytes at 0 reach beyond the end: unexpected EOF
	// /jobs/vae/checkpoints [model.ckpt-90.data-00000-of-00001 model.ckpt-90.index]
}

// BenchmarkVerify reads a checkpoint of 64 MiB with checksums.
func BenchmarkVerify(b *testing.B) {
	const size = 64 << 20
	data := bytes.Repeat([]byte{1, 2, 3, 4}, size/4)
	f := &fixture{files: map[string]*file{}}
	f.bundle("m-1", []tensor{{"w", 1, data, size / 4, masked(crc32.Checksum(data, castagnoli))}, numbers("x", 1, nil, 0)})
	dir := f.dir()
	b.Run("format=tensorflow/bytes=64Mi", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			must.Have((format.TensorFlow{}).Verify(dir, "m-1"))(b)
		}
	})
}
