"""The examples of the pages of tf.data's service: a test for each, named after its page."""

from __future__ import annotations

import threading

import pytest

from peer import LIBRARY, elements, ours, serving, tf

Dataset, service = tf.data.Dataset, tf.data.experimental.service


def test_DispatchServer():
    with serving() as dispatcher:
        dataset = Dataset.range(10).apply(service.distribute(
            processing_mode="parallel_epochs", service=dispatcher.target))
        assert elements(dataset) == list(range(10))


def test_DispatchServer_target():
    with serving(0) as dispatcher:
        assert dispatcher.target.startswith("grpc://")


@ours("there a server that runs cannot be stopped")
def test_DispatchServer_join():
    dispatcher = service.DispatchServer(service.DispatcherConfig(port=0))
    waits = threading.Thread(target=dispatcher.join)
    waits.start()
    assert waits.is_alive()
    dispatcher.stop()
    waits.join(30)
    assert not waits.is_alive()


def test_DispatchServer_FaultTolerant(tmp_path):
    with serving(work_dir=str(tmp_path / "work"), fault_tolerant_mode=True) as dispatcher:
        dataset = Dataset.range(3).apply(service.distribute("parallel_epochs", dispatcher.target))
        assert elements(dataset) == [0, 1, 2]


def test_DispatchServer_start():
    dispatcher = service.DispatchServer(start=False)
    dispatcher.start()
    worker = service.WorkerServer(service.WorkerConfig(dispatcher.target.split("://")[1]), start=False)
    worker.start()
    assert elements(Dataset.range(3).apply(service.distribute("parallel_epochs", dispatcher.target))) == [0, 1, 2]
    for server in (worker, dispatcher):
        if hasattr(server, "stop"):
            server.stop()


def test_distribute_ParallelEpochs():
    with serving(2) as dispatcher:
        dataset = Dataset.range(6).apply(service.distribute(
            processing_mode="parallel_epochs", service=dispatcher.target))
        assert sorted(elements(dataset)) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_distribute_DistributedEpoch():
    with serving(2) as dispatcher:
        dataset = Dataset.range(6).apply(service.distribute(
            processing_mode="distributed_epoch", service=dispatcher.target))
        assert sorted(elements(dataset)) == [0, 1, 2, 3, 4, 5]


def test_distribute_BeforeAndAfter():
    with serving(2) as dispatcher:
        dataset = Dataset.range(5).map(lambda x: x * x)
        dataset = dataset.apply(service.distribute("parallel_epochs", dispatcher.target)).map(lambda x: x + 1)
        assert sorted(elements(dataset)) == [1, 1, 2, 2, 5, 5, 10, 10, 17, 17]


def test_distribute_OneWorker():
    with serving() as dispatcher:
        dataset = Dataset.range(5).map(lambda x: x * x)
        dataset = dataset.apply(service.distribute("parallel_epochs", dispatcher.target)).map(lambda x: x + 1)
        assert elements(dataset) == [1, 2, 5, 10, 17]


def test_distribute_OfOneJobName():
    with serving() as dispatcher:
        def reader():
            return Dataset.range(5).apply(service.distribute(
                "parallel_epochs", dispatcher.target, job_name="my_job_name"))
        first, second = reader(), reader()
        for _ in range(3):
            iterators = [iter(first.as_numpy_iterator()), iter(second.as_numpy_iterator())]
            seen = []
            while iterators:
                for iterator in list(iterators):
                    try:
                        seen.append(int(next(iterator)))
                    except StopIteration:
                        iterators.remove(iterator)
            assert sorted(seen) == [0, 1, 2, 3, 4]


def test_distribute_OfAJobThatIsOver():
    with serving() as dispatcher:
        def reader():
            return Dataset.range(5).apply(service.distribute("parallel_epochs", dispatcher.target, job_name="job"))
        assert elements(reader()) == [0, 1, 2, 3, 4]
        assert elements(reader()) == []


@pytest.mark.parametrize("mode", ["parallel_epochs", "OFF"])
def test_from_dataset_id(mode):
    with serving() as dispatcher:
        dataset = Dataset.range(10)
        dataset_id = service.register_dataset(dispatcher.target, dataset)
        dataset = service.from_dataset_id(
            processing_mode=mode if mode != "OFF" else service.ShardingPolicy.OFF, service=dispatcher.target,
            dataset_id=dataset_id, element_spec=dataset.element_spec)
        assert elements(dataset) == list(range(10))


def test_register_dataset():
    with serving() as dispatcher:
        dataset_id = service.register_dataset(dispatcher.target, Dataset.range(4))
        # Another process would have only the id and the spec.
        dataset = service.from_dataset_id("distributed_epoch", dispatcher.target, dataset_id,
                                          element_spec=tf.TensorSpec((), tf.int64))
        assert sorted(elements(dataset)) == [0, 1, 2, 3]


def test_WorkerServer():
    with serving() as dispatcher:
        dataset = Dataset.range(4).apply(service.distribute(
            processing_mode="parallel_epochs", service=dispatcher.target))
        assert elements(dataset) == [0, 1, 2, 3]


@ours("there a server that runs cannot be stopped")
def test_WorkerServer_join():
    with serving(0) as dispatcher:
        worker = service.WorkerServer(service.WorkerConfig(dispatcher.target))
        waits = threading.Thread(target=worker.join)
        waits.start()
        assert waits.is_alive()
        worker.stop()
        waits.join(30)
        assert not waits.is_alive()


def test_service_Off():
    with serving() as dispatcher:
        dataset = Dataset.range(10).apply(service.distribute(
            processing_mode=service.ShardingPolicy.OFF, service=dispatcher.target))
        assert elements(dataset) == list(range(10))


def test_service_distribute():
    with serving() as dispatcher:
        dataset = Dataset.range(10).apply(service.distribute(
            processing_mode=service.ShardingPolicy.OFF, service=dispatcher.target, job_name="shared_job"))
        assert elements(dataset.prefetch(1)) == list(range(10))


def test_service_register_dataset_and_from_dataset_id():
    with serving(2) as dispatcher:
        dataset_id = service.register_dataset(service=dispatcher.target, dataset=Dataset.range(10))
        of_workers = [service.from_dataset_id(
            processing_mode=service.ShardingPolicy.DYNAMIC, service=dispatcher.target, dataset_id=dataset_id,
            job_name="shared_job") for _ in range(2)]
        iterators = [dataset.as_numpy_iterator() for dataset in of_workers]
        seen = []
        while iterators:
            for iterator in list(iterators):
                try:
                    seen.append(int(next(iterator)))
                except StopIteration:
                    iterators.remove(iterator)
        assert sorted(seen) == list(range(10))


def test_service_Dynamic(tmp_path):
    names = [str(tmp_path / f"{i}.tfrecord") for i in range(4)]
    for i, name in enumerate(names):
        with tf.io.TFRecordWriter(name) as writer:
            for j in range(3):
                writer.write(b"%d" % (10 * i + j))
    with serving(2) as dispatcher:
        dataset = Dataset.from_tensor_slices(names).interleave(tf.data.TFRecordDataset)
        dataset = dataset.map(lambda x: tf.strings.to_number(x, tf.int32)).batch(3)
        dataset = dataset.apply(service.distribute(
            processing_mode=service.ShardingPolicy.DYNAMIC, service=dispatcher.target))
        assert sorted(sum(elements(dataset), [])) == [10 * i + j for i in range(4) for j in range(3)]


def test_service_CoordinatedRead():
    with serving() as dispatcher:
        # An endless dataset of batches of equal shapes. Each round has two batches.
        dataset = Dataset.range(8).map(lambda n: tf.repeat(n, 2)).batch(1).repeat()
        readers = [dataset.apply(service.distribute(
            service.ShardingPolicy.OFF, dispatcher.target, job_name="rounds", consumer_index=i, num_consumers=2))
            for i in range(2)]
        seen = [[], []]

        def read(i):
            seen[i] = [x.tolist()[0][0] for x in readers[i].take(4).as_numpy_iterator()]
        threads = [threading.Thread(target=read, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert seen == [[0, 2, 4, 6], [1, 3, 5, 7]]


def test_service_Jobs():
    with serving(2) as dispatcher:
        off, dynamic = (Dataset.range(5).apply(service.distribute(mode, dispatcher.target))
                        for mode in (service.ShardingPolicy.OFF, service.ShardingPolicy.DYNAMIC))
        assert len(elements(off)) == 10 and len(elements(dynamic)) == 5


def test_service_SharingWithConcurrentTrainers():
    with serving() as dispatcher:
        def trainer(name):
            endless = Dataset.range(100).repeat()
            return endless.apply(service.distribute(
                processing_mode=service.ShardingPolicy.OFF, service=dispatcher.target, job_name="job",
                cross_trainer_cache=service.CrossTrainerCache(trainer_id=name))).take(20)
        assert elements(trainer("a")) == list(range(20)) == elements(trainer("b"))


@pytest.mark.skipif(LIBRARY == "tensorflow", reason="there a server cannot be started again in one process")
def test_service_FaultTolerance(tmp_path):
    config = service.DispatcherConfig(work_dir=str(tmp_path), fault_tolerant_mode=True)
    dispatcher = service.DispatchServer(config)
    dataset_id = service.register_dataset(dispatcher.target, Dataset.range(3))
    dispatcher.stop()
    dispatcher = service.DispatchServer(config)
    worker = service.WorkerServer(service.WorkerConfig(dispatcher.target))
    try:
        assert elements(service.from_dataset_id("parallel_epochs", dispatcher.target, dataset_id)) == [0, 1, 2]
    finally:
        worker.stop()
        dispatcher.stop()
