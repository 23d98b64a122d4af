// Package transfer moves checkpoints between the disk of a job and a store.
//
// # What it does
//
// [Save] copies the files that a framework wrote into a store, [Verify] reads a stored checkpoint to its
// end and compares every checksum, [Load] writes one into a directory from which a framework resumes.
// Contents stream through buffers of 1 MiB, so a checkpoint may be larger than memory. Verify reads pieces of parts at
// the same time, at most eight.
//
// # Contract
//
// All three are safe to repeat: Save of the same files under the same number returns the manifest of the
// first time, Load replaces what an interrupted Load left. A directory that Load has filled is complete:
// the files get there under another name and the directory is renamed at the end. They read and write
// inside the directory that they are given only, whatever the names in a manifest and the symbolic links
// in the directory say. Errors name the job, the number and the file, and wrap the errors of package
// checkpoint.
package transfer
