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
  # The worker's lease has not expired.
  sinceHeartbeatNs @5 :UInt64;
  tasks @6 :UInt32;
  tree @7 :Data;
  # The worker's last SupervisionTree message; may be empty.
  left @8 :Bool;
  # The worker is not alive, and left in order.
  draining @9 :Bool;
  # The worker is alive, and about to leave: it gets no new tasks.
  metrics @10 :List(Metric);
  # The metrics in the worker's last heartbeat.
}

struct ListEntryStatus {
  # An entry of the dispatcher's list of workers. Under a static policy the worker to which the
  # entry belongs has the shard with the entry's index.

  name @0 :Text;
  # The entry in its configured form.
  workerId @1 :UInt64;
  # The worker to which the entry belongs, or belonged last; 0: no worker has registered for it yet.
  dataAddress @2 :Text;
  # The data address of that worker.
}

struct CacheTrainer {
  trainerId @0 :Text;
  lag @1 :UInt64;
  # The number of elements that were made and were neither handed to the trainer nor skipped.
  skipped @2 :UInt64;
  # The number of elements that left the window before the trainer was handed them.
  streams @3 :UInt32;
  # The number of the trainer's connected streams; 0: the trainer is away.
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
  # How often a block of the window was encoded, in total.
  trainers @5 :List(CacheTrainer);
  budget @6 :UInt64;
  # The bytes that all windows of the worker may take together.
}

struct OperatorStatus {
  # The activity of one operator of a running task in the last seconds.

  name @0 :Text;
  # The name with the parameters that distinguish the operator: `batch(64)`.
  depth @1 :UInt32;
  # The depth in the tree of operators: 0 for the operator whose elements the task gives, and for
  # an input one more than for the operator that reads the input. Inputs follow their operator.
  inFunction @2 :Bool;
  # The operator belongs to a dataset in the function of another operator.
  calls @3 :Float32;
  # The number of the operator's calls that may run at a time.
  rowsPerSecond @4 :Float32;
  bytesPerSecond @5 :Float32;
  # The fields below are shares of the operator's time; their sum is 1.
  busy @6 :Float32;
  # The operator computed.
  input @7 :Float32;
  # The operator waited for its inputs.
  output @8 :Float32;
  # The operator was blocked by its output: no rows were requested of it, or it could hold no more
  # rows.
  lease @9 :Float32;
  # The operator waited for splits of its job.
  storage @10 :Float32;
  # The operator waited for files.
  memory @11 :Float32;
  # The operator could not read ahead, because the memory of the graph was used up.
  queued @12 :Float32;
  # The operator's calls waited for a thread.
}

struct TrainerStatus {
  # The activity of a reader of a job in the last seconds.

  consumerId @0 :UInt64;
  name @1 :Text;
  # The trainer id of a cross-trainer cache, or `consumer I` of coordinated reads; else empty.
  host @2 :Text;
  # The host and process of the trainer, as HOST:PID.
  waited @3 :Float32;
  # The share of the time in which the trainer waited for elements; negative: not known yet.
  elementsPerSecond @4 :Float64;
  bytesPerSecond @5 :Float64;
  elements @6 :UInt64;
  # The total number of elements that the trainer was handed.
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
  # starting, running, ended, failed, lost, left
  ignored @8 :UInt64;
  # Elements that failed and were left out by ignore_errors.
  window @9 :CacheWindow;
  # Absent: the job has no cross-trainer cache.
  operators @10 :List(OperatorStatus);
  # The operators of the running pipeline, from its output to its sources.
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
  # The tasks that serve the rounds of the epoch, in turn.
  round @5 :UInt64;
  # The next round of the consumer that is furthest ahead, as last reported.
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
  # The reason why the newest repetition failed; else empty.
  lostTasks @9 :UInt64;
  # The number of lost tasks, as in IterationLosses.tasks. All losses are those of the newest
  # repetition.
  lostSplits @10 :UInt64;
  # Splits of which rows may be missing; an upper bound.
  rereadSplits @11 :UInt64;
  # Splits of lost tasks, or splits that lost readers held, that other tasks read again.
  lostElements @12 :UInt64;
  # Elements that a lost reader had claimed, or had received from a worker that is gone, and that no
  # other reader is given; an upper bound.
  guarantee @13 :Text;
  repeatedSplits @14 :UInt64;
  # The number of those among `rereadSplits` of which rows may have been handed out before.
  rounds @15 :RoundsStatus;
  # Absent: the job has no coordinated reads.
  trainers @16 :List(TrainerStatus);
  # The readers of the newest repetition.
}

struct SaveStatus {
  # A save: a dataset that the workers write into a folder.

  enum State {
    planning @0;
    # A worker divides the dataset, or finds out what is in the folder.
    writing @1;
    finishing @2;
    # All pieces are written: they are being joined.
    saved @3;
    failed @4;
  }

  saveId @0 :UInt64;
  version @1 :UInt64;
  # Increases with each change of the save.
  path @2 :Text;
  datasetId @3 :Text;
  state @4 :State;
  pieces @5 :UInt64;
  # Zero until the number of pieces is known.
  written @6 :UInt64;
  # The number of written pieces.
  rows @7 :UInt64;
  bytes @8 :UInt64;
  # Rows and bytes in the written pieces.
  workers @9 :UInt32;
  # The number of workers that have a step of the save.
  failure @10 :Failure;
  # The reason why the save failed.
  wholeBecause @11 :Text;
  # The reason why one worker writes the dataset alone; else empty.
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
  # The parts that were left out of this answer because the message would have been too large; else
  # empty.
  workDir @7 :Text;
  # The directory in which datasets and jobs are stored. Empty: they are in memory, and are lost
  # when the dispatcher's process ends.
  diskTrouble @8 :Text;
  # The reason why the directory `workDir` cannot be written to, so that no new work is begun; else
  # empty.
  workerAddresses @9 :List(ListEntryStatus);
  # The dispatcher's list of workers; empty: any worker may register.
  saves @10 :List(SaveStatus);
  # The running saves, and the latest that have ended.
  metrics @11 :List(Metric);
  # The metrics of the dispatcher's node that are not zero.
}
