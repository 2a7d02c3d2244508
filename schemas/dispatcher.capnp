@0xa3c5f1b60d2e7719;
# What workers, consumers and tools say to the dispatcher, and what it answers. Everything about one job is
# handed on to that job's actor.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using import "failure.capnp".Failure;
using import "metrics.capnp".Metric;
using Save = import "save.capnp";
using Sharding = import "sharding.capnp";
using Status = import "status.capnp";
using TaskOutcome = import "task_outcome.capnp";
using Worker = import "worker.capnp";

struct Timing {
  # Chosen by the dispatcher, so that one place decides for the whole service.

  heartbeatNs @0 :UInt64;
  # How often a worker or a consumer says that it lives.
  leaseNs @1 :UInt64;
  # How long it counts as alive after it last said so.
}

struct RunningTask {
  taskId @0 :UInt64;
  jobId @1 :UInt64;
}

struct RegisterWorker {
  # A worker's first message, and its first one after the connection was lost.

  workerId @0 :UInt64;
  # Zero for a new worker; otherwise what a dispatcher gave it before.
  incarnation @1 :UInt64;
  # Random, new with each process.
  dataAddress @2 :Text;
  # host:port where consumers connect.
  tags @3 :List(Text);
  bootId @4 :Text;
  pid @5 :UInt32;
  tasks @6 :List(RunningTask);
  # Those of jobs that the dispatcher does not know are stopped.
  leaving @7 :Bool;
  # It is about to leave, and takes no new tasks.
  place @8 :UInt64;
  # Random, of its process: consumers that name the same one read from it without a socket. Zero: none do.
}

struct WorkerRegistered {
  workerId @0 :UInt64;
  timing @1 :Timing;
  leave @2 :Bool;
  # As HeartbeatHeard.leave.
}

struct TaskProgress {
  taskId @0 :UInt64;
  elements @1 :UInt64;
  # Produced so far.
  bytes @2 :UInt64;
  elementsPerSecond @3 :Float64;
  # Over the last few heartbeats.
  streams @4 :UInt32;
  restarts @5 :UInt32;
  # Of the task's runner.
  ignored @6 :UInt64;
  # Elements that failed and were left out, as the pipeline wanted.
  jobId @7 :UInt64;
  window @8 :Status.CacheWindow;
  # Absent: the task has none.
}

struct WorkerHeartbeat {
  workerId @0 :UInt64;
  incarnation @1 :UInt64;
  tasks @2 :List(TaskProgress);
  tree @3 :Data;
  # A SupervisionTree message, sent when it changed since the last heartbeat; else empty.
  leaving @4 :Bool;
  # It is about to leave, and takes no new tasks.
  metrics @5 :List(Metric);
  # Of the worker's node; those that are not zero.
}

struct HeartbeatHeard {
  # The answer to a worker's heartbeat.

  unwanted @0 :List(UInt64);
  # Tasks among those it named that no job needs: they are to stop.
  leave @1 :Bool;
  # The worker is to leave in order. Said until it says that it does.
  saves @2 :Bool;
  # There are steps of saves to ask for.
}

struct RegisterDataset {
  graph @0 :Data;
  # A Graph message (dataset.capnp), checked by whoever runs it. Empty: the dispatcher may have it from before; notFound
  # if it has not.
  datasetId @1 :Text;
  # Empty: the dispatcher chooses one. An id that is taken means the dataset that has it, if that has the same structure
  # (elements; finite, infinite or of unknown size), else it is an error.
  elementSpec @2 :Data;
  # An ElementSpec message: told to those who read by id.
  fingerprint @3 :Data;
  # SHA-256 of the canonical graph.
  forIteration @4 :Bool;
  # Wanted by one iteration alone: the id that the dispatcher chooses is forgotten some time after that.
}

struct DatasetDef {
  datasetId @0 :Text;
  graph @1 :Data;
  elementSpec @2 :Data;
  fingerprint @3 :Data;
  warning @4 :Text;
  # Of one that was just registered: what whoever registered it should know. Mostly empty.
}

struct OpenIteration {
  # A consumer wants to read. May be repeated: same consumer, same answer.

  consumerId @0 :UInt64;
  # Random, chosen by the consumer.
  datasetId @1 :Text;
  # Empty: `dataset` says what is to be read.
  jobName @2 :Text;
  # Empty: a job for this consumer alone, which ends with it.
  repetition @3 :UInt64;
  # How often this consumer has iterated before; the repetition of a named job that it wants.
  parameters @4 :Sharding.JobParameters;
  # Of an existing job they must be the same.
  jobId @5 :UInt64;
  # The job that it reads; zero before it was told one. Of a job that has failed the answer is its failure, never
  # another job.
  nodeId @6 :UInt64;
  # Of the consumer's node, as it says in the hello of its links: only from there may the streams of this consumer be
  # opened. Zero: not told, so from anywhere.
  dataset @7 :RegisterDataset;
  # Of a consumer that does not know a job yet: what it wants to read, known to the service for this iteration alone. Only
  # graph, elementSpec and fingerprint count. Where a job over that graph is to be joined the fingerprint is enough;
  # notFound asks for the graph.
  place @8 :UInt64;
  # Random, of the consumer's process: workers that name the same one are local to it. Zero: none are.
  consumerIndex @9 :UInt32;
  # Of coordinated reads: which element of each round is its own.
  rejoins @10 :Bool;
  # Of coordinated reads: it comes in the place of a consumer of that index, if there was one, and begins with the next epoch.
}

struct RoundEpoch {
  # Of coordinated reads: which task serves which round. From `firstRound` on, rounds go to the tasks in turn.

  number @0 :UInt64;
  # Zero: there is none yet.
  firstRound @1 :UInt64;
  tasks @2 :List(Member);

  struct Member {
    taskId @0 :UInt64;
    firstGroup @1 :UInt64;
    # Of its output, that the epoch begins with: groups of as many elements as there are consumers.
  }
}

struct RoundSeat {
  # Which consumer takes which element of each round.

  consumerId @0 :UInt64;
  index @1 :UInt32;
  begins @2 :UInt64;
  # The first epoch in which it reads.
}

struct Rounds {
  # What a job says to its readers of their rounds.

  consumers @0 :UInt32;
  epoch @1 :RoundEpoch;
  # The newest that was agreed on.
  proposed @2 :UInt64;
  # Not zero: this epoch is to come. Each reader that takes part in the present one says with its heartbeat which round is its
  # next, and waits with that until the epoch is announced.
  seats @3 :List(RoundSeat);
}

struct TaskInfo {
  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  # What an older one says is dropped.
  dataAddress @2 :Text;
  bootId @3 :Text;
  # Of the worker's host.
  workerId @4 :UInt64;
  place @5 :UInt64;
  # Of its worker, as RegisterWorker.place.
  colocated @6 :Bool;
  # Its worker serves only consumers of that place.
}

struct IterationLosses {
  # What a repetition lacks, or gave only in part, as workers were lost; as far as its job knows.

  tasks @0 :UInt64;
  # That were lost with rows that no reader got.
  splits @1 :UInt64;
  # Of which rows may be missing, at most. Under `off` none are counted: the copy of each lost task ended early.
  reread @2 :UInt64;
  # Splits that lost tasks had, or readers that are gone held: others have read them.
  elements @3 :UInt64;
  # That were with a trainer when it was gone without a word, and that no other is given; at most so many.
  repeated @4 :UInt64;
  # Of the splits that were read again: those of which rows may have been handed out before.
}

struct Iteration {
  # The state of one repetition as a consumer needs it: whole as an answer, and what changed when it changes. There are as many
  # tasks as workers.

  jobId @0 :UInt64;
  repetition @1 :UInt64;
  version @2 :UInt64;
  # Counts the changes; an older one that comes late is dropped.
  tasks @3 :List(TaskInfo);
  finished @4 :Bool;
  # Nothing is left, and nothing will come.
  shared @5 :Bool;
  # The job has a name, so other consumers may join: ask in small amounts first.
  failure :union {
    none @6 :Void;
    failed @7 :Failure;
    # The job cannot go on.
  }
  timing @8 :Timing;
  lost @9 :List(UInt64);
  # Tasks that count as gone with their worker: what they still say is not to be heard. One whose worker is back may be
  # among `tasks` again later, and then goes on where it was.
  starting @10 :List(TaskInfo);
  # Tasks that were ordered and are not among `tasks` yet: a consumer may connect to their workers meanwhile.
  losses @11 :IterationLosses;
  held @12 :List(UInt64);
  # Tasks that are over, and of which readers have rows that they did not hand out, as far as the job knows. Each says with
  # its heartbeats how far it is, until the job asks no more.
  since @13 :UInt64;
  # Not zero: `tasks`, `starting` and `lost` have only those that changed since that version. Who knows an older one asks for
  # the whole.
  gone @14 :List(UInt64);
  # Since then: neither running, nor starting, nor lost.
  unserved @15 :List(Text);
  # Under a static policy: the entries of the dispatcher's list whose shards have not been read to their end, and which have
  # no worker now.
  overBefore @16 :Bool;
  # Of one that is finished: its job was over before this consumer asked.
  empty @17 :Bool;
  # Of one that is finished: no element was given to anybody.
  targets @18 :Sharding.TargetWorkers;
  # From which of the tasks each reader reads. `automatic`: as any.
  rounds @19 :Rounds;
  # Absent: the job has no coordinated reads.
}

struct SaveDataset {
  # Begins a save, or joins one of the same dataset in the same folder. May be repeated.

  dataset @0 :RegisterDataset;
  path @1 :Text;
  # The folder, as workers see it: from the root.
  compression @2 :Text;
  # As `save` takes it.
}

struct LeaveService {
  # A worker ends, in order: its tasks have ended, and nobody need wait for its lease.

  workerId @0 :UInt64;
  incarnation @1 :UInt64;
  unfinished @2 :UInt32;
  # Tasks that had not given what they had begun when the worker's time to drain was over.
}

struct DrainWorker {
  # A worker is to leave in order. Answered with how far it is: at once, or when that differs from what is known. May be
  # repeated, and is as good as done once.

  worker :union {
    none @0 :Void;
    # Nothing was set: refused.
    dataAddress @1 :Text;
    workerId @2 :UInt64;
  }
  known :union {
    nothing @3 :Void;
    tasks @4 :UInt32;
    # As the last answer said: this one waits until it is another number, or the worker is gone.
  }
  incarnation @5 :UInt64;
  # As the last answer said: another process in its place is not meant. Zero: any.
}

struct WorkerDrains {
  # How far a worker is that is to leave.

  workerId @0 :UInt64;
  incarnation @1 :UInt64;
  dataAddress @2 :Text;
  tasks @3 :UInt32;
  # That it last said to have.
  left @4 :Bool;
  # It has left, in order.
  unfinished @5 :UInt32;
  # Of one that has left; as LeaveService.unfinished.
}

struct SplitRun {
  source @0 :UInt32;
  pass @1 :UInt64;
  splits @2 :SplitRange;
}

struct SplitReceipt {
  # Of which splits rows of a task reached a reader: those that it does not name are given to other tasks when the
  # task is lost, so it may name more than did, and never less.

  taskId @0 :UInt64;
  reached @1 :Data;
  # Runs of splits as base-128 varints, lowest digits first. For each pass of each source, ascending: the source, the
  # pass, the number of its runs, and for each run how many splits lie between it and the one before (the first: its
  # first split) and how many it has.
  fromPass @2 :UInt64;
  # Of earlier passes it is not known which splits did.
  newest @3 :SplitRun;
  # Of the last row that came: one split. Absent: none came.
  approximate @4 :Bool;
  # More is named than came.
  givenBack @5 :UInt64;
  # Rows that came and were given back to the task.
  received @6 :UInt64;
  handedOut @7 :UInt64;
  # Where the reader is with the task's stream, in elements.
  withoutGivenBack @8 :Bool;
  # The splits of rows that were given back are not named, but for those of which other rows stayed.
}

struct ConsumerHeartbeat {
  consumerId @0 :UInt64;
  jobId @1 :UInt64;
  repetition @2 :UInt64;
  receipts @3 :List(SplitReceipt);
  # Of tasks that are lost, until a heartbeat with them was answered.
  marks @4 :List(Worker.ReaderMark);
  # Of tasks that are over and that Iteration.held names.
  waits @5 :Bool;
  # The trainer waits, and nothing has come for a heartbeat.
  rounds @6 :RoundProgress;
  # Absent: the job has no coordinated reads.
}

struct RoundProgress {
  round @0 :UInt64;
  # That the trainer is given next.
  answers @1 :UInt64;
  # Not zero: the proposed epoch for which the reader waits with that round.
}

struct LeaveIteration {
  consumerId @0 :UInt64;
  jobId @1 :UInt64;
  repetition @2 :UInt64;
  marks @3 :List(Worker.ReaderMark);
  # How far it is with each task: a link to a task may be away as it leaves.
  receipts @4 :List(SplitReceipt);
}

struct SplitRange {
  first @0 :UInt64;
  count @1 :UInt64;
}

struct LeaseSplits {
  # A task asks for splits of one pass over one source. All that it was given of that pass and source before
  # has been read.

  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  jobId @2 :UInt64;
  source @3 :UInt32;
  # In depth-first order of the graph.
  pass @4 :UInt64;
  # How often the source was started over.
  total :union {
    unknown @5 :Void;
    splits @6 :UInt64;
    # How many splits the source has in a pass, as the task found.
  }
  number @7 :UInt64;
  # Counts the task's questions about this pass of this source, from 0. One that is asked again has the same
  # answer.
  listing @8 :SplitListing;
  # Of a source that found out what has these numbers (files, rows of several files). All tasks must have found the
  # same; else the answer is a failure (failed_precondition). Absent: the numbers mean the same everywhere.
  closes @9 :UnreadSplits;
  # Nothing is asked: the task's pipeline is done with this pass, which is not over, and has not begun these. The
  # answer is ok. Absent: splits are asked for.
  given @10 :SplitReceipt;
  # Nothing is asked: readers are gone, and this is of which splits the task's readers were given rows. What those held that
  # are gone is for the others. The answer is ok.
  readersVersion @11 :UInt64;
  # With `given`: of the TaskReaders that the task follows. Readers that it does not name hand out nothing more.
  done @12 :List(SplitsDone);
  # Beside the question: what the task and its readers are done with. Only of a job that reads splits again.
  lostElements @13 :UInt64;
  # With `given`: so many elements are given to nobody, as readers that are gone without a word may have handed them out.
}

struct SplitsDone {
  # All that a task was leased of a source up to a place, in the order of its leases, was read, and its rows handed out.

  source @0 :UInt32;
  pass @1 :UInt64;
  # Earlier passes are done with.
  union {
    none @2 :Void;
    # Of that pass nothing.
    before @3 :UInt64;
    # Those before this split.
    through @4 :UInt64;
    # And this split, too.
  }
}

struct SplitListing {
  # What a source found that is numbered.

  digest @0 :UInt64;
  # Of all entries, in the order of their numbers.
  count @1 :UInt64;
  # Of entries.
  entries @2 :List(Text);
  # They themselves, in the first question about a pass, if they take no more than 64 KiB; else none.
}

struct SplitsLeased {
  union {
    range @0 :SplitRange;
    exhausted @1 :Void;
    # This pass of this source is over.
  }
  alone @2 :Bool;
  # Of a pass that is over: no other task was given splits of it.
  running @3 :UInt64;
  # Not zero: the pass that was asked for is forgotten. This later one runs now, or has splits that nobody read.
  more @4 :List(SplitRange);
  # Further splits, where what is leased is in pieces: they answer the questions that follow, which need not be put.
}

struct UnreadSplits {
  # What a task that leaves, or whose pipeline is done with that pass, has not begun to read of a pass over a source.

  source @0 :UInt32;
  pass @1 :UInt64;
  answered @2 :UInt64;
  # How many of its questions about that pass were answered, as far as it heard: a later answer is unread as a whole.
  rest @3 :SplitRange;
  # Of the last answer that it heard; empty: all of that is read.
}

struct TaskEnded {
  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  jobId @2 :UInt64;
  elements @3 :UInt64;
  outcome @4 :TaskOutcome.TaskOutcome;
  failure @5 :Failure;
  # Of a task that failed.
  left @6 :List(UnreadSplits);
  # Of a task that left: these splits are for others.
  bytes @7 :UInt64;
  # That its elements took.
  ignored @8 :UInt64;
  # Elements that failed and were left out.
  byItself @9 :Bool;
  # It ended well, before its sources were exhausted: its pipeline takes only so much of them.
  closed @10 :List(UnreadSplits);
  # What its pipeline was done with, and the job has not acknowledged; see LeaseSplits.closes.
  held @11 :List(Worker.ReaderMark);
  # Of a shared job: readers that have rows which they did not hand out, as far as the task knows.
}

struct DispatcherMessage {
  union {
    none @0 :Void;

    # Requests; each names what it is answered with. Any may be answered with a failure.
    registerWorker @1 :RegisterWorker;
    # workerRegistered
    workerHeartbeat @2 :WorkerHeartbeat;
    # heartbeatHeard; a failure (not_found) asks the worker to register again
    registerDataset @3 :RegisterDataset;
    # datasetDef, without the graph
    getDataset @4 :Text;
    # datasetDef
    openIteration @5 :OpenIteration;
    # iteration
    consumerHeartbeat @6 :ConsumerHeartbeat;
    # ok; a failure (not_found) says that the iteration is gone
    leaveIteration @7 :LeaveIteration;
    # ok; a failure (not_found) says that the job does not know this reader (any more)
    leaseSplits @8 :LeaseSplits;
    # splitsLeased
    taskEnded @9 :TaskEnded;
    # ok
    getStatus @10 :Void;
    # status

    # Answers.
    workerRegistered @11 :WorkerRegistered;
    datasetDef @12 :DatasetDef;
    iteration @13 :Iteration;
    splitsLeased @14 :SplitsLeased;
    status @15 :Status.ServiceStatus;

    awaitWorkers @16 :UInt32;
    # A request: ok as soon as so many workers are alive.
    leaveService @17 :LeaveService;
    # ok
    heartbeatHeard @18 :HeartbeatHeard;
    # The answer to workerHeartbeat.
    drainWorker @19 :DrainWorker;
    # A request: workerDrains; a failure (not_found) names the workers that there are.
    workerDrains @20 :WorkerDrains;
    # The answer to drainWorker.
    saveDataset @21 :SaveDataset;
    # A request: saveStatus
    awaitSave @22 :Save.AwaitSave;
    # A request: saveStatus, when it is another; a failure (not_found) says that the dispatcher does not know the save
    saveStatus @23 :Status.SaveStatus;
    # The answer to both.
    askSaveSteps @24 :Save.AskSaveSteps;
    # A worker's request: saveSteps
    saveSteps @25 :Save.SaveSteps;
    # The answer to askSaveSteps.
  }
}
