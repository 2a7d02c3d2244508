@0xf8c0decfb2280745;
# The facts of a dispatcher's record of the service (actors/dispatcher/service_record.hpp), and the
# record as a whole. Both are stored in the dispatcher's journal and are not exchanged between
# hosts. A newer build can read what an older build has written.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Dispatcher = import "dispatcher.capnp";
using import "failure.capnp".Failure;
using Sharding = import "sharding.capnp";
using Status = import "status.capnp";

struct JobEntry {
  # A job of the service.

  jobId @0 :UInt64;
  name @1 :Text;
  # Empty: anonymous.
  datasetId @2 :Text;
  parameters @3 :Sharding.JobParameters;
  key @4 :Data;
  # Requests with this key are for this job. The type is not Text, because a part of the key may be
  # a fingerprint, whose bytes are arbitrary.
  found @5 :Bool;
  # Used only in a ServiceState. True: requests with the key are for this job; false: they are for
  # another job, or for none.
  shards @6 :UInt32;
  # Under a static policy: the number of entries in the dispatcher's list when the job began.
  past @7 :Sharding.JobPast;
  # The repetitions that earlier jobs with this key have finished.
  targets @8 :Sharding.TargetWorkers;
  # The workers from which the job's readers read; the dispatcher's deployment mode decided what
  # `automatic` meant.
}

struct WorkerPlace {
  # The worker to which an entry of the dispatcher's list of workers belongs, or belonged last.

  entry @0 :UInt32;
  # The index of the entry, from zero.
  workerId @1 :UInt64;
  dataAddress @2 :Text;
}

struct JobOver {
  # A job is over.

  jobId @0 :UInt64;
  past @1 :Sharding.JobPast;
  # The finished repetitions of the job, for later requests with its key.
  collected @2 :Bool;
  # A repetition of the job was collected, and has not begun again.
}

struct JobJoined {
  # The job also uses this dataset id, which the dispatcher chose for one iteration.

  jobId @0 :UInt64;
  datasetId @1 :Text;
}

struct SaveEntry {
  # A running save. Its progress is recorded in its folder.

  saveId @0 :UInt64;
  path @1 :Text;
  datasetId @2 :Text;
  fingerprint @3 :Data;
  # SHA-256 of the dataset's graph.
  compression @4 :Text;
}

struct ServiceFact {
  # If this build does not define a stored union member, it refuses all facts of the ServiceFacts.

  union {
    none @0 :Void;
    # The member is never written.
    datasetRegistered @1 :Dispatcher.RegisterDataset;
    # Graph and element spec are left out if the record has the fingerprint already.
    jobStarted @2 :JobEntry;
    jobJoined @3 :JobJoined;
    jobOver @4 :JobOver;
    workerNamed @5 :UInt64;
    # A worker got this number, which no worker had before.
    workerPlaced @6 :WorkerPlace;
    workerDrains @7 :UInt64;
    # The worker with this number is to leave.
    workerDrained @8 :UInt64;
    # The worker with this number has left.
    saveBegun @9 :SaveEntry;
    saveEnded @10 :Status.SaveStatus;
    # A save has ended, with this state.
  }
}

struct ServiceFacts {
  # Facts that were decided on together: all of them are stored, or none.

  facts @0 :List(ServiceFact);
  # The facts in the order in which they are applied.
}

struct ServiceState {
  lastDataset @0 :UInt64;
  # The search for the next dataset id that the dispatcher chooses begins after this number.
  graphs @1 :List(Graph);
  jobs @2 :List(JobEntry);
  passing @3 :List(Passing);
  unused @4 :List(Text);
  # The ids in `passing` that no job or save has used yet, in the order of their registration.
  leftOver @5 :List(Text);
  # The ids in `passing` whose jobs and saves are over, in the order of these ends.
  lastWorker @6 :UInt64;
  # The highest number of a worker.
  places @7 :List(WorkerPlace);
  ended @8 :List(EndedName);
  # The keys of named jobs that are over, in the order of their ends.
  collected @9 :List(UInt64);
  # The last jobs that ended with `JobOver.collected`, in the order of their ends.
  draining @10 :List(UInt64);
  # The numbers of workers that are to leave.
  saves @11 :List(SaveEntry);
  # The running saves.
  endedSaves @12 :List(Status.SaveStatus);
  # The saves that have ended last, in the order of their ends.

  struct EndedName {
    hash @0 :UInt64;
    hash2 @1 :UInt64;
    # `hash` and `hash2`: the two halves of the hash of the job's key.
    jobId @2 :UInt64;
    # The latest job with that key.
    past @3 :Sharding.JobPast;
  }

  struct Graph {
    # A registered graph, with its ids.

    graph @0 :Data;
    # A DatasetGraph message.
    elementSpec @1 :Data;
    # An ElementSpec message.
    fingerprint @2 :Data;
    # SHA-256 of the graph.
    ids @3 :List(Text);
    # The ids that stand for the graph, at least one.
  }

  struct Passing {
    # A dataset id that the dispatcher chose for one iteration.

    datasetId @0 :Text;
    usedBy @1 :List(UInt64);
    # The ids of the jobs and saves that use the dataset.
  }
}
