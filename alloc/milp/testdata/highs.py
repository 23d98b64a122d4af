"""Reads files with HiGHS itself, through its C interface, and prints what it has understood, one JSON object a line.

usage: highs.py LIBRARY FILE...
"""

import ctypes
import json
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_void_p, create_string_buffer

lib = ctypes.CDLL(sys.argv[1])
lib.Highs_create.restype = c_void_p
lib.Highs_getInfinity.restype = c_double


def vectors(call, highs, count):
    """Calls getColsByRange or getRowsByRange twice: for the number of coefficients, and for everything."""
    width = 3 if call is lib.Highs_getColsByRange else 2
    numbers, found, nonzeros = [(c_double * max(count, 1))() for _ in range(width)], c_int(), c_int()
    call(highs, 0, count - 1, byref(found), *numbers, byref(nonzeros), None, None, None)
    start, index, value = (c_int * (count + 1))(), (c_int * (nonzeros.value + 1))(), (c_double * (nonzeros.value + 1))()
    call(highs, 0, count - 1, byref(found), *numbers, byref(nonzeros), start, index, value)
    start[count] = nonzeros.value
    return numbers, start, index, value


def read(path):
    highs = c_void_p(lib.Highs_create())
    lib.Highs_setBoolOptionValue(highs, b"output_flag", 0)
    # Without these it leaves out coefficients that the model has.
    lib.Highs_setDoubleOptionValue(highs, b"small_matrix_value", c_double(1e-12))
    lib.Highs_setDoubleOptionValue(highs, b"large_matrix_value", c_double(1e30))
    status = lib.Highs_readModel(highs, path.encode())
    columns, rows = max(0, lib.Highs_getNumCol(highs)), max(0, lib.Highs_getNumRow(highs))
    name = create_string_buffer(512)

    def called(get, i):
        get(highs, i, name)
        return name.value.decode()

    sense, offset, kind = c_int(), c_double(), c_int()
    lib.Highs_getObjectiveSense(highs, byref(sense))
    lib.Highs_getObjectiveOffset(highs, byref(offset))
    seen = {"status": status, "maximize": sense.value < 0, "constant": offset.value, "columns": {}, "rows": []}
    names = [called(lib.Highs_getColName, j) for j in range(columns)]
    if columns:
        (cost, lower, upper), _, _, _ = vectors(lib.Highs_getColsByRange, highs, columns)
        for j in range(columns):
            kind.value = 0
            lib.Highs_getColIntegrality(highs, j, byref(kind))
            seen["columns"][names[j]] = {"cost": cost[j], "lower": lower[j], "upper": upper[j], "integer": kind.value == 1}
    if rows:
        (lower, upper), start, index, value = vectors(lib.Highs_getRowsByRange, highs, rows)
        for i in range(rows):
            terms = {names[index[p]]: value[p] for p in range(start[i], start[i + 1])}
            seen["rows"].append({"name": called(lib.Highs_getRowName, i), "lower": lower[i], "upper": upper[i], "terms": terms})
    lib.Highs_destroy(highs)
    return seen


for file in sys.argv[2:]:
    # JSON has no infinities; nothing else that is read is as large.
    print(json.dumps(read(file)).replace("-Infinity", "-1e300").replace("Infinity", "1e300"))
