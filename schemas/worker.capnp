@0xc8d94e07a16b3f25;
# Messages from jobs and the dispatcher to a worker.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Sharding = import "sharding.capnp";

struct StartTask {
  # Orders a worker to run a task. A repeated order does not start the task again: the task adopts
  # the list `readers`, and the worker sends the task's unanswered questions again.

  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  jobId @2 :UInt64;
  repetition @3 :UInt64;
  processingMode @4 :Sharding.ShardingPolicy;
  graph @5 :Data;
  # A DatasetGraph message. Empty: the worker may have the graph already; if not, it answers
  # notFound.
  seed @6 :UInt64;
  # The seed for operators that have none of their own. Under OFF each task has a seed of its own,
  # otherwise all tasks have the seed of the repetition.
  shared @7 :Bool;
  # Several consumers may read the task.
  fingerprint @8 :Data;
  # SHA-256 of the graph.
  readers @9 :TaskReaders;
  # The readers at the time of the order.
  leaseNs @10 :UInt64;
  # The lease of the service. If a link is lost, both of its ends have detected the loss when 1.25
  # times this duration has passed.
  eager @11 :Bool;
  # True: the task may lease splits before a reader opens a stream. No reader can miss its rows:
  # each is informed of the task before the reader could take the repetition for finished.
  shards @12 :UInt32;
  # Under a static policy: the number of shards of the dataset; otherwise zero.
  shard @13 :UInt32;
  # The shard of this worker, from zero.
  guarantee @14 :Sharding.Guarantee;
  crossTrainerCache @15 :Bool;
  # True: readers name their trainers, and each trainer is given all elements. The next two fields
  # belong to the cache, as in JobParameters.
  cacheWaitNs @16 :UInt64;
  expectedTrainers @17 :UInt32;
  numConsumers @18 :UInt32;
  # Not zero: coordinated reads by this many consumers.
  resumes @19 :Bool;
  # The worker has confirmed at some time that it runs the task. A worker that has it no more answers
  # aborted, and does not run it from the beginning.
}

struct TaskReaders {
  # The readers of a task, as its job names them. A consumer that is no longer named is gone, and
  # the rows that it was sent and had neither claimed nor handed out go to the other consumers.

  taskId @0 :UInt64;
  version @1 :UInt64;
  # An older message that arrives late is dropped.
  consumers @2 :List(UInt64);
  nodes @3 :List(UInt64);
  # For each of the consumers, in the same order: the id of the node that opens its streams, as in
  # the hello of that node's links. Zero, or missing: any node.
  departed @4 :List(ReaderMark);
  # Consumers that left in order, with the number of elements that each had handed out: later rows
  # that they were sent go to the remaining consumers.
}

struct ReaderMark {
  # A consumer's position in the stream of a task.

  consumerId @0 :UInt64;
  taskId @1 :UInt64;
  handedOut @2 :UInt64;
  # The number of elements of the task's stream that the consumer's trainer was handed.
  received @3 :UInt64;
  # The number of elements of the task's stream that the consumer has received; set only where the
  # message that contains this mark requires it.
}

struct StopTask {
  taskId @0 :UInt64;
  reason @1 :Text;
}

struct WorkerMessage {
  union {
    none @0 :Void;
    startTask @1 :StartTask;
    # The answer is ok, or a failure.
    stopTask @2 :StopTask;
    # The answer is ok, even if there is no such task.
    readers @3 :TaskReaders;
    # The answer is ok, or a failure (not_found): there is no such task.
    saves @4 :Void;
    # There are steps of saves, which the worker should request. The answer is ok.
  }
}
