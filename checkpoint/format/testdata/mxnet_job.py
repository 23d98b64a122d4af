"""Saves and loads MXNet checkpoints, see job.py. Every weight of checkpoint n is n.

With a folder as argument it saves arrays of every sort there, as sparse-0001 and shapes-0001.
"""

import itertools
import os
import sys

import mxnet as mx
import numpy as np

import job

WIDTH = 700


def module():
    data = mx.sym.Variable("data")
    network = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=WIDTH, name="fc"), name="softmax")
    return mx.mod.Module(network)


def bind(mod):
    mod.bind([("data", (1, WIDTH))], [("softmax_label", (1,))])
    mod.init_params()
    mod.init_optimizer(optimizer="adam")


def write(folder):
    mod = module()
    bind(mod)
    mod.forward_backward(mx.io.DataBatch([mx.nd.ones((1, WIDTH))], [mx.nd.zeros((1,))]))
    mod.update()
    prefix = os.path.join(folder, "net")
    # Once: save_checkpoint would write it over with each save, and a kill then leaves no network at all.
    mod.symbol.save(prefix + "-symbol.json")
    for number in itertools.count(1):
        arguments, _ = mod.get_params()
        mod.set_params({name: mx.nd.full(a.shape, number) for name, a in arguments.items()}, {})
        mod.save_params(f"{prefix}-{number:04d}.params")
        mod.save_optimizer_states(f"{prefix}-{number:04d}.states")
        print(number, flush=True)
        if number > 3:
            os.remove(f"{prefix}-{number - 3:04d}.params")
            os.remove(f"{prefix}-{number - 3:04d}.states")


def load(folder, name):
    prefix, number = name.rsplit("-", 1)
    number = int(number)
    path = os.path.join(folder, prefix)
    mod = mx.mod.Module.load(path, number, load_optimizer_states=os.path.exists(os.path.join(folder, name + ".states")))
    bind(mod)
    arguments, _ = mod.get_params()
    return number if all(np.all(a.asnumpy() == number) for a in arguments.values()) else "differs"


def sorts(folder):
    network = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1)
    for name in "sparse", "shapes":
        network.save(os.path.join(folder, name + "-symbol.json"))
    arrays = {
        "arg:rows": mx.nd.sparse.row_sparse_array((np.ones((2, 3)), [1, 4]), shape=(6, 3)),
        "arg:csr": mx.nd.sparse.csr_matrix(np.eye(3)),
        **{f"arg:{t}": mx.nd.ones((2, 3), dtype=t) for t in ("float16", "float64", "uint8", "int8", "int32", "int64")},
    }
    mx.nd.save(os.path.join(folder, "sparse-0001.params"), arrays)
    mx.npx.set_np()
    mx.npx.save(os.path.join(folder, "shapes-0001.params"),
                {"arg:scalar": mx.np.array(3.0), "arg:none": mx.np.zeros((0, 3)), "arg:bool": mx.np.ones((3,), dtype=bool)})


if len(sys.argv) > 1:
    sorts(sys.argv[1])
else:
    job.serve(write, load)
