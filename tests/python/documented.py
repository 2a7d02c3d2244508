"""What the documentation of tf.data says of names and arguments: facts for the tests of signatures.

By name the arguments in their order, with defaults as they are written there; ``experimental.service`` is the latest
documented version, the others are of several, of which later ones have arguments after these.
"""

SERVICE = {
    "DispatchServer": "config=None, start=True",
    "WorkerServer": "config, start=True",
    "CrossTrainerCache": "trainer_id",
    "DispatcherConfig": "port=0, protocol='grpc', work_dir=None, fault_tolerant_mode=False, worker_addresses=None, "
                        "job_gc_check_interval_ms=None, job_gc_timeout_ms=None, worker_timeout_ms=None, "
                        "worker_max_concurrent_snapshots=None",
    "WorkerConfig": "dispatcher_address, worker_address=None, port=0, protocol='grpc', heartbeat_interval_ms=None, "
                    "dispatcher_timeout_ms=None, data_transfer_protocol=None, data_transfer_address=None",
    "distribute": "processing_mode, service, job_name=None, consumer_index=None, num_consumers=None, "
                  "max_outstanding_requests=None, data_transfer_protocol=None, compression='AUTO', "
                  "cross_trainer_cache=None, target_workers='AUTO'",
    "register_dataset": "service, dataset, compression='AUTO', dataset_id=None",
    "from_dataset_id": "processing_mode, service, dataset_id, element_spec=None, job_name=None, consumer_index=None, "
                       "num_consumers=None, max_outstanding_requests=None, data_transfer_protocol=None, "
                       "cross_trainer_cache=None, target_workers='AUTO'",
}

DATASET = {
    "apply": "transformation_func",
    "as_numpy_iterator": "",
    "batch": "batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None",
    "bucket_by_sequence_length": "element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None, "
                                 "padding_values=None, pad_to_bucket_boundary=False, no_padding=False, "
                                 "drop_remainder=False, name=None",
    "cache": "filename='', name=None",
    "cardinality": "",
    "choose_from_datasets": "datasets, choice_dataset, stop_on_empty_dataset=True, name=None",
    "concatenate": "dataset, name=None",
    "counter": "start=0, step=1, dtype=int64, name=None",
    "enumerate": "start=0, name=None",
    "filter": "predicate, name=None",
    "flat_map": "map_func, name=None",
    "from_generator": "generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None",
    "from_tensor_slices": "tensors, name=None",
    "from_tensors": "tensors, name=None",
    "get_single_element": "name=None",
    "group_by_window": "key_func, reduce_func, window_size=None, window_size_func=None, name=None",
    "ignore_errors": "log_warning=False, name=None",
    "interleave": "map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None, "
                  "name=None",
    "list_files": "file_pattern, shuffle=None, seed=None, name=None",
    "load": "path, element_spec=None, compression=None, reader_func=None",
    "map": "map_func, num_parallel_calls=None, deterministic=None",
    "options": "",
    "padded_batch": "batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None",
    "prefetch": "buffer_size, name=None",
    "ragged_batch": "batch_size, drop_remainder=False, row_splits_dtype=int64, name=None",
    "random": "seed=None, rerandomize_each_iteration=None, name=None",
    "range": "*args, output_type=int64, name=None",
    "rebatch": "batch_size, drop_remainder=False, name=None",
    "reduce": "initial_state, reduce_func, name=None",
    "rejection_resample": "class_func, target_dist, initial_dist=None, seed=None, name=None",
    "repeat": "count=None, name=None",
    "sample_from_datasets": "datasets, weights=None, seed=None, stop_on_empty_dataset=False, "
                            "rerandomize_each_iteration=None, name=None",
    "save": "path, compression=None, shard_func=None, checkpoint_args=None",
    "scan": "initial_state, scan_func, name=None",
    "shard": "num_shards, index, name=None",
    "shuffle": "buffer_size, seed=None, reshuffle_each_iteration=None, name=None",
    "skip": "count, name=None",
    "snapshot": "path, compression='AUTO', reader_func=None, shard_func=None, name=None",
    "sparse_batch": "batch_size, row_shape, name=None",
    "take": "count, name=None",
    "take_while": "predicate, name=None",
    "unbatch": "name=None",
    "unique": "name=None",
    "window": "size, shift=None, stride=1, drop_remainder=False, name=None",
    "with_options": "options, name=None",
    "zip": "*args, datasets=None, name=None",
}

SOURCES = {
    "TFRecordDataset": "filenames, compression_type=None, buffer_size=None, num_parallel_reads=None",
    "TextLineDataset": "filenames, compression_type=None, buffer_size=None, num_parallel_reads=None",
    "FixedLengthRecordDataset": "filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, "
                                "compression_type=None, num_parallel_reads=None",
    "experimental.SqlDataset": "driver_name, data_source_name, query, output_types",
    "TensorSpec": "shape, dtype=float32, name=None",
}

DEBUGGING = {
    "Assert": "condition, data, summarize=None, name=None",
    "assert_all_finite": "x, message, name=None",
    "assert_equal": "x, y, message=None, summarize=None, name=None",
    "assert_greater": "x, y, message=None, summarize=None, name=None",
    "assert_greater_equal": "x, y, message=None, summarize=None, name=None",
    "assert_less": "x, y, message=None, summarize=None, name=None",
    "assert_less_equal": "x, y, message=None, summarize=None, name=None",
    "assert_near": "x, y, rtol=None, atol=None, message=None, summarize=None, name=None",
    "assert_negative": "x, message=None, summarize=None, name=None",
    "assert_non_negative": "x, message=None, summarize=None, name=None",
    "assert_non_positive": "x, message=None, summarize=None, name=None",
    "assert_none_equal": "x, y, summarize=None, message=None, name=None",
    "assert_positive": "x, message=None, summarize=None, name=None",
    "assert_integer": "x, message=None, name=None",
    "assert_proper_iterable": "values",
    "assert_rank": "x, rank, message=None, name=None",
    "assert_rank_at_least": "x, rank, message=None, name=None",
    "assert_rank_in": "x, ranks, message=None, name=None",
    "assert_same_float_dtype": "tensors=None, dtype=None",
    "assert_scalar": "tensor, message=None, name=None",
    "assert_shapes": "shapes, data=None, summarize=None, message=None, name=None",
    "assert_type": "tensor, tf_type, message=None, name=None",
    "is_numeric_tensor": "tensor",
    "check_numerics": "tensor, message, name=None",
}

#: The names in tf.data and tf.data.experimental.
DATA = ["AUTOTUNE", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY", "Iterator",
        "IteratorSpec", "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions",
        "UNKNOWN_CARDINALITY", "experimental"]

EXPERIMENTAL = [
    "AUTOTUNE", "AutoShardPolicy", "CheckpointInputPipelineHook", "Counter", "CsvDataset", "DistributeOptions",
    "ExternalStatePolicy", "INFINITE_CARDINALITY", "OptimizationOptions", "Optional", "RandomDataset", "SqlDataset",
    "StatsAggregator", "StatsOptions", "TFRecordWriter", "ThreadingOptions", "UNKNOWN_CARDINALITY",
    "assert_cardinality", "bucket_by_sequence_length", "bytes_produced_stats", "cardinality", "choose_from_datasets",
    "copy_to_device", "dense_to_ragged_batch", "dense_to_sparse_batch", "enumerate_dataset", "from_variant",
    "get_next_as_optional", "get_single_element", "get_structure", "group_by_reducer", "group_by_window",
    "ignore_errors", "index_table_from_dataset", "latency_stats", "make_batched_features_dataset", "make_csv_dataset",
    "make_saveable_from_iterator", "map_and_batch", "parallel_interleave", "parse_example_dataset",
    "prefetch_to_device", "rejection_resample", "sample_from_datasets", "scan", "service", "shuffle_and_repeat",
    "snapshot", "table_from_dataset", "take_while", "to_variant", "unbatch", "unique",
]
