@0xf8c0decfb2280745;
# What a dispatcher keeps: the facts that change its record of the service (actors/dispatcher/service_record.hpp), and that
# record as a whole. Written and read by one host; a newer build reads what an older one wrote.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Dispatcher = import "dispatcher.capnp";
using import "failure.capnp".Failure;
using Sharding = import "sharding.capnp";
using Status = import "status.capnp";

struct JobEntry {
  # A job that the service has.

  jobId @0 :UInt64;
  name @1 :Text;
  # Empty: anonymous.
  datasetId @2 :Text;
  parameters @3 :Sharding.JobParameters;
  key @4 :Data;
  # Who asks with this key means this job. Bytes: a part of it may be a fingerprint.
  found @5 :Bool;
  # Only in a state: the key leads to this job.
  shards @6 :UInt32;
  # Under a static policy: how many workers the dispatcher's list had when the job began.
  past @7 :Sharding.JobPast;
  # Repetitions that were over before this job began: earlier ones of the same key had them.
  targets @8 :Sharding.TargetWorkers;
  # From which workers its readers read, after the dispatcher's deployment mode was looked at.
}

struct WorkerPlace {
  # Who has an entry of the dispatcher's list of workers, or had it last.

  entry @0 :UInt32;
  # From zero.
  workerId @1 :UInt64;
  dataAddress @2 :Text;
}

struct JobOver {
  # A job is over.

  jobId @0 :UInt64;
  past @1 :Sharding.JobPast;
  # Its repetitions that are over: who asks for them by the job's key is told so.
  collected @2 :Bool;
  # It ended as nobody read it, with a repetition that was not finished.
}

struct JobJoined {
  # One more consumer of a job, with a dataset id of its own.

  jobId @0 :UInt64;
  datasetId @1 :Text;
}

struct SaveEntry {
  # A save that runs. How far it is, is in its folder.

  saveId @0 :UInt64;
  path @1 :Text;
  datasetId @2 :Text;
  fingerprint @3 :Data;
  # SHA-256 of the dataset's graph.
  compression @4 :Text;
}

struct ServiceFact {
  # An arm that the reader does not know is refused, with all that was written with it.

  union {
    none @0 :Void;
    # Never written.
    datasetRegistered @1 :Dispatcher.RegisterDataset;
    # The graph and the element's spec are left out where the fingerprint is known already.
    jobStarted @2 :JobEntry;
    jobJoined @3 :JobJoined;
    jobOver @4 :JobOver;
    workerNamed @5 :UInt64;
    # A worker got this number, which no worker had before.
    workerPlaced @6 :WorkerPlace;
    workerDrains @7 :UInt64;
    # The worker of this number is to leave.
    workerDrained @8 :UInt64;
    # It has left.
    saveBegun @9 :SaveEntry;
    saveEnded @10 :Status.SaveStatus;
    # With what is known of it in the end.
  }
}

struct ServiceFacts {
  # Facts that were decided together: they hold all, or none does.

  facts @0 :List(ServiceFact);
  # In the order in which they are applied.
}

struct ServiceState {
  lastDataset @0 :UInt64;
  # The next dataset id that the dispatcher chooses is looked for after this number.
  graphs @1 :List(Graph);
  jobs @2 :List(JobEntry);
  passing @3 :List(Passing);
  unused @4 :List(Text);
  # Of these, in the order of their registration: those that no job was asked for with yet.
  leftOver @5 :List(Text);
  # And those whose jobs are over, in the order of these ends.
  lastWorker @6 :UInt64;
  # The highest number of a worker.
  places @7 :List(WorkerPlace);
  ended @8 :List(EndedName);
  # The keys of named jobs that are over, in the order of their ends.
  collected @9 :List(UInt64);
  # The latest jobs that were collected, in the order of their ends.
  draining @10 :List(UInt64);
  # Numbers of workers that are to leave.
  saves @11 :List(SaveEntry);
  # Those that run.
  endedSaves @12 :List(Status.SaveStatus);
  # The latest that are over, in the order of their ends.

  struct EndedName {
    hash @0 :UInt64;
    hash2 @1 :UInt64;
    # Of the job's key.
    jobId @2 :UInt64;
    # The last one that had it.
    past @3 :Sharding.JobPast;
  }

  struct Graph {
    # What was registered, and under which ids.

    graph @0 :Data;
    # A DatasetGraph message.
    elementSpec @1 :Data;
    # An ElementSpec message.
    fingerprint @2 :Data;
    # SHA-256 of the graph.
    ids @3 :List(Text);
    # At least one.
  }

  struct Passing {
    # A dataset id that the dispatcher chose for one iteration.

    datasetId @0 :Text;
    usedBy @1 :List(UInt64);
    # Jobs.
  }
}
