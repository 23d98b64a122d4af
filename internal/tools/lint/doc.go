// Package lint holds this project to its own rules. Its test reads every Go file of the
// repository and fails where one breaks a rule.
//
// # What it checks
//
//   - Packages that compute (drf, alloc, primaldual, growth, placement, the protocol of checkpoint)
//     have no effects: no goroutine, clock, global random source, disk, network, log or printing.
//     Back-ends of alloc/milp, and the journal, the stores, agents and drivers and what runs jobs below checkpoint, are exempt.
//   - The library imports the standard library, itself and the few modules that are named here;
//     its folders import each other only downward. Examples import nothing below internal.
//   - An importer of alloc gets neither the layer of linear programs nor gonum into its program.
//   - Files are renamed by checkpoint/vfs, and by the few that say why not.
//   - Every exported name and every package has a comment.
//   - No function is longer than 80 lines and none takes more than five parameters.
//   - The index in the root package comment names files and symbols that exist, each under a key of its own. Keys of papers,
//     in rows and where files open, are among the references, in which a paper is once. No file that opens with "This file
//     implements ... [paper §]" is missing in the index.
//   - The glossary in the root package comment links to what exists. Names and comments have none of
//     the private words for which the field has a word of its own.
//
// # The index
//
// A row of the index is a line of a preformatted block in the root doc.go with three cells, a tab
// between them: the place in a paper, or a question, in brackets; a file; the names declared in that file, with
// commas between them, a method as Type.Method.
//
//	[Dorm §IV-A (1)-(4)]	alloc/solver/metrics.go	Instance.Objective, Instance.FairnessLoss
//
// # Deviations
//
// Rules look at syntax, not at types: a local variable that has the name of a forbidden package is
// taken for the package. Call it something else.
package lint
