// Package blobstore keeps the checkpoints of jobs in a bucket: of S3, Google Cloud Storage or Azure, in a
// directory, or in memory, through gocloud.dev/blob. It is a module of its own, so that who does not use
// it does not depend on the SDKs of clouds.
//
// # What it does
//
// [Store] implements [store.Store]. The parts of a checkpoint are objects under a name that no other
// writer has; the checkpoint becomes visible with one further object, the manifest, that is written last
// and only if it does not exist yet. Keys are
//
//	<job>/<number>/manifest          the manifest and small parts, in the form of package store; <job> is its [store.Folder]
//	<job>/<number>/<place>/<index>   the parts 0, 1, 2, ...; the manifest names the place
//	<job>/fence/<number>             the fence of the job, once there was one
//	<job>/fence/<number>.settled     what was committed below it
//	%identity                        the identity of the store, once somebody has asked for it
//
// [Open] takes the URL of a bucket. The schemes that it knows are those whose driver the program imports,
// and it pays for no other:
//
//	s3://bucket?region=eu-west-1                   _ "gocloud.dev/blob/s3blob"
//	gs://bucket                                    _ "gocloud.dev/blob/gcsblob"
//	azblob://container                             _ "gocloud.dev/blob/azureblob"
//	file:///directory?no_tmp_dir=1&metadata=skip   _ "gocloud.dev/blob/fileblob"
//	mem://                                         _ "gocloud.dev/blob/memblob"
//
// A store in a part of a bucket is blob.PrefixedBucket, or prefix= in the URL.
//
// # Contract
//
// That of store.Store. Beyond:
//
//   - Durability is that of the medium. The clouds promise it; the driver for directories does not sync,
//     so there a checkpoint survives the process, not the machine: use package store/files. It wants metadata=skip, or it
//     writes a second file beside each, of which readers meet the half.
//   - Of several writers of one number exactly one wins, because the medium refuses to write a manifest
//     that exists. The drivers for S3, Google, Azure and memory do that in one step. The driver for
//     directories looks first and writes then: writers that share a Store are kept apart, those of
//     several processes are not. A driver of another origin must implement IfNotExist of
//     blob.WriterOptions.
//   - A writer has Options.Grace from Begin to Commit; later its Commit fails. [Store.Collect] deletes
//     the parts of writers that began more than twice as long ago and that no manifest names. What lies
//     between is for clocks that differ and for a request that is under way. Clocks of machines that
//     write and collect must therefore agree within Grace.
//   - A manifest that arrives behind a fence, from a request that was under way, is there and not visible: it is not the
//     one that the fence knows.
//   - If the answer to writing the manifest is lost, Commit looks for it; if that fails, too, it returns
//     an error, and nobody deletes the parts but Collect: the manifest may yet arrive.
//   - An upload that is cancelled is aborted. If even that request is lost, S3 keeps, and charges for,
//     blocks that nobody sees: a lifecycle rule for incomplete uploads removes them.
//
// # Cost
//
// A commit is one request for the manifest beside those for the parts that are not small, which the driver uploads in blocks,
// several at a time; memory is a few blocks, see Options.BlockBytes, and one that looks for a fence. Open is two requests,
// List one more than one for each number and one for each thousand objects of the job, Collect lists the whole bucket.
package blobstore
