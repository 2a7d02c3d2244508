@0xb4f1d07a3c6e9825;
# How the workers of a service share a dataset.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

enum ShardingPolicy {
  # A value that the receiver does not define is refused, never read as another one.

  off @0;
  # Each worker runs the whole graph.
  dynamic @1;
  # Workers lease splits of the graph's sources from the job.
  file @2;
  # This policy and the following ones are static: each worker of the dispatcher's list has a shard
  # of its own. Under `file` each worker reads files of its own.
  data @3;
  # Each of n workers makes all elements and gives every n-th one.
  fileOrData @4;
  # As `file` if there are enough files, otherwise as `data`.
  hint @5;
  # The graph is divided by its shard operators that leave number and index unset.
}

enum TargetWorkers {
  # The workers that a client reads from.

  automatic @0;
  any @1;
  local @2;
  # The workers in the client's own process.
}

struct JobParameters {
  # The parameters on which all clients of one job must agree.

  processingMode @0 :ShardingPolicy;
  targetWorkers @1 :TargetWorkers;
  numConsumers @2 :UInt32;
  # The number of consumers of coordinated reads; 0: no coordinated reads.
  crossTrainerCache @3 :Bool;
  guarantee @4 :Guarantee;
  cacheWaitNs @5 :UInt64;
  # In a job with a cross-trainer cache: how long trainers wait for one that is behind; 0: they do
  # not wait.
  expectedTrainers @6 :UInt32;
  # In a job with a cross-trainer cache: the number of trainers that must have joined before any of
  # them is given an element; 0: one.
}

struct JobPast {
  # The repetitions of a job that are finished.

  below @0 :UInt64;
  # All repetitions before this one are finished.
  also @1 :List(UInt64);
  # Other repetitions that succeeded.
  failed @2 :List(UInt64);
  # Repetitions that failed, also those before `below`.
}

enum Guarantee {
  # The guarantee under `dynamic` if workers or trainers are lost. A value that the receiver does
  # not define is refused.

  atMostOnce @0;
  atLeastOnce @1;
}
