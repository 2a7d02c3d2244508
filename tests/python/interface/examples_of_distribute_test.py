"""The examples of the pages of tf.distribute that have an input side: a test for each, named after its page.

Where a page has two GPUs, there are two replicas on the CPU.
"""

from __future__ import annotations

import json

import pytest

from peer import LIBRARY, differs, elements, plain, serving, tf

Dataset = tf.data.Dataset
CLUSTER = {"ps": ["localhost:2222", "localhost:2223"], "worker": ["localhost:2224", "localhost:2225"]}


def resolvers():
    return tf.distribute.cluster_resolver


def mirrored():
    """A strategy of two replicas: MirroredStrategy, or LocalStrategy, which replaces it here (docs/migrating.md)."""
    if LIBRARY == "headrace":
        return tf.distribute.LocalStrategy(2)
    if len(tf.config.list_logical_devices("CPU")) < 2:
        pytest.skip("the CPU was not divided into two devices")
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


if LIBRARY == "tensorflow":
    (_cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(_cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


def local(strategy, value):
    return plain(strategy.experimental_local_results(value))


def test_ClusterResolver_task_id():
    resolver = resolvers().SimpleClusterResolver(tf.train.ClusterSpec(CLUSTER), task_type="worker", task_id=0)
    assert resolver.task_type == "worker" and resolver.task_id == 0


def test_ClusterResolver_task_type():
    resolver = resolvers().SimpleClusterResolver(tf.train.ClusterSpec(CLUSTER), task_type="ps", task_id=1)
    assert resolver.task_type == "ps"


def test_SimpleClusterResolver_master():
    resolver = resolvers().SimpleClusterResolver(tf.train.ClusterSpec(CLUSTER), task_type="worker", task_id=1,
                                                 rpc_layer="grpc")
    assert resolver.master("ps", 1) == "grpc://localhost:2223"
    assert resolver.cluster_spec().as_dict() == CLUSTER


def test_TFConfigClusterResolver(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["localhost:12345", "localhost:23456"]},
                                                "task": {"type": "worker", "index": 0}}))
    resolver = resolvers().TFConfigClusterResolver()
    assert resolver.cluster_spec().as_dict() == {"worker": ["localhost:12345", "localhost:23456"]}
    assert resolver.task_type == "worker" and resolver.task_id == 0


def test_UnionResolver():
    workers = resolvers().SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["worker0.example.com:2222", "worker1.example.com:2222"]}), task_type="worker",
        task_id=0, rpc_layer="grpc")
    servers = resolvers().SimpleClusterResolver(
        tf.train.ClusterSpec({"ps": ["ps0.example.com:2222", "ps1.example.com:2222"]}), task_type="ps", task_id=0,
        rpc_layer="grpc")
    union = resolvers().UnionResolver(workers, servers)
    assert union.task_type == "worker"
    assert union.cluster_spec().as_dict() == {
        "worker": ["worker0.example.com:2222", "worker1.example.com:2222"],
        "ps": ["ps0.example.com:2222", "ps1.example.com:2222"]}


def test_UnionResolver_OfAnotherNumberOfAccelerators(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["localhost:12345"]},
                                                "task": {"type": "worker", "index": 0}}))
    config = resolvers().TFConfigClusterResolver()
    override = resolvers().SimpleClusterResolver(config.cluster_spec(), num_accelerators={"GPU": 1})
    assert resolvers().UnionResolver(override, config).num_accelerators() == {"GPU": 1}


def test_InputContext():
    context = tf.distribute.InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4)
    batch_size = context.get_per_replica_batch_size(8)
    dataset = Dataset.range(8).shard(context.num_input_pipelines, context.input_pipeline_id).batch(batch_size)
    assert elements(dataset) == [[1, 3], [5, 7]]
    with pytest.raises(ValueError):
        context.get_per_replica_batch_size(6)


def test_DistributedDataset():
    strategy = mirrored()
    dataset = Dataset.from_tensors(([1.0], [2])).repeat(8).batch(4)
    seen = [local(strategy, value[0]) for value in strategy.experimental_distribute_dataset(dataset)]
    assert seen == 2 * [([[1.0], [1.0]], [[1.0], [1.0]])]


def test_DistributedIterator_get_next():
    strategy = mirrored()
    iterator = iter(strategy.experimental_distribute_dataset(Dataset.range(20).batch(2)))
    for _ in range(5):
        iterator.get_next()
    assert local(strategy, iterator.get_next()) == ([10], [11])


def test_DistributedIterator_get_next_as_optional():
    strategy = mirrored()
    iterator = iter(strategy.experimental_distribute_dataset(Dataset.range(4).batch(2)))
    seen = []
    while True:
        optional = iterator.get_next_as_optional()
        if not optional.has_value():
            break
        seen.append(local(strategy, optional.get_value()))
    assert seen == [([0], [1]), ([2], [3])]


def test_MirroredStrategy_distribute_datasets_from_function():
    strategy = mirrored()

    def dataset_fn(context):
        size = context.get_per_replica_batch_size(4)
        return Dataset.range(8).batch(size).shard(context.num_input_pipelines, context.input_pipeline_id)

    seen = [local(strategy, value) for value in strategy.distribute_datasets_from_function(dataset_fn)]
    assert seen == [([0, 1], [2, 3]), ([4, 5], [6, 7])]


def test_MirroredStrategy_experimental_distribute_values_from_function():
    strategy = mirrored()
    values = strategy.experimental_distribute_values_from_function(lambda context: context.replica_id_in_sync_group)
    assert local(strategy, values) == (0, 1)


def test_MirroredStrategy_experimental_distribute_values_from_function_OfAnArray():
    strategy, array = mirrored(), [3.0, 2.0, 1.0]
    values = strategy.experimental_distribute_values_from_function(
        lambda context: array[context.replica_id_in_sync_group])
    assert local(strategy, values) == (3.0, 2.0)


def test_MirroredStrategy_experimental_distribute_values_from_function_OfTheNumberOfReplicas():
    strategy = mirrored()
    values = strategy.experimental_distribute_values_from_function(lambda context: context.num_replicas_in_sync)
    assert local(strategy, values) == (2, 2)


def test_DistributedIterator_element_spec():
    strategy = mirrored()
    dataset = Dataset.from_tensors(([1.0], [2])).repeat(100).batch(16)
    spec = iter(strategy.experimental_distribute_dataset(dataset)).element_spec
    assert len(spec) == 2


def test_service_experimental_distribute_dataset():
    strategy = mirrored()
    service = tf.data.experimental.service
    with serving() as dispatcher:
        dataset_id = service.register_dataset(service=dispatcher.target, dataset=Dataset.range(8).batch(4))
        dataset = service.from_dataset_id(processing_mode=service.ShardingPolicy.OFF, service=dispatcher.target,
                                          dataset_id=dataset_id, job_name="shared_job")
        seen = [local(strategy, value) for value in strategy.experimental_distribute_dataset(dataset)]
    assert seen == [([0, 1], [2, 3]), ([4, 5], [6, 7])]


def test_service_distribute_datasets_from_function():
    strategy = mirrored()
    service = tf.data.experimental.service
    with serving() as dispatcher:
        dataset_id = service.register_dataset(service=dispatcher.target, dataset=Dataset.range(8).batch(2))

        def new_dataset_fn(input_context):
            del input_context
            return service.from_dataset_id(processing_mode=service.ShardingPolicy.OFF, service=dispatcher.target,
                                           dataset_id=dataset_id, job_name="shared_job")

        seen = [local(strategy, value) for value in strategy.distribute_datasets_from_function(new_dataset_fn)]
    assert seen == [([0, 1], [2, 3]), ([4, 5], [6, 7])]


@differs("tf.device and DeviceSpec are missing: elements are on the CPU")
def test_DeviceSpec():
    spec = tf.DeviceSpec(job="ps", device_type="CPU", device_index=0)
    assert spec.to_string() == "/job:ps/device:CPU:0"
    assert tf.DeviceSpec.from_string("/job:ps/device:CPU:0") == spec
