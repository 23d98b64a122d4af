//go:build cgo && (linux || darwin)

// This file implements the loading of shared libraries at run time and CP-SAT's C entry points.

package ortools

/*
#cgo linux LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

static int ort_version(void *f) { return ((int (*)(void))f)(); }
static void *ort_new(void *f) { return ((void *(*)(void))f)(); }
static void ort_use(void *f, void *object) { ((void (*)(void *))f)(object); }
static void ort_mute(void *f) { ((void (*)(void *, void *))f)(0, 0); }

static void ort_cp_solve(void *f, void *env, const void *model, int model_size,
                         const void *parameters, int parameters_size, void **response, int *response_size) {
	((void (*)(void *, const void *, int, const void *, int, void **, int *))f)(
		env, model, model_size, parameters, parameters_size, response, response_size);
}

static int ort_mo_solve(void *f, const void *model, size_t size, int engine, void *interrupter,
                        void **result, size_t *result_size, char **message) {
	return ((int (*)(const void *, size_t, int, void *, void **, size_t *, char **))f)(
		model, size, engine, interrupter, result, result_size, message);
}
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// symbols are the functions of one library by name. They stay valid: libraries are never unloaded.
type symbols map[string]unsafe.Pointer

// loaded is what the process has loaded. Two copies of a library in one process clash, so the place
// of the first is the place of all.
var loaded struct {
	sync.Mutex
	any       bool
	folder    string
	libraries map[string]symbols // by the first of the file names
}

// load returns the functions of the first library of that name that there is, loading it once.
// The lock is held while the loader works, some tenths of a second the first time, and others wait for
// it.
func load(folder string, names, functions []string) (symbols, error) {
	loaded.Lock()
	defer loaded.Unlock()
	// A second copy is refused and not tried: what clashes does so later, in the middle of a
	// search.
	if loaded.any && loaded.folder != folder {
		return nil, unavailable(fmt.Sprintf("this process has loaded it from %q already, and two copies clash", loaded.folder),
			candidates(folder, names))
	}
	// Libraries are never unloaded, so what was looked up once stays valid.
	if found, ok := loaded.libraries[names[0]]; ok {
		return found, nil
	}
	paths := candidates(folder, names)
	var whys []string
	for _, path := range paths {
		handle, why := open(path)
		if handle == nil {
			whys = append(whys, why)
			continue
		}
		// From here the library is in the process, even where a function is missing: the place is
		// settled.
		loaded.any, loaded.folder = true, folder
		found, err := lookup(handle, path, functions)
		if err != nil {
			return nil, err
		}
		if loaded.libraries == nil {
			loaded.libraries = map[string]symbols{}
		}
		loaded.libraries[names[0]] = found
		return found, nil
	}
	return nil, unavailable(strings.Join(whys, "; "), paths)
}

// open loads one file, or says why not.
// The text of the loader's error is copied at once: the next call of the thread overwrites it.
func open(path string) (handle unsafe.Pointer, why string) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	runtime.LockOSThread() // each thread has an error of its own
	defer runtime.UnlockOSThread()
	// RTLD_NOW finds missing dependencies here and not in the middle of a search; RTLD_LOCAL keeps
	// its symbols apart.
	handle = C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if handle == nil {
		why = C.GoString(C.dlerror())
	}
	return handle, why
}

// lookup finds the functions by name. All but scipErrors must be there.
func lookup(handle unsafe.Pointer, path string, functions []string) (symbols, error) {
	found := make(symbols, len(functions))
	for _, function := range functions {
		name := C.CString(function)
		found[function] = C.dlsym(handle, name)
		C.free(unsafe.Pointer(name))
		if found[function] == nil && function != scipErrors {
			return nil, unavailable("it has no function "+function, []string{path})
		}
	}
	return found, nil
}

// scipErrors says where SCIP's error messages go. A library without it is as good.
const scipErrors = "SCIPmessageSetErrorPrinting"

// muteSCIP turns these messages off: whenever a search can be interrupted MathOpt asks for an event that
// SCIP does not have, and SCIP complains about that on stderr. What fails in earnest MathOpt tells.
var muteSCIP sync.Once

// The functions of libortools. The version is known to C++ only, under these mangled names.
const (
	majorVersion = "_ZN19operations_research19OrToolsMajorVersionEv"
	minorVersion = "_ZN19operations_research19OrToolsMinorVersionEv"
)

var (
	orToolsNames     = []string{"libortools.so.9", "libortools.9.dylib"}
	orToolsFunctions = []string{
		majorVersion, minorVersion,
		"SolveCpNewEnv", "SolveCpInterruptible", "SolveCpStopSearch", "SolveCpDestroyEnv",
		"MathOptNewInterrupter", "MathOptInterrupt", "MathOptFreeInterrupter", "MathOptSolve", "MathOptFree", scipErrors,
	}
)

// orTools is the library with its engines.
type orTools struct{ functions symbols }

// openORTools loads libortools from the folder and checks its version.
func openORTools(folder string) (orTools, error) {
	functions, err := load(folder, orToolsNames, orToolsFunctions)
	if err != nil {
		return orTools{}, err
	}
	major, minor := int(C.ort_version(functions[majorVersion])), int(C.ort_version(functions[minorVersion]))
	if major != wantMajor || minor < wantMinor {
		return orTools{}, unavailable(fmt.Sprintf("it is version %d.%d, not %d.%d or a later %d",
			major, minor, wantMajor, wantMinor, wantMajor), candidates(folder, orToolsNames))
	}
	muteSCIP.Do(func() {
		if functions[scipErrors] != nil {
			C.ort_mute(functions[scipErrors])
		}
	})
	return orTools{functions}, nil
}

// solveCP hands a CpModelProto and SatParameters to CP-SAT and returns a CpSolverResponse. An end of
// ctx ends the search. An environment serves one solve: a second one on it would abort the process.
// model and parameters must not change before it returns, which for a search that was left is after its
// call.
func (l orTools) solveCP(ctx context.Context, model, parameters message) ([]byte, error) {
	if err := checkSize(model); err != nil {
		return nil, err
	}
	env := C.ort_new(l.functions["SolveCpNewEnv"])
	defer C.ort_use(l.functions["SolveCpDestroyEnv"], env)
	defer stopOn(ctx, func() { C.ort_use(l.functions["SolveCpStopSearch"], env) })()

	var (
		response unsafe.Pointer
		size     C.int
	)
	// Both slices stay in place during the call, and the engine copies what it needs.
	C.ort_cp_solve(l.functions["SolveCpInterruptible"], env,
		unsafe.Pointer(unsafe.SliceData(model)), C.int(len(model)),
		unsafe.Pointer(unsafe.SliceData(parameters)), C.int(len(parameters)), &response, &size)
	defer C.free(response)
	if size < 0 {
		return nil, errors.New("CP-SAT's response has more than 2 GiB")
	}
	return C.GoBytes(response, size), nil
}

// checkSize refuses a message that OR-Tools would end the process for.
func checkSize(model message) error {
	if len(model) > math.MaxInt32 {
		return fmt.Errorf("the message has %d bytes, OR-Tools takes %d", len(model), math.MaxInt32)
	}
	return nil
}

// solveMathOpt hands a ModelProto to an engine behind MathOpt and returns a SolveResultProto. An end
// of ctx ends the search.
// The engine ends the process for numbers that it does not know, so that only those of type engine are
// passed.
func (l orTools) solveMathOpt(ctx context.Context, solver engine, model message) ([]byte, error) {
	if err := checkSize(model); err != nil {
		return nil, err
	}
	var interrupter unsafe.Pointer
	if ctx.Done() != nil {
		// A context that never ends needs none.
		interrupter = C.ort_new(l.functions["MathOptNewInterrupter"])
		defer C.ort_use(l.functions["MathOptFreeInterrupter"], interrupter)
		defer stopOn(ctx, func() { C.ort_use(l.functions["MathOptInterrupt"], interrupter) })()
	}

	var (
		result unsafe.Pointer
		size   C.size_t
		text   *C.char
	)
	code := C.ort_mo_solve(l.functions["MathOptSolve"], unsafe.Pointer(unsafe.SliceData(model)), C.size_t(len(model)),
		C.int(solver), interrupter, &result, &size, &text)
	defer C.ort_use(l.functions["MathOptFree"], result)
	// Both results are C's, also after an error; freeing a null pointer is allowed.
	defer C.ort_use(l.functions["MathOptFree"], unsafe.Pointer(text))
	if code != 0 {
		return nil, fmt.Errorf("MathOpt: %s (status %d)", C.GoString(text), int(code))
	}
	if size > math.MaxInt32 {
		return nil, fmt.Errorf("MathOpt's result has %d bytes", uint64(size))
	}
	return C.GoBytes(result, C.int(size)), nil
}
