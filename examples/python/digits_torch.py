"""Trains a classifier of handwritten digits with PyTorch, on elements from a service in this process.

    python examples/python/digits_torch.py examples/data/digits
"""

import glob
import sys

import torch

import headrace as hr
import headrace.torch

FEATURES = {"image": hr.io.FixedLenFeature([], hr.string), "label": hr.io.FixedLenFeature([], hr.int64)}


def parse(record):
    example = hr.io.parse_single_example(record, FEATURES)
    pixels = hr.reshape(hr.io.decode_raw(example["image"], hr.uint8), [64])
    return hr.cast(pixels, hr.float32) / 16, example["label"]


def main(folder: str, epochs: int = 10) -> float:
    files = sorted(glob.glob(f"{folder}/digits-0*.tfrecord"))
    with hr.service.DispatchServer() as dispatcher:
        workers = [hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)) for _ in range(2)]
        train = hr.Dataset.from_tensor_slices(files[:-1]).interleave(hr.TFRecordDataset, cycle_length=3).map(parse)
        train = train.shuffle(500, seed=1).batch(32).apply(
            hr.service.distribute("distributed_epoch", dispatcher.target)).prefetch(2)
        model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
        for _ in range(epochs):
            for images, labels in torch.utils.data.DataLoader(hr.torch.IterableDataset(train), batch_size=None):
                loss = torch.nn.functional.cross_entropy(model(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        for worker in workers:
            worker.stop()
    right = total = 0
    for images, labels in hr.torch.IterableDataset(hr.TFRecordDataset(files[-1:]).map(parse).batch(128)):
        right += int((model(images).argmax(1) == labels).sum())
        total += len(labels)
    print(f"accuracy: {right / total:.3f}")
    return right / total


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1]) > 0.9 else 1)
