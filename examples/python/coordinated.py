"""Gives the replicas of a synchronous training job batches of like length in each step, by coordinated reads.

    python examples/python/coordinated.py examples/data/sentences [STEPS] [REPLICAS]

Sentences of many lengths are shuffled and batched in three ways; as many processes as there are replicas read each way:

* padded: in random order, each batch as long as its longest sentence;
* bucketed: sentences of like length together, but each replica gets whatever batch comes next;
* coordinated: the same, and in each step all replicas get batches of one bucket, from one worker.

A synchronous step takes as long as its longest batch. Therefore the program compares the longest batches of the steps.
"""

import glob
import json
import subprocess
import sys

import headrace as hr

BATCH = 16
BOUNDARIES = [8, 12, 16, 20, 26, 32, 40, 50, 64, 90]
FEATURES = {"tokens": hr.io.FixedLenSequenceFeature([], hr.int64, allow_missing=True)}


def sentences(folder):
    files = sorted(glob.glob(f"{folder}/sentences-*.tfrecord"))
    if not files:
        sys.exit(f"{folder} has no sentences-*.tfrecord")
    ds = hr.TFRecordDataset(files).shuffle(2_000).repeat()
    return ds.map(lambda record: hr.io.parse_single_example(record, FEATURES)["tokens"])


def batches(folder, way, replicas):
    ds = sentences(folder)
    if way == "padded":
        return ds.padded_batch(BATCH)
    ds = ds.bucket_by_sequence_length(lambda tokens: hr.shape(tokens)[0], BOUNDARIES, [BATCH] * (len(BOUNDARIES) + 1))
    if way == "coordinated":
        # Arranges the batches so that `replicas` batches of one bucket follow one another. The length of a batch, that
        # of its longest sentence, shows its bucket.
        def bucket(batch):
            longer = [hr.cast(hr.shape(batch)[1] >= x, hr.int64) for x in BOUNDARIES]
            return sum(longer[1:], longer[0])

        ds = ds.group_by_window(bucket, lambda key, group: group, window_size=replicas)
    return ds


def replica(target, folder, way, index, replicas, steps):
    """Runs one replica: prints the length and the number of tokens of each batch that it reads."""
    together = {"consumer_index": index, "num_consumers": replicas} if way == "coordinated" else {}
    ds = batches(folder, way, replicas).apply(
        hr.service.distribute("parallel_epochs", target, job_name=way, max_outstanding_requests=8, **together))
    lengths, tokens = [], []
    for batch in ds.take(steps):
        lengths.append(int(batch.shape[1]))
        tokens.append(int((batch != 0).sum()))
    print(json.dumps([lengths, tokens]))


def picture(values, highest):
    return "".join(" ▁▂▃▄▅▆▇█"[min(8, round(8 * x / highest))] for x in values)


def main(folder: str, steps: int = 200, replicas: int = 4) -> bool:
    results = {}
    with hr.service.DispatchServer() as dispatcher:
        workers = [hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)) for _ in range(2)]
        for way in ("padded", "bucketed", "coordinated"):
            programs = [subprocess.Popen([sys.executable, __file__, "replica", dispatcher.target, folder, way, str(i),
                                          str(replicas), str(steps)], stdout=subprocess.PIPE, text=True)
                        for i in range(replicas)]
            results[way] = [json.loads(program.communicate()[0]) for program in programs]
        for worker in workers:
            worker.stop()
    longest = {way: [max(step) for step in zip(*(lengths for lengths, _ in read))] for way, read in results.items()}
    print(f"the lengths of the {replicas} replicas' batches in the first steps, coordinated:")
    for step, lengths in enumerate(zip(*(lengths for lengths, _ in results["coordinated"]))):
        if step < 10:
            print(f"  step {step}: {' '.join(f'{x:3}' for x in lengths)}")
    # The full height is not the length of the longest batch, because a few sentences are much longer than all others.
    highest = sorted(x for values in longest.values() for x in values)[-steps // 10]
    print(f"\nthe longest batch of each of the first steps (full height: {highest} tokens or more):")
    for way, values in longest.items():
        print(f"  {way:12}|{picture(values[:80], highest)}|")
    print(f"\n{'':12}  longest batch a step   padding while all wait for it   steps in the time of one padded")
    for way, values in longest.items():
        tokens = sum(sum(tokens) for _, tokens in results[way])
        padding = 1 - tokens / (sum(values) * BATCH * replicas)
        print(f"{way:12}  {sum(values) / steps:20.1f}   {100 * padding:27.0f} %   "
              f"{sum(longest['padded']) / sum(values):32.2f}")
    return sum(longest["coordinated"]) < sum(longest["bucketed"]) < sum(longest["padded"])


if __name__ == "__main__":
    if sys.argv[1] == "replica":
        replica(*sys.argv[2:5], *map(int, sys.argv[5:8]))
    else:
        sys.exit(0 if main(sys.argv[1], *map(int, sys.argv[2:])) else 1)
