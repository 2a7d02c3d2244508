"""Trains a classifier of handwritten digits with JAX, on elements from a service in this process.

    python examples/python/digits_jax.py examples/data/digits
"""

import glob
import sys

import jax
import jax.numpy as jnp

import headrace as hr
import headrace.jax

FEATURES = {"image": hr.io.FixedLenFeature([], hr.string), "label": hr.io.FixedLenFeature([], hr.int64)}


def parse(record):
    example = hr.io.parse_single_example(record, FEATURES)
    pixels = hr.reshape(hr.io.decode_raw(example["image"], hr.uint8), [64])
    return hr.cast(pixels, hr.float32) / 16, hr.cast(example["label"], hr.int32)


def loss(weights, images, labels):
    chances = jax.nn.log_softmax(images @ weights)
    return -jnp.take_along_axis(chances, labels[:, None], 1).mean()


@jax.jit
def step(weights, images, labels):
    return weights - 0.5 * jax.grad(loss)(weights, images, labels)


def main(folder: str, epochs: int = 20) -> float:
    files = sorted(glob.glob(f"{folder}/digits-0*.tfrecord"))
    weights = jnp.zeros((64, 10))
    with hr.service.DispatchServer() as dispatcher:
        workers = [hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)) for _ in range(2)]
        train = hr.Dataset.from_tensor_slices(files[:-1]).interleave(hr.TFRecordDataset, cycle_length=3).map(parse)
        # All batches have one size, so that the training step is compiled only once.
        train = train.shuffle(500, seed=1).batch(32, drop_remainder=True).apply(
            hr.service.distribute("distributed_epoch", dispatcher.target)).prefetch(2)
        for _ in range(epochs):
            for images, labels in hr.jax.iterate(train):
                weights = step(weights, images, labels)
        for worker in workers:
            worker.stop()
    right = total = 0
    for images, labels in hr.jax.iterate(hr.TFRecordDataset(files[-1:]).map(parse).batch(128)):
        right += int(((images @ weights).argmax(1) == labels).sum())
        total += len(labels)
    print(f"accuracy: {right / total:.3f}")
    return right / total


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1]) > 0.85 else 1)
