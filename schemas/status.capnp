@0xf0b7c2a94d1e6533;
# The answer to `headrace status`.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using import "failure.capnp".Failure;
using import "metrics.capnp".Metric;

struct WorkerStatus {
  workerId @0 :UInt64;
  dataAddress @1 :Text;
  tags @2 :List(Text);
  pid @3 :UInt32;
  alive @4 :Bool;
  # Its lease has not expired.
  sinceHeartbeatNs @5 :UInt64;
  tasks @6 :UInt32;
  tree @7 :Data;
  # Its last SupervisionTree message; may be empty.
  left @8 :Bool;
  # It is not alive, and left in order.
  draining @9 :Bool;
  # It is alive, and about to leave: it gets no new tasks.
  metrics @10 :List(Metric);
  # As its last heartbeat had them.
}

struct ListEntryStatus {
  # An entry of the dispatcher's list of workers. The worker that has it gets the shard with its
  # index under a static policy.

  name @0 :Text;
  # The entry, as it was configured.
  workerId @1 :UInt64;
  # The worker that has it, or had it last; 0: none came yet.
  dataAddress @2 :Text;
  # The data address of that worker.
}

struct CacheTrainer {
  trainerId @0 :Text;
  lag @1 :UInt64;
  # Elements that were made and that it was not handed.
  skipped @2 :UInt64;
  # Elements that left the window before it was handed them.
  streams @3 :UInt32;
  # Its connected streams; none: it is away.
}

struct CacheWindow {
  # The window of a task, for the trainers that share it.

  first @0 :UInt64;
  end @1 :UInt64;
  # The window has elements [first, end) of the task's output.
  bytes @2 :UInt64;
  blocks @3 :UInt64;
  # The total number of blocks that were added to the window.
  encoded @4 :UInt64;
  # The total number of encodings.
  trainers @5 :List(CacheTrainer);
  budget @6 :UInt64;
  # The bytes that all windows of the worker may take together.
}

struct OperatorStatus {
  # What one operator of a running task has done in the last seconds.

  name @0 :Text;
  # With what distinguishes it: `batch(64)`.
  depth @1 :UInt32;
  # Zero: it gives the task's elements. Inputs are one deeper than their users, and follow them.
  inFunction @2 :Bool;
  # It belongs to a dataset in the function of another operator.
  calls @3 :Float32;
  # How many of it may run at a time.
  rowsPerSecond @4 :Float32;
  bytesPerSecond @5 :Float32;
  # What its time went into, as shares, whose sum is 1:
  busy @6 :Float32;
  # It computed.
  input @7 :Float32;
  # It waited for its inputs.
  output @8 :Float32;
  # It was not asked for rows, or could hold no more of them.
  lease @9 :Float32;
  # It waited for splits of its job.
  storage @10 :Float32;
  # It waited for files.
  memory @11 :Float32;
  # It could read nothing ahead, as the memory of the graph was used up.
  queued @12 :Float32;
  # Its calls waited for a thread.
}

struct TrainerStatus {
  # What a reader of a job has done in the last seconds.

  consumerId @0 :UInt64;
  name @1 :Text;
  # The trainer id of a cross-trainer cache, or `consumer I` of coordinated reads; else empty.
  host @2 :Text;
  # The host and process of the trainer, as HOST:PID.
  waited @3 :Float32;
  # The share of the time in which it waited for elements; negative: not known yet.
  elementsPerSecond @4 :Float64;
  bytesPerSecond @5 :Float64;
  elements @6 :UInt64;
  # That it was handed in all.
}

struct TaskStatus {
  taskId @0 :UInt64;
  workerId @1 :UInt64;
  elements @2 :UInt64;
  bytes @3 :UInt64;
  elementsPerSecond @4 :Float64;
  streams @5 :UInt32;
  restarts @6 :UInt32;
  state @7 :Text;
  # running, ended, failed, lost
  ignored @8 :UInt64;
  # Elements that failed and were left out by ignore_errors.
  window @9 :CacheWindow;
  # Absent: the job has no cross-trainer cache.
  operators @10 :List(OperatorStatus);
  # Of the running pipeline, users before their inputs.
}

struct RoundsStatus {
  # The rounds of a job with coordinated reads.

  consumers @0 :UInt32;
  # The number of consumers that share each round.
  missing @1 :List(UInt32);
  # The free seats.
  epoch @2 :UInt64;
  # Zero: no round has begun.
  firstRound @3 :UInt64;
  # The first round of that epoch.
  tasks @4 :List(UInt64);
  # The tasks that serve its rounds, in turn.
  round @5 :UInt64;
  # The next round of the foremost consumer, as it last reported.
}

struct JobStatus {
  jobId @0 :UInt64;
  name @1 :Text;
  # Empty: anonymous.
  datasetId @2 :Text;
  processingMode @3 :Text;
  repetition @4 :UInt64;
  # The newest repetition.
  consumers @5 :UInt32;
  state @6 :Text;
  # running, finished, failed
  tasks @7 :List(TaskStatus);
  failure @8 :Text;
  # Why the job failed; else empty.
  lostTasks @9 :UInt64;
  # In the newest repetition: lost tasks that had rows which no consumer received.
  lostSplits @10 :UInt64;
  # Splits of which rows may be missing; an upper bound.
  rereadSplits @11 :UInt64;
  # Splits of lost tasks, or splits that lost readers held, that other tasks read again.
  lostElements @12 :UInt64;
  # Elements that a lost reader had claimed, or had received from a worker that is gone, and that no
  # other reader is given; an upper bound.
  guarantee @13 :Text;
  repeatedSplits @14 :UInt64;
  # The splits among `rereadSplits` of which rows may have been handed out before.
  rounds @15 :RoundsStatus;
  # Absent: the job has no coordinated reads.
  trainers @16 :List(TrainerStatus);
  # The readers of the newest repetition.
}

struct SaveStatus {
  # A save: a dataset that the workers write into a folder.

  enum State {
    planning @0;
    # A worker divides the dataset, and finds out what is in the folder.
    writing @1;
    finishing @2;
    # All pieces are written.
    saved @3;
    failed @4;
  }

  saveId @0 :UInt64;
  version @1 :UInt64;
  # Changes with each change of the save.
  path @2 :Text;
  datasetId @3 :Text;
  state @4 :State;
  pieces @5 :UInt64;
  # Zero until the number is known.
  written @6 :UInt64;
  # The number of written pieces.
  rows @7 :UInt64;
  bytes @8 :UInt64;
  # Rows and bytes in these pieces.
  workers @9 :UInt32;
  # The number of workers that have a step of it.
  failure @10 :Failure;
  # Why it failed.
  wholeBecause @11 :Text;
  # Why one worker writes it alone; else empty.
}

struct ServiceStatus {
  version @0 :Text;
  uptimeNs @1 :UInt64;
  datasets @2 :UInt32;
  workers @3 :List(WorkerStatus);
  jobs @4 :List(JobStatus);
  tree @5 :Data;
  # The dispatcher's own SupervisionTree message.
  leftOut @6 :Text;
  # What was left out of this answer because it would have been too large for a message; else empty.
  workDir @7 :Text;
  # The directory with datasets and jobs. Empty: they are in memory, and end with the dispatcher's
  # process.
  diskTrouble @8 :Text;
  # Why nothing new is begun: that directory cannot be written. Else empty.
  workerAddresses @9 :List(ListEntryStatus);
  # The dispatcher's list of workers; empty: any worker may register.
  saves @10 :List(SaveStatus);
  # The running saves, and the latest that have ended.
  metrics @11 :List(Metric);
  # The metrics of the dispatcher's node that are not zero.
}
