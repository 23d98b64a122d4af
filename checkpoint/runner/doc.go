// Package runner declares what carries the effects of the checkpoint protocol out that touch
// processes: how the jobs of one training framework start, save, stop and resume.
//
// [Runner] is the contract, [Run] one attempt to run a job, [Saved] the checkpoint that a job has
// written on its own disk, [Progress] how a job stands. Package command implements Runner by the
// commands that an application is submitted with, [Dorm] §III-C2.
package runner
