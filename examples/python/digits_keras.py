"""Trains a classifier of handwritten digits with Keras 3, on elements from a service in this process.

    KERAS_BACKEND=jax python examples/python/digits_keras.py examples/data/digits
"""

import glob
import sys

import keras

import headrace as hr
import headrace.keras

FEATURES = {"image": hr.io.FixedLenFeature([], hr.string), "label": hr.io.FixedLenFeature([], hr.int64)}


def parse(record):
    example = hr.io.parse_single_example(record, FEATURES)
    pixels = hr.reshape(hr.io.decode_raw(example["image"], hr.uint8), [64])
    return hr.cast(pixels, hr.float32) / 16, hr.cast(example["label"], hr.int32)


def main(folder: str, epochs: int = 20) -> float:
    files = sorted(glob.glob(f"{folder}/digits-0*.tfrecord"))
    model = keras.Sequential([keras.Input([64]), keras.layers.Dense(10)])
    model.compile(optimizer=keras.optimizers.SGD(0.5), metrics=["accuracy"],
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    with hr.service.DispatchServer() as dispatcher:
        workers = [hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)) for _ in range(2)]
        train = hr.Dataset.from_tensor_slices(files[:-1]).interleave(hr.TFRecordDataset, cycle_length=3).map(parse)
        # All batches have one size, so that the training step is compiled only once.
        train = train.shuffle(500, seed=1).batch(32, drop_remainder=True).apply(
            hr.service.distribute("distributed_epoch", dispatcher.target)).prefetch(2)
        model.fit(hr.keras.DataAdapter(train), epochs=epochs, verbose=0)
        for worker in workers:
            worker.stop()
    test = hr.TFRecordDataset(files[-1:]).map(parse).batch(128)
    accuracy = model.evaluate(hr.keras.DataAdapter(test), return_dict=True, verbose=0)["accuracy"]
    print(f"accuracy: {accuracy:.3f}")
    return accuracy


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1]) > 0.85 else 1)
