// This file declares Run and RunSharded, the lists of all checks.

package storetest

import (
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// Run runs the conformance suite as subtests of t. newStore returns an empty store; it is called once for each check, may use
// t.Cleanup, and its store is not closed. The suite takes seconds on a local disk, and up to about 70 MiB of it, 9 MiB with
// -short.
func Run(t *testing.T, newStore func(t *testing.T) store.Store) {
	// From the simple to the composite: of several checks that fail, the first is the one to look at.
	for _, test := range []struct {
		name string
		run  func(c check)
	}{
		{"Empty", testEmpty},
		{"Identity", testIdentity},
		{"VisibleAfterCommitOnly", testVisible},
		{"Contents", testContents},
		{"ReadInPieces", testPieces},
		{"Ranges", testRanges},
		{"ReaderEnds", testReader},
		{"ListAscending", testList},
		{"JobsApart", testJobs},
		{"CommitAgain", testCommitAgain},
		{"CommitOtherContent", testOtherContent},
		{"LateWriter", testLateWriter},
		{"Fence", testFence},
		{"FenceBesideWriters", testFenceBeside},
		{"Abort", testAbort},
		{"WriterOrder", testOrder},
		{"TakenFiles", testTake},
		{"PartNames", testPartNames},
		{"JobNames", testJobNames},
		{"Numbers", testNumbers},
		{"Delete", testDelete},
		{"ErrorsNameTheCheckpoint", testErrors},
		{"ContextEndedBefore", testEndedBefore},
		{"ContextEndsWhileWriting", testEndsWriting},
		{"ContextEndsWhileReading", testEndsReading},
		{"WritersOfOneNumber", testOneNumber},
		{"WritersOfTheSame", testSameParts},
		{"WritersAndReaders", testWritersReaders},
		{"LargerThanMemory", testStreaming},
		{"DamagedPart", testDamagedPart},
		{"DamagedRange", testDamagedRange},
		{"DamagedManifest", testDamagedManifest},
		{"Leftovers", testLeftovers},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(check{t, newStore(t)}) })
	}
}

// RunSharded runs the conformance suite of [store.Sharded] as subtests of t, beside [Run] and not in its place. newStore is as
// for Run.
func RunSharded(t *testing.T, newStore func(t *testing.T) store.Sharded) {
	for _, test := range []struct {
		name string
		run  func(c shardCheck)
	}{
		{"VisibleAfterJoinOnly", testJoin},
		{"ShareAgain", testShareAgain},
		{"OnePartOfTwoShares", testSharesOfOneName},
		{"OtherWidths", testWidths},
		{"WritersOfAllShares", testSharesAtOnce},
		{"FenceBeforeJoin", testJoinFenced},
		{"DeleteShares", testDeleteShares},
		{"PruneShares", testPruneShares},
		{"WriterDies", testShareOfTheDead},
		{"BadShares", testBadShares},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStore(t)
			test.run(shardCheck{check{t, s}, s})
		})
	}
}
