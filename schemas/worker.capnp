@0xc8d94e07a16b3f25;
# What the dispatcher says to a worker.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Sharding = import "sharding.capnp";

struct StartTask {
  # May be repeated: a task that runs already stays as it is.

  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  jobId @2 :UInt64;
  repetition @3 :UInt64;
  processingMode @4 :Sharding.ShardingPolicy;
  graph @5 :Data;
  # A Graph message. Empty: the worker may have it from before; notFound if it has not (any more).
  seed @6 :UInt64;
  # For operators that were given none. Under OFF each task has its own, under DYNAMIC all have the same.
  shared @7 :Bool;
  # Several consumers may read.
  fingerprint @8 :Data;
  # SHA-256 of the graph.
  readers @9 :TaskReaders;
  # Who may read at first.
  leaseNs @10 :UInt64;
  # Of the service: how long a link may be silent before both of its ends have noticed.
  eager @11 :Bool;
  # May lease splits before a reader opens a stream: no reader can take the iteration for over without having heard of this
  # task.
  shards @12 :UInt32;
  # Under a static policy: how many workers share the dataset; zero else.
  shard @13 :UInt32;
  # Which of them this one is, from zero.
  guarantee @14 :Sharding.Guarantee;
  crossTrainerCache @15 :Bool;
  # Its readers name trainers, and each trainer is given all elements. The next two are of that, as in JobParameters.
  cacheWaitNs @16 :UInt64;
  expectedTrainers @17 :UInt32;
  numConsumers @18 :UInt32;
  # Not zero: coordinated reads, in which each of so many consumers takes one element a round.
}

struct TaskReaders {
  # Who reads a task: the job alone decides that. A consumer that is not named any more is gone, and what it was sent
  # and has not handed out is for the others.

  taskId @0 :UInt64;
  version @1 :UInt64;
  # An older one that comes late is dropped.
  consumers @2 :List(UInt64);
  nodes @3 :List(UInt64);
  # Of each of the consumers, in their order: the node that its streams come from, as that node says in the hello of its
  # links. Zero, or missing: any.
  departed @4 :List(ReaderMark);
  # Consumers that left in order, and how far they were: what they had been sent beyond that is for the others.
}

struct ReaderMark {
  # How far a consumer is with a task.

  consumerId @0 :UInt64;
  taskId @1 :UInt64;
  handedOut @2 :UInt64;
  # Elements of its stream that its trainer was given.
  received @3 :UInt64;
  # Elements of its stream that reached it; only where that is asked for.
}

struct StopTask {
  taskId @0 :UInt64;
  reason @1 :Text;
}

struct WorkerMessage {
  union {
    none @0 :Void;
    startTask @1 :StartTask;
    # ok
    stopTask @2 :StopTask;
    # ok, also if there is no such task
    readers @3 :TaskReaders;
    # ok, or a failure (not_found): there is no such task
    saves @4 :Void;
    # ok: there are steps of saves to ask for
  }
}
