// This file implements the checkpoints of Caffe: PREFIX_iter_N.caffemodel and PREFIX_iter_N.solverstate.

package format

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const (
	// Snapshots in HDF5 add .h5 to both, and so are passed over.
	modelSuffix = ".caffemodel"
	stateSuffix = ".solverstate"
	iterMark    = "_iter_"
)

// Caffe knows the pairs of files that a solver's snapshot in binary form makes: the weights in
// PREFIX_iter_N.caffemodel and then the solver's own state in PREFIX_iter_N.solverstate. Snapshots in
// HDF5 it does not know.
//
// Neither file has a checksum. The state must tell the iteration of its name, name the model, and
// hold its last field. A model that was cut between two layers is well-formed by itself: it is noticed
// because the state keeps an array of the same size for every array of weights, in the same order. Damage
// to the numbers in an array is not noticed, nor is the loss of layers without weights at the end.
//
// The newest is the one with the highest N, which is its Step.
type Caffe struct{}

// Name returns "caffe".
func (Caffe) Name() string { return "caffe" }

// Newest implements [Format].
func (f Caffe) Newest(fsys fs.FS) (Found, error) {
	return newestFile(f, fsys, func(name string) (candidate, bool) {
		stem, ok := strings.CutSuffix(name, stateSuffix)
		n := iteration(stem)
		return candidate{stem, n}, ok && n >= 0
	})
}

// iteration returns N of PREFIX_iter_N, -1 if the name has another form.
func iteration(stem string) int64 {
	at := strings.LastIndex(stem, iterMark)
	if at < 0 {
		return -1
	}
	n, err := strconv.ParseUint(stem[at+len(iterMark):], 10, 31) // an int32 in the state
	if err != nil {
		return -1
	}
	return int64(n)
}

// Verify implements [Format]; name is PREFIX_iter_N.
func (f Caffe) Verify(fsys fs.FS, name string) (Found, error) {
	if err := plain(name); err != nil {
		return Found{}, err
	}
	n := iteration(name)
	if n < 0 {
		return Found{}, incomplete(strconv.Quote(name), "not of the form PREFIX_iter_N")
	}
	model, stateFile := name+modelSuffix, name+stateSuffix
	var state solverState
	if err := walk(fsys, stateFile, state.read); err != nil {
		return Found{}, err
	}
	// The state names its model by the path of the machine that wrote it, of which only the last element can
	// be compared. A renamed pair is refused: Caffe would look for the model of the old name.
	if state.iter != n || path.Base(state.model) != model {
		return Found{}, incomplete(stateFile, "it is the state of %q at iteration %d", state.model, state.iter)
	}
	var weights []int64
	err := walk(fsys, model, func(c *cursor) (err error) {
		weights, err = modelBlobs(c)
		return err
	})
	if err != nil {
		return Found{}, err
	}
	// Order: the state was read first, since it is small and refuses most half-written pairs without a walk
	// over the model.
	if !covers(weights, state.history) {
		return Found{}, incomplete(model, "%d arrays do not fit the %d of the solver's state", len(weights), len(state.history))
	}
	return Found{Name: name, Files: []string{model, stateFile}, Step: n}, nil
}

// covers reports whether a solver with this history has trained these weights; both are numbers of
// elements. A history holds one array, or as many as the solver's method needs, for each array of
// weights: all first ones, then all second ones. Arrays that several layers share are stored with each
// layer, but have one history.
func covers(weights, history []int64) bool {
	// A solver without history has trained nothing, and so there must be nothing to train.
	if len(history) == 0 {
		return len(weights) == 0
	}
	const most = 2 // arrays for each array of weights, in Adam and AdaDelta
	for per := 1; per <= most; per++ {
		if len(history)%per == 0 && inOrder(history, weights, len(history)/per) {
			return true
		}
	}
	return false
}

// inOrder reports whether the history is the same n numbers again and again, and those appear in this
// order among the weights.
func inOrder(history, weights []int64, n int) bool {
	for i, size := range history {
		if size != history[i%n] {
			return false
		}
	}
	for _, size := range weights {
		// history is matched as a subsequence: weights that are shared appear more than once, and their
		// history only at the first.
		if n > 0 && size == history[0] {
			history, n = history[1:], n-1
		}
	}
	return n == 0
}
