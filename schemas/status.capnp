@0xf0b7c2a94d1e6533;
# What `headrace status` shows.

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
  # Its lease is running.
  sinceHeartbeatNs @5 :UInt64;
  tasks @6 :UInt32;
  tree @7 :Data;
  # Its last SupervisionTree message; may be empty.
  left @8 :Bool;
  # Not alive, and ended in order.
  draining @9 :Bool;
  # Alive, and about to leave: it takes no new tasks.
  metrics @10 :List(Metric);
  # Of its last heartbeat.
}

struct ListEntryStatus {
  # An entry of the dispatcher's list of workers: who has the shard of that index under a static policy.

  name @0 :Text;
  # As it was given.
  workerId @1 :UInt64;
  # Who has it, or had it last; 0: nobody came yet.
  dataAddress @2 :Text;
  # Of that worker.
}

struct CacheTrainer {
  trainerId @0 :Text;
  lag @1 :UInt64;
  # Elements that were made and that it has not been given.
  skipped @2 :UInt64;
  # Elements that it was too slow for.
  streams @3 :UInt32;
  # That are connected; none: it is away.
}

struct CacheWindow {
  # What a task keeps for the trainers that share it.

  first @0 :UInt64;
  end @1 :UInt64;
  # Elements [first, end) of the task's output.
  bytes @2 :UInt64;
  blocks @3 :UInt64;
  # That were put into the window, ever.
  encoded @4 :UInt64;
  # How often a block was encoded to be sent, ever.
  trainers @5 :List(CacheTrainer);
  budget @6 :UInt64;
  # Bytes that all windows of the worker may take together.
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
}

struct RoundsStatus {
  # Of a job with coordinated reads.

  consumers @0 :UInt32;
  # That share each round.
  missing @1 :List(UInt32);
  # The indices of those that are not there.
  epoch @2 :UInt64;
  # Zero: no round has begun.
  firstRound @3 :UInt64;
  # Of that epoch.
  tasks @4 :List(UInt64);
  # Whose rounds these are, in turn.
  round @5 :UInt64;
  # That the foremost consumer takes next, as it last said.
}

struct JobStatus {
  jobId @0 :UInt64;
  name @1 :Text;
  # Empty: anonymous.
  datasetId @2 :Text;
  processingMode @3 :Text;
  repetition @4 :UInt64;
  # The newest one.
  consumers @5 :UInt32;
  state @6 :Text;
  # running, finished, failed
  tasks @7 :List(TaskStatus);
  failure @8 :Text;
  # Why it failed; else empty.
  lostTasks @9 :UInt64;
  # Of the newest repetition: those that were lost with rows that no consumer got.
  lostSplits @10 :UInt64;
  # Of which rows may be missing, at most.
  rereadSplits @11 :UInt64;
  # Of tasks that were lost, or that trainers held that are gone, that other tasks were given.
  lostElements @12 :UInt64;
  # That were with a trainer when it was gone without a word, and that no other is given; at most so many.
  guarantee @13 :Text;
  repeatedSplits @14 :UInt64;
  # Of those that were read again: rows of them may have been handed out before.
  rounds @15 :RoundsStatus;
  # Absent: the job has no coordinated reads.
}

struct SaveStatus {
  # A dataset that the workers write into a folder.

  enum State {
    planning @0;
    # A worker looks how it can be divided, and what is there.
    writing @1;
    finishing @2;
    # All pieces are there.
    saved @3;
    failed @4;
  }

  saveId @0 :UInt64;
  version @1 :UInt64;
  # Another one with each change.
  path @2 :Text;
  datasetId @3 :Text;
  state @4 :State;
  pieces @5 :UInt64;
  # Zero until that is known.
  written @6 :UInt64;
  # Pieces that are there.
  rows @7 :UInt64;
  bytes @8 :UInt64;
  # Of these.
  workers @9 :UInt32;
  # That work on it now.
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
  # What this answer does not say, as it would be larger than a message may be; else empty.
  workDir @7 :Text;
  # Where datasets and jobs are kept. Empty: in memory, so that they end with the dispatcher's process.
  diskTrouble @8 :Text;
  # Why nothing new is begun: that directory cannot be written. Else empty.
  workerAddresses @9 :List(ListEntryStatus);
  # The dispatcher's list of workers; empty: any worker may come.
  saves @10 :List(SaveStatus);
  # Those that run, and the latest that are over.
  metrics @11 :List(Metric);
  # Of the dispatcher's node; those that are not zero.
}
