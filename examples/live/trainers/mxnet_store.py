"""MXNet: logistic regression or a small network on handwritten digits, with real parameter servers.

The processes on nodes whose names begin with "ps" are parameter servers; where there is no such node,
the last --servers processes. The others are workers of a dist_sync key-value store; process 0 starts the
store's scheduler as well.
"""

import argparse
import os
import socket
import subprocess
import sys

from job import Job, digits

BATCH = 64


def join_store(job, servers):
    """Sets the environment that MXNet's store is told its role by, before mxnet is imported."""
    address = job.dir / "store.port"
    workers = job.size - servers
    environment = {"DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_INTERFACE": "lo",
                   "DMLC_NUM_WORKER": str(workers), "DMLC_NUM_SERVER": str(servers)}
    if job.rank == 0:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        subprocess.Popen([sys.executable, "-c", "import mxnet"],
                         env=os.environ | environment | {"DMLC_PS_ROOT_PORT": port, "DMLC_ROLE": "scheduler"})
        job.publish(address, port)
    else:
        port = job.await_file(address)
    os.environ.update(environment, DMLC_PS_ROOT_PORT=port, DMLC_ROLE="worker" if job.rank < workers else "server")


def symbol(mx, model):
    out = mx.sym.Variable("data")
    if model == "network":
        out = mx.sym.Activation(mx.sym.FullyConnected(out, num_hidden=32, name="hidden"), act_type="tanh")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(out, num_hidden=10, name="digit"), name="softmax")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=["logistic", "network"], required=True)
    parser.add_argument("--servers", type=int, default=1)
    job = Job(parser)
    servers = sum(node.startswith("ps") for node in job.nodes) or min(job.args.servers, job.size - 1)
    if servers > 0:
        join_store(job, servers)
    import mxnet as mx  # a server stays in here until the job is over

    job.size -= servers  # from here on only workers count
    mx.random.seed(job.seed)
    store = mx.kv.create("dist_sync" if servers > 0 else "local")
    pixels, labels = digits()
    net = symbol(mx, job.args.model)
    step, weights = first_weights(mx, job, net)
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.2, rescale_grad=1.0 / BATCH))
    names = sorted(weights)
    for name in names:
        store.init(name, weights[name])
    job.begin(step)
    while step < job.steps:
        for name in names:
            store.pull(name, out=weights[name])
        mine = job.batch(step, len(labels), BATCH)
        slopes = {name: mx.nd.zeros(weights[name].shape) for name in names}
        forward(mx, net, weights, pixels[mine], labels[mine], slopes).backward()
        for name in names:
            store.push(name, slopes[name])
        if job.rank == 0:  # a worker's own part says little: this one looks at the whole batch
            whole = job.whole_batch(step, len(labels), BATCH)
            chances = forward(mx, net, weights, pixels[whole], labels[whole]).outputs[0]
            value = -mx.nd.log(mx.nd.pick(chances, mx.nd.array(labels[whole]))).mean()
            job.report(step + 1, float(value.asscalar()))
        step += 1
        job.pace(step, len(mine))

        def save(folder):
            for name in names:
                store.pull(name, out=weights[name])
            mx.model.save_checkpoint(str(folder / "model"), step, net, weights, {})
            return ["model-symbol.json", f"model-{step:04d}.params"]

        job.save_if_wanted(step, save)
    job.finish()


def forward(mx, net, weights, x, y, slopes=None):
    """Puts samples through the network; with room for slopes it can go backward."""
    run = net.bind(mx.cpu(), weights | {"data": mx.nd.array(x), "softmax_label": mx.nd.array(y)}, args_grad=slopes)
    run.forward(is_train=slopes is not None)
    return run


def first_weights(mx, job, net):
    """Returns the step and the weights to go on from."""
    if job.restore:
        prefix, step = job.restore.rsplit("-", 1)
        return int(step), mx.model.load_checkpoint(prefix, int(step))[1]
    shapes, _, _ = net.infer_shape(data=(BATCH, 64), softmax_label=(BATCH,))
    return 0, {name: mx.nd.random.normal(0, 0.1, shape)
               for name, shape in zip(net.list_arguments(), shapes) if name not in ("data", "softmax_label")}


if __name__ == "__main__":
    main()
