"""Saves and loads TensorFlow checkpoints, see job.py: tensorflow_job.py FORM.

Every element of checkpoint n is n. FORM is "object" for tf.train.Checkpoint or "saver" for tf.train.Saver.
"""

import itertools
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

import job

v1 = tf.compat.v1
ELEMENTS = 1_000_000


class Objects:
    """A model of tf.train.Checkpoint. Its save counter runs ahead of its step."""

    def __init__(self):
        self.weights = tf.Variable(tf.zeros([ELEMENTS]))
        self.step = tf.Variable(0, dtype=tf.int64)
        self.label = tf.Variable("h\u00e9llo")
        self.checkpoint = tf.train.Checkpoint(weights=self.weights, step=self.step, label=self.label)

    def write(self, folder, number):
        if number == 1:
            self.checkpoint.save_counter.assign(7)
            self.manager = tf.train.CheckpointManager(self.checkpoint, folder, max_to_keep=3)
        self.weights.assign(tf.fill([ELEMENTS], float(number)))
        self.step.assign(number)
        self.manager.save()

    def load(self, path):
        self.checkpoint.restore(path).assert_consumed()
        return int(self.step), self.weights.numpy()


class Saver:
    """A graph with tf.train.Saver: a whole variable, one in two parts, one without elements."""

    def __init__(self):
        v1.disable_eager_execution()
        self.step = v1.train.get_or_create_global_step()
        self.weights = v1.get_variable("weights", [ELEMENTS])
        parts = v1.get_variable("parts", [1000, 10], partitioner=v1.fixed_size_partitioner(2))
        v1.get_variable("empty", [0, 4])
        self.number = v1.placeholder(tf.float32, [])
        self.set = [
            self.step.assign(tf.cast(self.number, tf.int64)),
            self.weights.assign(tf.fill([ELEMENTS], self.number)),
        ] + [part.assign(tf.fill(part.shape, self.number)) for part in parts]
        self.all = tf.concat([self.weights] + [tf.reshape(part, [-1]) for part in parts], 0)
        self.saver = v1.train.Saver(sharded=True, max_to_keep=3)
        self.session = v1.Session()
        self.session.run(v1.global_variables_initializer())

    def write(self, folder, number):
        self.session.run(self.set, {self.number: number})
        self.saver.save(self.session, os.path.join(folder, "model.ckpt"), global_step=self.step)

    def load(self, path):
        self.saver.restore(self.session, path)
        return self.session.run([self.step, self.all])


MODEL = Saver if sys.argv[1] == "saver" else Objects


def write(folder):
    model = MODEL()
    for number in itertools.count(1):
        model.write(folder, number)
        print(number, flush=True)


def load(folder, name):
    number, weights = MODEL().load(os.path.join(folder, name))
    return number if np.all(weights == number) else "differs"


job.serve(write, load)
