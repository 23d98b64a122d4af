"""TensorFlow: a variational autoencoder or a small CNN on handwritten digits.

The VAE saves with tf.train.CheckpointManager, the CNN with tf.compat.v1.train.Saver: the two forms of
TensorFlow's checkpoints. Several processes average their gradients over sockets of their own.
"""

import argparse
import os

import numpy as np
import tensorflow as tf

from job import Exchange, Job, digits

BATCH = 64
LATENT = 4


class CNN(tf.Module):
    """Two convolutions and a linear layer; the loss is the cross-entropy of the digit."""

    def __init__(self, seed):
        draw = tf.random.Generator.from_seed(seed)
        self.filters = [tf.Variable(draw.normal(shape, stddev=0.1)) for shape in [(3, 3, 1, 8), (3, 3, 8, 16)]]
        self.linear = tf.Variable(draw.normal((64, 10), stddev=0.1))

    def loss(self, x, y, _):
        h = tf.reshape(x, (-1, 8, 8, 1))
        for weights in self.filters:
            h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(h, weights, 1, "SAME")), 2, 2, "SAME")
        logits = tf.reshape(h, (-1, 64)) @ self.linear
        return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))


class VAE(tf.Module):
    """One hidden layer each way; the loss is the negative evidence lower bound."""

    def __init__(self, seed):
        draw = tf.random.Generator.from_seed(seed)
        shapes = [(64, 32), (32, 2 * LATENT), (LATENT, 32), (32, 64)]
        self.weights = [tf.Variable(draw.normal(shape, stddev=0.1)) for shape in shapes]

    def loss(self, x, _, noise):
        encode, split, decode, out = self.weights
        mean, log_variance = tf.split(tf.nn.tanh(x @ encode) @ split, 2, axis=1)
        z = mean + tf.exp(log_variance / 2) * noise
        logits = tf.nn.tanh(z @ decode) @ out
        rebuilt = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits))
        return rebuilt - 0.5 * tf.reduce_sum(1 + log_variance - mean**2 - tf.exp(log_variance))


class Momentum:
    """Gradient descent with momentum, whose state is saved with the model."""

    def __init__(self, variables, rate):
        self.rate = rate
        self.velocity = [tf.Variable(tf.zeros_like(v)) for v in variables]

    def apply(self, variables, gradients):
        for v, m, g in zip(variables, self.velocity, gradients):
            m.assign(0.9 * m + g)
            v.assign_sub(self.rate * m)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=["vae", "cnn"], required=True)
    job = Job(parser)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    exchange = Exchange(job)
    pixels, labels = digits()
    model = {"vae": VAE, "cnn": CNN}[job.args.model](job.seed)
    variables = list(model.trainable_variables)
    optimizer = Momentum(variables, {"vae": 0.002, "cnn": 0.05}[job.args.model])
    step = tf.Variable(0, dtype=tf.int64)
    tracked = {f"variable{i}": v for i, v in enumerate(variables + optimizer.velocity)} | {"step": step}
    restore(job, tracked)

    @tf.function
    def gradient(x, y, noise):
        with tf.GradientTape() as tape:
            loss = model.loss(x, y, noise) / BATCH
        return loss, tape.gradient(loss, variables)

    job.begin(int(step))
    while (now := int(step)) < job.steps:
        mine = job.batch(now, len(labels), BATCH)
        noise = np.random.default_rng([job.seed, now]).normal(size=(BATCH, LATENT)).astype("float32")
        loss, slopes = gradient(pixels[mine], labels[mine], noise[job.rank::job.size])
        total, *slopes = exchange.sum([loss.numpy()] + [s.numpy() for s in slopes])
        optimizer.apply(variables, slopes)
        step.assign_add(1)
        job.report(now + 1, float(total))
        job.pace(now + 1, len(mine))
        job.save_if_wanted(now + 1, lambda folder: save(job, tracked, folder))
    job.finish()


def saver(tracked):
    return tf.compat.v1.train.Saver(tracked)


def save(job, tracked, folder):
    """Writes a checkpoint and returns its files."""
    step = int(tracked["step"])
    if job.args.model == "cnn":
        name = saver(tracked).save(None, str(folder / "model.ckpt"), global_step=step)
    else:
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(**tracked), str(folder), max_to_keep=None)
        name = manager.save(checkpoint_number=step)
    return sorted(p.name for p in folder.glob(os.path.basename(name) + ".*"))


def restore(job, tracked):
    if not job.restore:
        return
    if job.args.model == "cnn":
        saver(tracked).restore(None, job.restore)
    else:
        tf.train.Checkpoint(**tracked).restore(job.restore).assert_consumed()


if __name__ == "__main__":
    main()
