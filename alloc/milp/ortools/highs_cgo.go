//go:build cgo && (linux || darwin)

// This file implements the calls of HiGHS' own C interface.

package ortools

/*
#include <stdint.h>
#include <stdlib.h>

// What a callback may look at while a search runs: the request to stop, the Go handle of what has been
// found so far, the last bound told to it, and HiGHS' accessor of the numbers that come with a report.
typedef struct {
	int stop, log; // log: reports are wanted
	uintptr_t found;
	double bound;
	const void *(*item)(const void *, const char *);
} highs_watch;

void apportionHighsText(uintptr_t found, char *text);
void apportionHighsReport(uintptr_t found, int64_t nodes, double objective, double bound);
void apportionHighsBound(uintptr_t found, double bound);
void apportionHighsPoint(uintptr_t found, double *values);

// Kinds of callback: a line of the log, the interrupts of the simplex and interior point methods, a
// better point, a report and the interrupt of the integer search.
enum { highs_logging, highs_simplex, highs_ipm, highs_improving = 4, highs_mip_logging, highs_mip };

static void highs_callback(int kind, const char *text, const void *out, void *in, void *user) {
	highs_watch *watch = user;
	if (kind == highs_simplex || kind == highs_ipm || kind == highs_mip) {
		if (__atomic_load_n(&watch->stop, __ATOMIC_RELAXED)) *(int *)in = 1; // its first field
	}
	if (kind == highs_logging) apportionHighsText(watch->found, (char *)text);
	if (kind < highs_improving) return;

	const int64_t *nodes = watch->item(out, "mip_node_count");
	const double *objective = watch->item(out, "mip_primal_bound");
	const double *bound = watch->item(out, "mip_dual_bound");
	if (kind == highs_improving) {
		const double *values = watch->item(out, "mip_solution");
		if (values) apportionHighsPoint(watch->found, (double *)values);
	}
	if (bound && *bound != watch->bound) apportionHighsBound(watch->found, watch->bound = *bound);
	if (kind == highs_mip_logging && watch->log && nodes && objective && bound)
		apportionHighsReport(watch->found, *nodes, *objective, *bound);
}

static void highs_stop(highs_watch *watch) { __atomic_store_n(&watch->stop, 1, __ATOMIC_RELAXED); }

static void *highs_new(void *f) { return ((void *(*)(void))f)(); }
static void highs_free(void *f, void *highs) { ((void (*)(void *))f)(highs); }
static int highs_call(void *f, void *highs) { return ((int (*)(void *))f)(highs); }
static int highs_version(void *f) { return ((int (*)(void))f)(); }

static int highs_set_int(void *f, void *highs, const char *name, int value) {
	return ((int (*)(void *, const char *, int))f)(highs, name, value);
}
static int highs_set_double(void *f, void *highs, const char *name, double value) {
	return ((int (*)(void *, const char *, double))f)(highs, name, value);
}
static int highs_get(void *f, void *highs, const char *name, void *value) {
	return ((int (*)(void *, const char *, void *))f)(highs, name, value);
}
static int highs_listen(void *set, void *start, void *highs, highs_watch *watch) {
	static const int kinds[] = {highs_simplex, highs_ipm, highs_improving, highs_mip_logging, highs_mip, highs_logging};
	int status = ((int (*)(void *, void (*)(int, const char *, const void *, void *, void *), void *))set)(
		highs, highs_callback, watch);
	for (int k = 0; k < (watch->log ? 6 : 5) && status == 0; k++)
		status = ((int (*)(void *, int))start)(highs, kinds[k]);
	return status;
}

typedef struct {
	int columns, rows, nonzeros;
	double offset;
} highs_size;

static int highs_pass(void *f, void *highs, highs_size size, const double *cost, const double *lower, const double *upper,
                      const double *row_lower, const double *row_upper, const int *start, const int *index,
                      const double *coefs, const int *integer) {
	return ((int (*)(void *, int, int, int, int, int, double, const double *, const double *, const double *,
	                 const double *, const double *, const int *, const int *, const double *, const int *))f)(
		highs, size.columns, size.rows, size.nonzeros, 2, 1, size.offset, // by rows, minimised
		cost, lower, upper, row_lower, row_upper, start, index, coefs, integer);
}
static int highs_hint(void *f, void *highs, int count, const int *index, const double *value) {
	return ((int (*)(void *, int, const int *, const double *))f)(highs, count, index, value);
}
static int highs_point(void *f, void *highs, double *values, double *row_values) {
	return ((int (*)(void *, double *, double *, double *, double *))f)(highs, values, 0, row_values, 0);
}
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/cgo"
	"unsafe"
)

var (
	highsNames     = []string{"libhighs.so.1", "libhighs.1.dylib"}
	highsFunctions = []string{
		"Highs_create", "Highs_destroy", "Highs_versionMajor", "Highs_versionMinor", "Highs_getSizeofHighsInt",
		"Highs_setIntOptionValue", "Highs_setBoolOptionValue", "Highs_setDoubleOptionValue",
		"Highs_setCallback", "Highs_startCallback", "Highs_getCallbackDataOutItem",
		"Highs_passMip", "Highs_setSparseSolution", "Highs_run", "Highs_getModelStatus", "Highs_getSolution",
		"Highs_getIntInfoValue", "Highs_getInt64InfoValue", "Highs_getDoubleInfoValue",
	}
)

type highsLibrary struct{ functions symbols }

// openHiGHS loads libhighs from the folder and checks its version, since the kinds of callback are
// numbers.
func openHiGHS(folder string) (highsLibrary, error) {
	// All functions are looked up before the first is called, so a library that lacks one is
	// refused and not half used.
	functions, err := load(folder, highsNames, highsFunctions)
	if err != nil {
		return highsLibrary{}, err
	}
	major, minor := int(C.highs_version(functions["Highs_versionMajor"])), int(C.highs_version(functions["Highs_versionMinor"]))
	if major != highsMajor || minor < highsMinor {
		return highsLibrary{}, unavailable(fmt.Sprintf("HiGHS is version %d.%d, not %d.%d or a later %d",
			major, minor, highsMajor, highsMinor, highsMajor), candidates(folder, highsNames))
	}
	return highsLibrary{functions}, nil
}

// solve runs HiGHS on a thread of its own, which ends with the search: HiGHS keeps its pool of
// workers by thread, and a pool's size cannot change. It looks at its interrupts between the steps of a
// search only, some of which are long. So a caller whose context has ended takes what has been found
// so far; everything of C is the thread's, which frees it.
func (l highsLibrary) solve(ctx context.Context, p *highsProblem) (highsAnswer, error) {
	return untilLeft(ctx, grace, func() (highsAnswer, error) {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		return l.run(ctx, p)
	}, p.found.leave)
}

// run makes one HiGHS object, hands the model over, solves, reads the answer, and frees all of it.
// Deferred calls run in the order that C needs: the object goes before the watch and the handle
// that its callbacks use.
// ctx is looked at by the watcher alone: a search that was left still gets its end.
func (l highsLibrary) run(ctx context.Context, p *highsProblem) (highsAnswer, error) {
	f := l.functions
	// watch is C's memory, because C keeps its address during the search and may not keep a Go
	// pointer.
	watch := (*C.highs_watch)(C.calloc(1, C.sizeof_highs_watch))
	defer C.free(unsafe.Pointer(watch))
	// The handle stands for the Go value in C; it is deleted when no callback can come any more.
	handle := cgo.NewHandle(p.found)
	defer handle.Delete()
	*(*unsafe.Pointer)(unsafe.Pointer(&watch.item)) = f["Highs_getCallbackDataOutItem"]
	watch.found, watch.bound = C.uintptr_t(handle), C.double(p.found.bound)
	if p.found.log != nil {
		watch.log = 1
	}
	highs := C.highs_new(f["Highs_create"])
	defer C.highs_free(f["Highs_destroy"], highs) // before what its callbacks use
	if size := C.highs_call(f["Highs_getSizeofHighsInt"], highs); size != C.sizeof_int {
		return highsAnswer{}, unavailable(fmt.Sprintf("HiGHS was built with integers of %d bytes", size), highsNames)
	}
	if err := l.setOptions(highs, p); err != nil {
		return highsAnswer{}, err
	}
	if err := l.pass(highs, p); err != nil {
		return highsAnswer{}, err
	}
	if C.highs_listen(f["Highs_setCallback"], f["Highs_startCallback"], highs, watch) != 0 {
		return highsAnswer{}, errors.New("HiGHS takes no callback")
	}
	// finish waits for the watcher, so stop never writes into a watch that was freed.
	finish := stopOn(ctx, func() { C.highs_stop(watch) })
	status := C.highs_call(f["Highs_run"], highs)
	finish()
	answer := l.read(highs, len(p.cost), len(p.rowLower))
	// An error together with a stop is no failure: the answer says what was found by then.
	if status < 0 && !answer.stopped() {
		return answer, fmt.Errorf("HiGHS fails with model status %d", answer.status)
	}
	return answer, nil
}

// setOptions sets every option; one that HiGHS does not take is an error.
// Options are set in their order, so that a later one of the same name counts.
func (l highsLibrary) setOptions(highs unsafe.Pointer, p *highsProblem) error {
	for _, o := range p.options {
		name := C.CString(o.name)
		var status C.int
		switch value := o.value.(type) {
		case bool:
			asked := C.int(0)
			if value {
				asked = 1
			}
			status = C.highs_set_int(l.functions["Highs_setBoolOptionValue"], highs, name, asked)
		case int32:
			status = C.highs_set_int(l.functions["Highs_setIntOptionValue"], highs, name, C.int(value))
		case float64:
			status = C.highs_set_double(l.functions["Highs_setDoubleOptionValue"], highs, name, C.double(value))
		}
		// The name is freed in every round and not at the end: there may be many options.
		C.free(unsafe.Pointer(name))
		if status != 0 {
			return fmt.Errorf("HiGHS does not take %s = %v", o.name, o.value)
		}
	}
	return nil
}

// pass hands the model and the starting point to HiGHS, which copies both.
// No Go memory is C's after it has returned.
func (l highsLibrary) pass(highs unsafe.Pointer, p *highsProblem) error {
	size := C.highs_size{
		columns: C.int(len(p.cost)), rows: C.int(len(p.rowLower)), nonzeros: C.int(len(p.coefs)), offset: C.double(p.offset),
	}
	if status := C.highs_pass(l.functions["Highs_passMip"], highs, size, doubles(p.cost), doubles(p.lower), doubles(p.upper),
		doubles(p.rowLower), doubles(p.rowUpper), ints(p.start), ints(p.index), doubles(p.coefs), ints(p.integer)); status != 0 {
		return fmt.Errorf("HiGHS does not take the model as it is: status %d", status)
	}
	if len(p.hintIndex) > 0 && C.highs_hint(l.functions["Highs_setSparseSolution"], highs,
		C.int(len(p.hintIndex)), ints(p.hintIndex), doubles(p.hintValue)) < 0 {
		return errors.New("HiGHS does not take the starting solution")
	}
	return nil
}

// doubles and ints pass a slice for the time of one call; an empty one is a null pointer or one
// that is not read.
func doubles(values []float64) *C.double {
	return (*C.double)(unsafe.Pointer(unsafe.SliceData(values)))
}
func ints(values []int32) *C.int { return (*C.int)(unsafe.Pointer(unsafe.SliceData(values))) }

// read collects what HiGHS found.
// It runs on the thread of the search, after its end and before the object is freed.
func (l highsLibrary) read(highs unsafe.Pointer, columns, rows int) highsAnswer {
	var (
		primal C.int
		// -1 is what HiGHS leaves in place where no integer search has begun.
		nodes            C.int64_t = -1
		objective, bound C.double
	)
	get := func(function, name string, value unsafe.Pointer) {
		cName := C.CString(name)
		defer C.free(unsafe.Pointer(cName))
		C.highs_get(l.functions[function], highs, cName, value)
	}
	get("Highs_getIntInfoValue", "primal_solution_status", unsafe.Pointer(&primal))
	get("Highs_getInt64InfoValue", "mip_node_count", unsafe.Pointer(&nodes))
	get("Highs_getDoubleInfoValue", "objective_function_value", unsafe.Pointer(&objective))
	get("Highs_getDoubleInfoValue", "mip_dual_bound", unsafe.Pointer(&bound))
	answer := highsAnswer{
		status: int(C.highs_call(l.functions["Highs_getModelStatus"], highs)),
		nodes:  int64(nodes), objective: float64(objective), bound: float64(bound),
	}
	if nodes < 0 { // the integer search had not begun: the bound says nothing
		answer.nodes, answer.bound = 0, math.Inf(-1)
	}
	if primal == highsPointFeasible {
		answer.values = make([]float64, columns)
		// The row activities are asked for and dropped; null pointers stand for the duals.
		activities := make([]float64, rows)
		C.highs_point(l.functions["Highs_getSolution"], highs, doubles(answer.values), doubles(activities))
	}
	return answer
}
