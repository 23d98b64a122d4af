// Package format finds, verifies and names the checkpoints that training frameworks leave on a disk: TensorFlow,
// PyTorch and what builds on it, JAX's Orbax, Keras, MXNet and Caffe. A half-written one is never chosen.
//
// # What it computes
//
// A [Format] lists what looks like a checkpoint in a directory, newest first, and takes the first that is
// complete: all files present, every length within its file, every checksum right. It says which files
// make the checkpoint, by which name the framework loads it, and how many training steps it holds. It
// reads the frameworks' own formats, with nothing of them installed.
//
// # Notation
//
//	format         files                                        what is checked
//	[TensorFlow]   N.index, N.data-0000i-of-0000n, N.meta       CRC-32C of the index and each tensor
//	[PyTorch]      *.pt, *.pth                                  CRC-32 of each record
//	[MXNet]        P-symbol.json, P-000N.params, P-000N.states  the structure, to the last byte
//	[Caffe]        P_iter_N.caffemodel, P_iter_N.solverstate    the structure, and that the two fit
//	[Distributed]  folder: .metadata, *.distcp                  that each tensor is there, CRC-32 of each record
//	[SafeTensors]  *.safetensors, N.safetensors.index.json      the structure, to the last byte; all shards
//	[HuggingFace]  checkpoint-N/                                all that a training needs, each file as above
//	[DeepSpeed]    latest, TAG/*_states.pt                      all processes, CRC-32 of each record
//	[Lightning]    *.ckpt                                       CRC-32 of each record
//	[Keras]        *.keras                                      CRC-32 of each record
//	[Orbax]        N/                                           that it was committed, CRC-32C of the manifests
//
// # Contract
//
// Of several files that make one checkpoint none is accepted alone. Where names do not tell what belongs together, as with
// the loose files of PyTorch, the answer is [ErrAmbiguous] until the job has named its files, see [Of]. Only of a job's
// first checkpoint a file may be taken for all of it that is saved before any other was begun.
//
// Of a checkpoint in which one file was cut off, at whatever byte, none is accepted, with three exceptions: the
// graph in a .meta of TensorFlow, which has no end of its own and is written at once by renaming, may lack
// what follows the description of its saver; and a Caffe model may lack layers without weights at its end. Of Orbax the
// arrays themselves are not read: a whole folder gets its name only when all is written.
//
// Damage within a file is noticed in every bit where the format has checksums: the index and the tensors of
// TensorFlow, the records of PyTorch. Not covered are bytes that no reader looks at: padding, dates and
// attributes in archives. MXNet and Caffe have no checksums. There, a damaged length, magic number or
// shape is noticed, as are types of another size; damaged numbers in arrays and names of arrays are not.
// The same goes for .meta and .states.
//
// Files are read, never written, and never trusted: memory is bounded by a constant for each file, or
// by the number of tensors and records that are really there, and what is read at once by 64 MiB,
// whatever lengths the files claim. Time is linear in the bytes of the checkpoint where there are
// checksums, and in the number of arrays otherwise. Nothing in a pickle is executed.
//
// The functions hold no state and may be called from many goroutines. A directory that changes while it is
// read gives an answer for some moment in between for each file; what was accepted stays
// accepted only while nobody writes to its files.
//
// # Deviations
//
// What the frameworks read and this package does not: TensorFlow's first version of its format and
// compressed indexes, PyTorch's pickles before 1.6 and archives without checksums, MXNet's oldest
// arrays, which have no magic number, Caffe's HDF5 snapshots, and files in directories below other than those in the table.
package format
