// Package trace reads public traces of clusters, row by row: submitted jobs, learning curves and
// measured training speed.
//
// # What it computes
//
// Each reader takes a file's name (for messages only) and its bytes, plain CSV or gzip of it, and
// returns an iterator over typed rows. The first fault ends the iteration with an [*Error] that
// names file, line and column. A reader holds one row at a time, so a trace of any length fits.
//
//	reader       row          columns
//	Jobs         Job          job_id,submit_s,duration_s,gpus,cpus,mem_gb,user,group,tasks,queue_s,
//	                          est_s,status,kind and any others
//	AnyJobs      Job          those, or what sacct, Philly's log and Alibaba's list of pods have
//	Curve        Point        step,t_s,value
//	CurveIndex   CurveInfo    file,points,family,model,dataset,metric,better,t_s_is,note
//	Throughputs  Throughput   gpu_model,job_type,gpus,steps_per_s
//	Placements   StepTime     app,placement,gpus,nodes,local_bsz,step_s,sync_s
//	Scalability  StepTime     app,nodes,gpus,local_bsz,step_s,sync_s
//
// # Notation
//
// A column that ends in _s holds seconds and becomes a time.Duration; mem_gb holds gigabytes and
// stays so. Columns are found by name, in any order.
//
// # Contract
//
// An empty field is unknown, which is not zero: it becomes a [Maybe] that is not Known. Quantities
// are finite and not negative; only the value of a learning curve may be NaN or infinite, which
// says that the run diverged. Rows keep no memory of the reader's.
package trace
