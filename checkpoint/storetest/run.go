// This file declares Run, the list of all tests of the suite.

package storetest

import (
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// Run runs the conformance suite as subtests of t. newStore returns an empty store; it is called
// once for each test and may use t.Cleanup.
// A store that passes can stand under the protocol: what the suite asks for is what the master and the agents rely on when a
// process dies, an answer is lost or an attempt comes late. It costs seconds on a local disk, most of them in the streaming of
// a large part and in the races.
func Run(t *testing.T, newStore func(t *testing.T) store.Store) {
	// The tests go from the simple to the composite: when several fail, the first is the one to look at.
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s store.Store)
	}{
		// What is visible, and that it is what was written.
		{"Empty", testEmpty},
		{"Identity", testIdentity},
		{"VisibleAfterCommitOnly", testVisible},
		{"Contents", testContents},
		{"ReadInPieces", testPieces},
		{"Ranges", testRanges},
		{"ReaderEnds", testReader},
		{"ListAscending", testList},
		{"JobsApart", testJobs},
		// What a commit may meet, and the order in which a writer is used.
		{"CommitAgain", testCommitAgain},
		{"CommitOtherContent", testOtherContent},
		{"LateWriter", testLateWriter},
		{"Fence", testFence},
		{"FenceBesideWriters", testFenceBeside},
		{"Abort", testAbort},
		{"WriterOrder", testOrder},
		{"TakenFiles", testTake},
		// What is refused.
		{"PartNames", testPartNames},
		{"JobNames", testJobNames},
		{"Numbers", testNumbers},
		{"Delete", testDelete},
		// What errors say, and contexts that end.
		{"ErrorsNameTheCheckpoint", testErrors},
		{"ContextEndedBefore", testEndedBefore},
		{"ContextEndsWhileWriting", testEndsWriting},
		{"ContextEndsWhileReading", testEndsReading},
		// Many at the same time, and much.
		{"WritersOfOneNumber", testOneNumber},
		{"WritersOfTheSame", testSameParts},
		{"WritersAndReaders", testWritersReaders},
		{"LargerThanMemory", testStreaming},
		// Damage and deaths; these need a store that can show more.
		// A skip here is no pass: what was not shown was not tested, and `go test -v` names it.
		{"DamagedPart", testDamagedPart},
		{"DamagedRange", testDamagedRange},
		{"DamagedManifest", testDamagedManifest},
		{"Leftovers", testLeftovers},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, newStore(t)) })
	}
}
