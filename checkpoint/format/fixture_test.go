// This file makes checkpoints in the public formats of the frameworks, and marks the bytes of them that
// nothing protects.

package format_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"testing/fstest"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apportion/apportion/checkpoint/format"
)

// file is the contents of a file under construction. The bytes at the places in free can be damaged
// without notice: numbers in arrays of formats without checksums, and what nobody reads.
type file struct {
	bytes []byte
	free  map[int]bool
}

func (f *file) add(b ...byte) { f.bytes = append(f.bytes, b...) }

func (f *file) addFree(b ...byte) {
	if f.free == nil {
		f.free = map[int]bool{}
	}
	for i := range b {
		f.free[len(f.bytes)+i] = true
	}
	f.bytes = append(f.bytes, b...)
}

func (f *file) u32(v uint32) { f.bytes = binary.LittleEndian.AppendUint32(f.bytes, v) }
func (f *file) u64(v uint64) { f.bytes = binary.LittleEndian.AppendUint64(f.bytes, v) }

// fixture is a directory with two checkpoints of one format.
type fixture struct {
	format     format.Format
	old, new   string
	step       int64
	files      map[string]*file
	unchecked  []string // files of which only truncation is noticed, and not always
	newMembers []string
}

func (f *fixture) dir() fstest.MapFS {
	dir := fstest.MapFS{}
	for name, file := range f.files {
		dir[name] = &fstest.MapFile{Data: file.bytes, Mode: 0o644}
	}
	return dir
}

// with returns the directory with one file replaced; nil removes it.
func (f *fixture) with(name string, contents []byte) fs.FS {
	dir := maps.Clone(f.dir())
	dir[name] = &fstest.MapFile{Data: contents, Mode: 0o644}
	if contents == nil {
		delete(dir, name)
	}
	return dir
}

func fixtures() map[string]*fixture {
	return map[string]*fixture{
		"saver":   saverFixture(),
		"object":  objectFixture(),
		"pytorch": torchFixture(),
		"mxnet":   mxnetFixture(),
		"caffe":   caffeFixture(),
	}
}

// A tensor of a bundle: its key, type and bytes.
type tensor struct {
	key  string
	kind uint64
	data []byte
	// count is the number of elements.
	count uint64
	crc   uint32
}

func masked(crc uint32) uint32 { return (crc>>15 | crc<<17) + 0xa282ead8 }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func numbers(key string, kind uint64, data []byte, count uint64) tensor {
	return tensor{key, kind, data, count, masked(crc32.Checksum(data, castagnoli))}
}

// text returns a tensor of strings: lengths, their checksum, and the bytes.
func text(key string, values ...string) tensor {
	var data, plain []byte
	for _, v := range values {
		data = binary.AppendUvarint(data, uint64(len(v)))
		plain = binary.LittleEndian.AppendUint32(plain, uint32(len(v)))
	}
	sum := binary.LittleEndian.AppendUint32(nil, masked(crc32.Checksum(plain, castagnoli)))
	data, plain = append(data, sum...), append(plain, sum...)
	for _, v := range values {
		data, plain = append(data, v...), append(plain, v...)
	}
	return tensor{key, 7, data, uint64(len(values)), masked(crc32.Checksum(plain, castagnoli))}
}

func (t *tensor) entry(shard int, offset int) []byte {
	dimension := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), t.count)
	shape := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), dimension)
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), t.kind)
	b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), shape)
	for i, v := range []uint64{uint64(shard), uint64(offset), uint64(len(t.data))} {
		if v != 0 {
			b = protowire.AppendVarint(protowire.AppendTag(b, protowire.Number(3+i), protowire.VarintType), v)
		}
	}
	return protowire.AppendFixed32(protowire.AppendTag(b, 6, protowire.Fixed32Type), t.crc)
}

func (f *file) addBlock(entries [][2]string) []byte {
	at := len(f.bytes)
	previous := ""
	for _, e := range entries {
		shared := 0
		for shared < min(len(previous), len(e[0])) && previous[shared] == e[0][shared] {
			shared++
		}
		for _, n := range []int{shared, len(e[0]) - shared, len(e[1])} {
			f.bytes = binary.AppendUvarint(f.bytes, uint64(n))
		}
		f.add([]byte(e[0][shared:] + e[1])...)
		previous = e[0]
	}
	f.u32(0)
	f.u32(1)
	handle := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(at)), uint64(len(f.bytes)-at))
	f.add(0)
	f.u32(masked(crc32.Checksum(f.bytes[at:], castagnoli)))
	return handle
}

// bundle adds the files of a bundle with one shard for each list of tensors, which are sorted by key
// over all. The tensors are in two blocks.
func (f *fixture) bundle(prefix string, shards ...[]tensor) {
	header := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(len(shards)))
	entries := [][2]string{{"", string(header)}}
	for i, tensors := range shards {
		data := &file{}
		for _, t := range tensors {
			entries = append(entries, [2]string{t.key, string(t.entry(i, len(data.bytes)))})
			data.add(t.data...)
		}
		f.files[fmt.Sprintf("%s.data-%05d-of-%05d", prefix, i, len(shards))] = data
	}
	index := &file{}
	half := len(entries) / 2
	first, second := index.addBlock(entries[:half]), index.addBlock(entries[half:])
	properties := index.addBlock(nil)
	handles := index.addBlock([][2]string{{entries[half-1][0], string(first)}, {entries[len(entries)-1][0], string(second)}})
	footer := append(properties, handles...)
	index.add(footer[:len(footer)-1]...)
	index.addFree(footer[len(footer)-1]) // with its highest bit, the number goes on in the zero that follows
	index.addFree(make([]byte, 40-len(footer))...)
	index.u64(0xdb4775248b80fb57)
	f.files[prefix+".index"] = index
}

func int64Bytes(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }

// saverFixture is what tf.train.Saver leaves: two shards, a graph, a state file.
func saverFixture() *fixture {
	f := &fixture{format: format.TensorFlow{}, old: "model.ckpt-90", new: "model.ckpt-100", step: 100, files: map[string]*file{}}
	for _, step := range []int64{90, 100} {
		prefix := fmt.Sprintf("model.ckpt-%d", step)
		f.bundle(prefix,
			[]tensor{numbers("a/w", 1, []byte{1, 2, 3, 4, 5, 6, 7, 8}, 2), numbers("global_step", 9, int64Bytes(step), 1)},
			[]tensor{text("names", "one", "", "three"), numbers("z/empty", 1, nil, 0)})
		meta := &file{}
		for i, size := range []int{3, 12, 2} {
			meta.bytes = protowire.AppendTag(meta.bytes, protowire.Number(i+1), protowire.BytesType)
			inner := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), make([]byte, size-2))
			meta.bytes = protowire.AppendBytes(meta.bytes, inner)
		}
		f.files[prefix+".meta"] = meta
	}
	f.unchecked = []string{"model.ckpt-100.meta"}
	f.newMembers = []string{
		"model.ckpt-100.data-00000-of-00002", "model.ckpt-100.data-00001-of-00002", "model.ckpt-100.index", "model.ckpt-100.meta",
	}
	f.files["checkpoint"] = &file{bytes: []byte("model_checkpoint_path: \"/elsewhere/model.ckpt-100\"\nall_model_checkpoint_paths: \"model.ckpt-90\"\n")}
	return f
}

// objectFixture is what tf.train.Checkpoint leaves, whose numbers count saves: the step is a variable.
func objectFixture() *fixture {
	f := &fixture{format: format.TensorFlow{}, old: "ckpt-9", new: "ckpt-10", step: 1000, files: map[string]*file{}}
	for _, save := range []int64{9, 10} {
		f.bundle(fmt.Sprintf("ckpt-%d", save), []tensor{
			text("_CHECKPOINTABLE_OBJECT_GRAPH", "\x0a\x00graph"),
			numbers("save_counter/.ATTRIBUTES/VARIABLE_VALUE", 9, int64Bytes(save), 1),
			numbers("step/.ATTRIBUTES/VARIABLE_VALUE", 9, int64Bytes(100*save), 1),
		})
	}
	f.newMembers = []string{"ckpt-10.data-00000-of-00001", "ckpt-10.index"}
	return f
}

func torchFixture() *fixture {
	f := &fixture{format: format.PyTorch{StepsPerNumber: 50}, old: "model-2.pt", new: "model-3.pt", step: 150, files: map[string]*file{}}
	for _, n := range []int{2, 3} {
		f.files[fmt.Sprintf("model-%d.pt", n)] = &file{bytes: archive(fmt.Sprintf("model-%d", n), zip.Store)}
	}
	f.newMembers = []string{"model-3.pt"}
	return f
}

// archive returns a zip archive of the records that torch.save makes for two tensors.
func archive(root string, method uint16, more ...string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range append([]string{"data.pkl", "byteorder", "data/0", "data/1", "version"}, more...) {
		contents := []byte("contents of " + name)
		record, err := w.CreateRaw(&zip.FileHeader{
			Name: root + "/" + name, Method: method, CRC32: crc32.ChecksumIEEE(contents),
			CompressedSize64: uint64(len(contents)), UncompressedSize64: uint64(len(contents)),
			Extra: []byte{'F', 'B', 2, 0, 'Z', 'Z'}, // the padding that aligns tensors
		})
		if err != nil {
			panic(err) // a buffer takes everything
		}
		if _, err := record.Write(contents); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func mxnetFixture() *fixture {
	f := &fixture{format: format.MXNet{StepsPerNumber: 1}, old: "net-0099", new: "net-10000", step: 10000, files: map[string]*file{}}
	for _, name := range []string{f.old, f.new} {
		f.files[name+".params"] = arrayList()
		f.files[name+".states"] = &file{bytes: []byte("\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94(K\x00C\x04abcdK\x01]\x94cnumpy\nndarray\nM\x01\x02u.")}
	}
	f.files["net-symbol.json"] = &file{bytes: []byte(`{"nodes":[{"op":"null","name":"data"},{"op":"FullyConnected"}],"arg_nodes":[0],"heads":[[1,0,0]]}`)}
	f.newMembers = []string{"net-10000.params", "net-10000.states", "net-symbol.json"}
	f.unchecked = []string{"net-10000.states", "net-symbol.json"}
	return f
}

// arrayList is a list of arrays of each sort: dense in all versions, sparse by row, compressed rows,
// one without a shape and a scalar.
func arrayList() *file {
	f := &file{}
	f.u64(0x112)
	f.u64(0)
	data := func(n int) []byte { return bytes.Repeat([]byte{0x3f}, n) }
	names := []string{"arg:w", "arg:old", "arg:rows", "arg:csr", "arg:none", "aux:scalar"}
	f.u64(uint64(len(names)))
	device := func(kind uint32) {
		f.addFree(1, 0, 0, 0, 0, 0, 0, 0)
		f.addFree(binary.LittleEndian.AppendUint32(nil, kind)...) // another of the same size goes unnoticed
	}
	shape := func(sizes ...uint64) {
		f.u32(uint32(len(sizes)))
		for _, s := range sizes {
			f.u64(s)
		}
	}
	// Only what is stored of a sparse array must fit, not the shape of the whole.
	freeShape := func(sizes ...uint64) {
		f.u32(uint32(len(sizes)))
		for _, s := range sizes {
			f.addFree(binary.LittleEndian.AppendUint64(nil, s)...)
		}
	}
	f.u32(0xF993FAC9)
	f.u32(0)
	shape(2, 3)
	device(0)
	f.addFree(data(24)...)
	f.u32(0xF993FAC8) // no storage type
	shape(3)
	device(1)
	f.addFree(data(24)...)
	f.u32(0xF993FAC9)
	f.u32(1)
	shape(2, 3) // stored
	freeShape(6, 3)
	device(0)
	f.addFree(6, 0, 0, 0)
	shape(2)
	f.addFree(data(24 + 16)...)
	f.u32(0xF993FAC9)
	f.u32(2)
	freeShape(3) // stored, but not what MXNet goes by
	freeShape(4, 4)
	device(0)
	f.addFree(6, 0, 0, 0)
	shape(5)
	f.addFree(6, 0, 0, 0)
	shape(3)
	f.addFree(data(12 + 40 + 24)...)
	f.u32(0xF993FAC9)
	f.u32(0)
	shape()
	f.u32(0xF993FACA)
	f.u32(0)
	shape()
	device(6)
	f.addFree(data(8)...)
	f.u64(uint64(len(names)))
	for _, name := range names {
		f.u64(uint64(len(name)))
		f.addFree([]byte(name)...)
	}
	return f
}

// caffeFixture is what the snapshot of a solver with two arrays of history for each of weights leaves.
func caffeFixture() *fixture {
	f := &fixture{format: format.Caffe{}, old: "lenet_iter_500", new: "lenet_iter_1000", step: 1000, files: map[string]*file{}}
	for _, n := range []uint64{500, 1000} {
		name := fmt.Sprintf("lenet_iter_%d", n)
		f.files[name+".caffemodel"] = &file{bytes: netParameter(blob(true, 2, 3), blob(true, 3), blob(false, 2, 2))}
		f.files[name+".solverstate"] = &file{bytes: solverState(n, "/snapshots/"+name+".caffemodel",
			blob(true, 2, 3), blob(true, 3), blob(true, 2, 2), blob(true, 2, 3), blob(true, 3), blob(true, 2, 2))}
	}
	f.newMembers = []string{"lenet_iter_1000.caffemodel", "lenet_iter_1000.solverstate"}
	f.unchecked = f.newMembers
	return f
}

// blob returns a BlobProto; packed says whether its data is one field or one for each number.
func blob(packed bool, sizes ...uint64) []byte {
	var dimensions []byte
	count := uint64(1)
	for _, s := range sizes {
		dimensions = protowire.AppendVarint(dimensions, s)
		count *= s
	}
	shape := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), dimensions)
	b := protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), shape)
	if packed {
		return protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), make([]byte, 4*count))
	}
	for range count {
		b = protowire.AppendFixed32(protowire.AppendTag(b, 5, protowire.Fixed32Type), 7)
	}
	return b
}

// netParameter returns a NetParameter with a layer for each array of weights.
func netParameter(blobs ...[]byte) []byte {
	net := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "LeNet")
	for i, blob := range blobs {
		layer := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), fmt.Sprintf("conv%d", i))
		layer = protowire.AppendVarint(protowire.AppendTag(layer, 10, protowire.VarintType), 1)
		layer = protowire.AppendBytes(protowire.AppendTag(layer, 7, protowire.BytesType), blob)
		net = protowire.AppendBytes(protowire.AppendTag(net, 100, protowire.BytesType), layer)
	}
	return net
}

func solverState(iter uint64, model string, history ...[]byte) []byte {
	state := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), iter)
	state = protowire.AppendString(protowire.AppendTag(state, 2, protowire.BytesType), model)
	for _, blob := range history {
		state = protowire.AppendBytes(protowire.AppendTag(state, 3, protowire.BytesType), blob)
	}
	return protowire.AppendVarint(protowire.AppendTag(state, 4, protowire.VarintType), 0)
}
