// This file implements the checkpoints of TensorFlow: tf.train.Saver (version 2 of its format) and
// tf.train.Checkpoint, which write the same files.

package format

import (
	"bufio"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// TensorFlow knows the files that tf.train.Saver and tf.train.Checkpoint write: NAME.index,
// NAME.data-0000i-of-0000n, and NAME.meta with the graph where Saver writes it. Every byte of the index
// and of every tensor is covered by a checksum, and compared, except tensors of type variant.
//
// The newest is the one with the highest number behind the last dash of its name, which is the global
// step for Saver and counts the saves for Checkpoint. Names without a number come last, but the one that
// the file "checkpoint" calls the newest comes first if it has no number. That file is not part of a
// checkpoint: it may name others, and by paths on the machine that wrote it.
//
// Step is the value of a scalar int32 or int64 called global_step, step, or the optimizer's iterations;
// without one the number in the name for Saver, and -1 for Checkpoint.
type TensorFlow struct {
	// Meta demands NAME.meta. Saver writes it last, after the checkpoint can be restored by a program
	// that builds its graph itself. Where the file is present it is checked and belongs to the checkpoint
	// in any case.
	Meta bool
}

// Name returns "tensorflow".
func (TensorFlow) Name() string { return "tensorflow" }

// Newest implements [Format].
func (f TensorFlow) Newest(fsys fs.FS) (Found, error) {
	// The hint matters only where a name has no number, for numbers are more reliable than a file that is
	// written over at each save. A job that saves under one name has no number that could grow.
	latest := latestOf(fsys)
	return newestFile(f, fsys, func(name string) (candidate, bool) {
		prefix, ok := strings.CutSuffix(name, ".index")
		c := candidate{prefix, trailingNumber(prefix)}
		if c.number < 0 && prefix == latest {
			c.number = math.MaxInt64
		}
		return c, ok && prefix != ""
	})
}

// Verify implements [Format]; name is the prefix that Saver.save and Checkpoint.save return, without its
// directory.
func (f TensorFlow) Verify(fsys fs.FS, name string) (Found, error) {
	if err := plain(name); err != nil {
		return Found{}, err
	}
	index := name + ".index"
	b, err := readIndex(fsys, index)
	if err != nil {
		return Found{}, err
	}
	shards, err := b.shardNames(fsys, name)
	if err != nil {
		return Found{}, err
	}
	if err := b.verify(fsys, shards); err != nil {
		return Found{}, damaged(index, err)
	}
	found := Found{Name: name, Files: append(shards, index), Step: -1}
	switch {
	// A negative value is no count. Step has -1 for every unknown one.
	case b.rank > 0:
		found.Step = max(-1, b.steps)
	// Saver puts the global step into the name; Checkpoint counts its saves there, which says nothing about
	// steps.
	case !b.object:
		found.Step = trailingNumber(name)
	}
	meta := name + ".meta"
	// A .meta that is there is what Saver's restore would load, so it has to be whole in any case.
	if _, err := fs.Stat(fsys, meta); err == nil || f.Meta {
		if err := walk(fsys, meta, metaGraph); err != nil {
			return Found{}, err
		}
		found.Files = append(found.Files, meta)
	}
	slices.Sort(found.Files)
	return found, nil
}

// shardNames returns the names of the shards, each of which exists: an index that claims billions of
// them costs no more than the files that are there.
func (b *bundle) shardNames(fsys fs.FS, prefix string) ([]string, error) {
	var shards []string
	for i := range b.shards {
		name := fmt.Sprintf("%s.data-%05d-of-%05d", prefix, i, b.shards)
		if _, err := fs.Stat(fsys, name); err != nil {
			return nil, damaged(name, err)
		}
		shards = append(shards, name)
	}
	return shards, nil
}

// metaGraph walks a MetaGraphDef: information about it (1), the graph (2) down to its nodes, and how to
// restore it (3) must be there. It has no checksum.
func metaGraph(c *cursor) error {
	var seen [4]bool
	err := fields(c, func(f field) error {
		if f.number >= 1 && f.number <= 3 {
			if f.kind != protowire.BytesType {
				return errMalformed
			}
			seen[f.number] = true
		}
		if f.number != 2 {
			return nil
		}
		return fields(c, func(field) error { return nil })
	})
	if err == nil && (!seen[1] || !seen[2] || !seen[3]) {
		err = fmt.Errorf("graph is not whole: %w", errMalformed)
	}
	return err
}

// latestOf returns the name, without its directory, that the file "checkpoint" calls the newest. It is a
// hint: without the file, or with one that says nothing, there is none.
func latestOf(fsys fs.FS) string {
	file, err := open(fsys, "checkpoint")
	if err != nil {
		return ""
	}
	defer file.Close()
	// The file is a text of protocol buffers, of which one field counts. A line beyond 64 KiB ends the scan:
	// then there is no hint.
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		quoted, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "model_checkpoint_path:")
		if !ok {
			continue
		}
		// Text format escapes as Go does, but for this one.
		name, err := strconv.Unquote(strings.ReplaceAll(strings.TrimSpace(quoted), `\'`, `'`))
		if err == nil {
			// The path is of the machine that wrote it, and may lie in another directory by now.
			return path.Base(name)
		}
	}
	return ""
}

// trailingNumber returns the number behind the last dash of a prefix, -1 if there is none.
func trailingNumber(prefix string) int64 {
	digits := prefix[strings.LastIndexByte(prefix, '-')+1:]
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || len(digits) == len(prefix) {
		return -1
	}
	return int64(n)
}
