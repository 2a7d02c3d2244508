@0xb4f1d07a3c6e9825;
# How the workers of a service share a dataset.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

enum ShardingPolicy {
  # A value that the receiver does not know is refused, never read as another.

  off @0;
  # Each worker runs the whole graph.
  dynamic @1;
  # Workers lease splits of its sources from the job.
  file @2;
  # This and the following are static: each worker of the dispatcher's list has a shard of its own. Of each source its own
  # files.
  data @3;
  # Of the elements each n-th.
  fileOrData @4;
  # As file where there are files enough, else as data.
  hint @5;
  # What the graph divides itself, by shard operators that leave number and index open.
}

enum TargetWorkers {
  # From which workers a client reads.

  automatic @0;
  any @1;
  local @2;
  # Of its own process.
}

struct JobParameters {
  # What all clients of one job must agree on.

  processingMode @0 :ShardingPolicy;
  targetWorkers @1 :TargetWorkers;
  numConsumers @2 :UInt32;
  # Of coordinated reads; 0: any number, each for itself.
  crossTrainerCache @3 :Bool;
  guarantee @4 :Guarantee;
  cacheWaitNs @5 :UInt64;
  # Of the cross-trainer cache: how long trainers wait for one that falls behind; 0: they do not.
  expectedTrainers @6 :UInt32;
  # Of the cache: how many trainers must have come before any gets an element; 0: one.
}

struct JobPast {
  # Which repetitions of a job are over.

  below @0 :UInt64;
  # All that come before this one.
  also @1 :List(UInt64);
  # Others that ended well.
  failed @2 :List(UInt64);
  # Those that failed, wherever they are.
}

enum Guarantee {
  # What `dynamic` promises where workers or trainers are lost. A value that the receiver does not know is refused.

  atMostOnce @0;
  atLeastOnce @1;
}
