@0xa3c5f1b60d2e7719;
# The messages of workers, consumers and tools to the dispatcher, and its answers. Messages about
# one job are passed on to that job's actor.

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
  # The dispatcher chooses the timing for the whole service.

  heartbeatNs @0 :UInt64;
  # How often a worker or a consumer reports that it is alive.
  leaseNs @1 :UInt64;
  # For how long a worker or a consumer counts as alive after its last report.
}

struct RunningTask {
  taskId @0 :UInt64;
  jobId @1 :UInt64;
}

struct RegisterWorker {
  # A worker's first message, and the first one after its connection was lost.

  workerId @0 :UInt64;
  # Zero for a new worker; otherwise the id that the worker got from a dispatcher before.
  incarnation @1 :UInt64;
  # Random, and new in each process.
  dataAddress @2 :Text;
  # The host:port to which consumers connect.
  tags @3 :List(Text);
  bootId @4 :Text;
  pid @5 :UInt32;
  tasks @6 :List(RunningTask);
  # The tasks that run on the worker. Tasks of jobs that the dispatcher does not have are stopped.
  leaving @7 :Bool;
  # The worker is about to leave, and gets no new tasks.
  place @8 :UInt64;
  # A random number of the worker's process: consumers with the same number read from the worker
  # without a socket. Zero: there are no such consumers.
}

struct WorkerRegistered {
  workerId @0 :UInt64;
  timing @1 :Timing;
  leave @2 :Bool;
  # See HeartbeatHeard.leave.
}

struct TaskProgress {
  taskId @0 :UInt64;
  elements @1 :UInt64;
  # The number of elements produced so far.
  bytes @2 :UInt64;
  elementsPerSecond @3 :Float64;
  # The rate over the last seconds.
  streams @4 :UInt32;
  restarts @5 :UInt32;
  # The number of restarts of the task's runner.
  ignored @6 :UInt64;
  # Elements that failed and were left out by ignore_errors.
  jobId @7 :UInt64;
  window @8 :Status.CacheWindow;
  # Absent: the task has no window.
  operators @9 :List(Status.OperatorStatus);
  # The activity of the operators of the task's pipeline in the last seconds.
}

struct WorkerHeartbeat {
  workerId @0 :UInt64;
  incarnation @1 :UInt64;
  tasks @2 :List(TaskProgress);
  tree @3 :Data;
  # A SupervisionTree message if it has changed since the last heartbeat; else empty.
  leaving @4 :Bool;
  # The worker is about to leave, and gets no new tasks.
  metrics @5 :List(Metric);
  # The metrics of the worker's node that are not zero.
}

struct HeartbeatHeard {
  # The answer to a worker's heartbeat.

  unwanted @0 :List(UInt64);
  # The reported tasks that no job needs: the worker is to stop them.
  leave @1 :Bool;
  # The worker is to leave in order. Repeated until the worker's heartbeat reports that it is
  # leaving.
  saves @2 :Bool;
  # There are steps of saves, which the worker should request.
}

struct RegisterDataset {
  graph @0 :Data;
  # A DatasetGraph message (dataset.capnp), which is checked by its decoder. Empty: the dispatcher
  # may have the graph already; if not, it answers notFound.
  datasetId @1 :Text;
  # Empty: the dispatcher chooses an id. If the id is taken, the request joins the dataset that has
  # it, provided that both have the same structure (elements; finite, infinite or of unknown size);
  # otherwise the answer is an error.
  elementSpec @2 :Data;
  # An ElementSpec message, for clients that read by id.
  fingerprint @3 :Data;
  # SHA-256 of the canonical graph.
  forIteration @4 :Bool;
  # The dataset is for one iteration: an id that the dispatcher chose is removed some time after the
  # iteration.
}

struct DatasetDef {
  datasetId @0 :Text;
  graph @1 :Data;
  elementSpec @2 :Data;
  fingerprint @3 :Data;
  warning @4 :Text;
  # A warning for the client that registered the dataset; usually empty.
}

struct OpenIteration {
  # A consumer requests to read a repetition. A repeated request leads to the same job, and is
  # answered with the present state of the repetition.

  consumerId @0 :UInt64;
  # Random, chosen by the consumer.
  datasetId @1 :Text;
  # Empty: `dataset` is set.
  jobName @2 :Text;
  # Empty: an anonymous job, which ends with this consumer.
  repetition @3 :UInt64;
  # The requested repetition of a named job: the number of earlier iterations of this consumer's
  # dataset.
  parameters @4 :Sharding.JobParameters;
  # The parameters, which must be those of the job if the job exists.
  jobId @5 :UInt64;
  # The job that the consumer reads; zero until the consumer has received its id. If that job has
  # failed, the answer is its failure, never another job.
  nodeId @6 :UInt64;
  # The id of the consumer's node, as in the LinkHello of its links. Streams of this consumer may be
  # opened only from that node. Zero: unknown, so that they may be opened from anywhere.
  dataset @7 :RegisterDataset;
  # The dataset of a consumer that has not received the id of its job yet; the service keeps the
  # dataset for this iteration alone. Only graph, elementSpec and fingerprint are used. If the
  # consumer joins a job over that graph, the fingerprint suffices; the answer notFound requests the
  # graph.
  place @8 :UInt64;
  # A random number of the consumer's process: workers with the same number are local to the
  # consumer. Zero: no worker is local.
  consumerIndex @9 :UInt32;
  # In coordinated reads: the consumer's seat.
  rejoins @10 :Bool;
  # In coordinated reads: the consumer replaces an earlier consumer with the same seat, if there was
  # one, and begins with the next epoch.
}

struct RoundEpoch {
  # An epoch of coordinated reads: which task serves which round. From `firstRound` on, its tasks
  # take turns.

  number @0 :UInt64;
  # Zero: no epoch was agreed on yet.
  firstRound @1 :UInt64;
  tasks @2 :List(Member);

  struct Member {
    taskId @0 :UInt64;
    firstGroup @1 :UInt64;
    # The group of the task's output with which the epoch begins. A group has as many elements as
    # there are consumers.
  }
}

struct RoundSeat {
  # The seat of one consumer, which decides which element of each round the consumer takes.

  consumerId @0 :UInt64;
  index @1 :UInt32;
  begins @2 :UInt64;
  # The first epoch in which the consumer reads.
}

struct Rounds {
  # What a job announces to its readers about their rounds.

  consumers @0 :UInt32;
  epoch @1 :RoundEpoch;
  # The newest epoch that was agreed on.
  proposed @2 :UInt64;
  # Not zero: the number of a proposed epoch. Each reader that takes part in the present epoch
  # reports its next round with its heartbeat, and does not hand that round out before the proposed
  # epoch is announced.
  seats @3 :List(RoundSeat);
}

struct TaskInfo {
  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  # Messages of an earlier incarnation are dropped.
  dataAddress @2 :Text;
  bootId @3 :Text;
  # The boot id of the worker's host.
  workerId @4 :UInt64;
  place @5 :UInt64;
  # The place of the worker (RegisterWorker.place).
  colocated @6 :Bool;
  # The worker serves only consumers with that place.
}

struct IterationLosses {
  # The elements that a repetition did not give, or gave only in part, because workers or readers
  # were lost; as far as they were reported to its job.

  tasks @0 :UInt64;
  # The number of lost tasks; under `dynamic`, only those of which rows may be missing. Under a
  # static policy, tasks that left before the end of their shards are counted, too.
  splits @1 :UInt64;
  # Splits of which rows may be missing; an upper bound. Under `off` no splits are counted, because
  # each task reads all splits: a lost task only ends its own reading early.
  reread @2 :UInt64;
  # Splits of lost tasks, or splits that lost readers held, that other tasks read again.
  elements @3 :UInt64;
  # Elements that a lost reader had claimed, or had received from a worker that is gone, and that no
  # other reader is given; an upper bound.
  repeated @4 :UInt64;
  # The splits among `reread` of which rows may have been handed out before.
}

struct Iteration {
  # The state of a repetition, for its readers. An answer has the whole view. An announcement may
  # have only the changes, because a list of all tasks has as many entries as there are workers.

  jobId @0 :UInt64;
  repetition @1 :UInt64;
  version @2 :UInt64;
  # The number of changes so far. An older view that arrives late is dropped.
  tasks @3 :List(TaskInfo);
  finished @4 :Bool;
  # No task will give any more elements.
  shared @5 :Bool;
  # The job has a name: other consumers may join. So first grants are small, to leave them rows.
  failure :union {
    none @6 :Void;
    failed @7 :Failure;
    # The repetition cannot continue.
  }
  timing @8 :Timing;
  lost @9 :List(UInt64);
  # Tasks that are lost with their worker: readers accept nothing more from them. If the worker
  # comes back, such a task may be among `tasks` again and continue its streams.
  starting @10 :List(TaskInfo);
  # Tasks that were ordered and do not run yet: consumers may connect to their workers in advance.
  losses @11 :IterationLosses;
  held @12 :List(UInt64);
  # Tasks that are over and of which readers hold rows, according to the readers' reports. As long
  # as a task is named here, each reader reports in its heartbeats how many elements of the task it
  # has handed out.
  since @13 :UInt64;
  # Not zero: `tasks`, `starting` and `lost` name only the tasks that changed since that version. A
  # reader with an older version requests the whole view.
  gone @14 :List(UInt64);
  # Tasks that changed since the version `since`, and are neither running, nor starting, nor lost.
  unserved @15 :List(Text);
  # Under a static policy: the entries of the dispatcher's list whose shards were not read to their
  # end, and for which no task starts or runs.
  overBefore @16 :Bool;
  # The repetition was finished before this consumer opened it.
  empty @17 :Bool;
  # The repetition is finished, and no reader was given an element.
  targets @18 :Sharding.TargetWorkers;
  # The workers from which the readers read. `automatic` has the same meaning as `any`.
  rounds @19 :Rounds;
  # Absent: the job has no coordinated reads.
  overElements @20 :UInt64;
  # The number of elements that were made by tasks that are over and not lost.
  lostTasks @21 :UInt64;
  # The number of tasks that ran and are lost with their workers, whether rows of them were lost or
  # not.
}

struct SaveDataset {
  # A client begins a save, or joins one that runs for the same dataset and folder. The request may
  # be repeated.

  dataset @0 :RegisterDataset;
  path @1 :Text;
  # The folder, as an absolute path on the workers.
  compression @2 :Text;
  # The compression, as in a call of `save`.
}

struct LeaveService {
  # A worker leaves in order: its tasks have ended, and jobs need not wait for its lease to expire.

  workerId @0 :UInt64;
  incarnation @1 :UInt64;
  unfinished @2 :UInt32;
  # The number of tasks that had not ended when the worker's time to drain was over.
}

struct DrainWorker {
  # A client requests that a worker leave in order. The answer contains the progress of the drain.
  # It is sent at once, or, if `known` is set, when the progress differs from `known`. A repeated
  # request has no further effect.

  worker :union {
    none @0 :Void;
    # Not set: refused.
    dataAddress @1 :Text;
    workerId @2 :UInt64;
  }
  known :union {
    nothing @3 :Void;
    tasks @4 :UInt32;
    # The number of tasks in the last answer: the next answer is sent when the number has changed or
    # the worker is gone.
  }
  incarnation @5 :UInt64;
  # The incarnation in the last answer, so that the request does not apply to another process in the
  # worker's place. Zero: any.
}

struct WorkerDrains {
  # The progress of a worker that is to leave.

  workerId @0 :UInt64;
  incarnation @1 :UInt64;
  dataAddress @2 :Text;
  tasks @3 :UInt32;
  # The number of the worker's tasks, as last reported.
  left @4 :Bool;
  # The worker has left, in order.
  unfinished @5 :UInt32;
  # Set when the worker has left; see LeaveService.unfinished.
}

struct SplitRun {
  source @0 :UInt32;
  pass @1 :UInt64;
  splits @2 :SplitRange;
}

struct SplitReceipt {
  # A reader's report of the splits of which rows of a task reached it. Splits that the report does
  # not name are given to other tasks when the task is lost. So the report may name splits that did
  # not reach the reader, but never omits one that did.

  taskId @0 :UInt64;
  reached @1 :Data;
  # Runs of splits as base-128 varints, lowest digits first. For each pass of each source,
  # ascending: the source, the pass, the number of runs, and for each run the number of splits
  # between it and the previous one (for the first run: its first split) and its number of splits.
  fromPass @2 :UInt64;
  # The receipt does not name splits of earlier passes.
  newest @3 :SplitRun;
  # The split of the last row that arrived. Absent: no row arrived.
  approximate @4 :Bool;
  # The receipt also names splits that were not reached, because its size is bounded.
  givenBack @5 :UInt64;
  # The number of rows that were given back to the task.
  received @6 :UInt64;
  handedOut @7 :UInt64;
  # The number of elements of the task's stream that the reader has received (`received`) and handed
  # out (`handedOut`).
  withoutGivenBack @8 :Bool;
  # Splits of rows that were given back are not named, unless other rows of them were kept.
}

struct ConsumerHeartbeat {
  consumerId @0 :UInt64;
  jobId @1 :UInt64;
  repetition @2 :UInt64;
  receipts @3 :List(SplitReceipt);
  # Receipts for lost tasks. Each is repeated until it is acknowledged.
  marks @4 :List(Worker.ReaderMark);
  # For each task that Iteration.held names: the number of elements of its stream that the trainer
  # was handed; 2^64 - 1: all that have arrived.
  waits @5 :Bool;
  # The trainer waits, and nothing has arrived during the interval of a heartbeat.
  rounds @6 :RoundProgress;
  # Absent: the job has no coordinated reads.
  pace @7 :ReaderPace;
}

struct ReaderPace {
  # Totals of a reader since it began.

  elapsedNs @0 :UInt64;
  waitedNs @1 :UInt64;
  # The part of `elapsedNs` in which its trainer has waited for elements.
  elements @2 :UInt64;
  # The number of elements that its trainer was handed.
  bytes @3 :UInt64;
  name @4 :Text;
  # See TrainerStatus.
  host @5 :Text;
}

struct RoundProgress {
  round @0 :UInt64;
  # The round that the trainer is handed next.
  answers @1 :UInt64;
  # Not zero: the reader waits before `round` for the epoch of this number, which was proposed.
}

struct LeaveIteration {
  consumerId @0 :UInt64;
  jobId @1 :UInt64;
  repetition @2 :UInt64;
  marks @3 :List(Worker.ReaderMark);
  # In a shared job: the reader's positions in the streams of the tasks. They are sent here, because
  # the links to the tasks may be down when the reader leaves.
  receipts @4 :List(SplitReceipt);
}

struct SplitRange {
  first @0 :UInt64;
  count @1 :UInt64;
}

struct LeaseSplits {
  # A task's question for splits of one pass of one source, or its report that it closes a pass or
  # that readers are gone. A task that sends a question has read all splits of that pass and source
  # that it was given before.

  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  jobId @2 :UInt64;
  source @3 :UInt32;
  # The number of the source in depth-first order of the graph.
  pass @4 :UInt64;
  # The number of earlier passes of the source.
  total :union {
    unknown @5 :Void;
    splits @6 :UInt64;
    # The number of splits in a pass, if the task has found it.
  }
  number @7 :UInt64;
  # The number of the question about this pass of this source, from 0. A repeated question gets the
  # same answer.
  listing @8 :SplitListing;
  # What the split numbers stand for (files, rows of several files), if the source has found that
  # out. All tasks must have found the same; otherwise the answer is a failure
  # (failed_precondition). Absent: the numbers stand for the same splits everywhere.
  closes @9 :UnreadSplits;
  # Set: the message is not a question; the task closes this pass, and has not begun these splits.
  # The answer is ok. Absent: the task requests splits, unless `given` is set.
  given @10 :SplitReceipt;
  # Set: the message is not a question, but an account: readers are gone, and these are the splits
  # of which the task's readers were given rows. Rows that the gone readers had neither claimed nor
  # handed out go to the remaining readers. The answer is ok.
  readersVersion @11 :UInt64;
  # With `given`: the version of the TaskReaders that the task follows. Readers that are not in it
  # hand out nothing more.
  done @12 :List(SplitsDone);
  # With a question, under at_least_once: the splits that are done.
  lostElements @13 :UInt64;
  # With `given`: the total of elements that no reader is given, because readers that are gone may
  # have handed them out.
}

struct SplitsDone {
  # In the order in which the task was leased them, all splits of a source up to a certain one are
  # done: they were read, and their rows were handed out.

  source @0 :UInt32;
  pass @1 :UInt64;
  # The splits of earlier passes are done.
  union {
    none @2 :Void;
    # No split of that pass is done.
    before @3 :UInt64;
    # The splits before this one are done.
    through @4 :UInt64;
    # The splits up to and including this one are done.
  }
}

struct SplitListing {
  # What the split numbers of a source stand for.

  digest @0 :UInt64;
  # The digest of all entries, in the order of their numbers.
  count @1 :UInt64;
  # The number of entries.
  entries @2 :List(Text);
  # The entries, if they take at most 64 KiB; otherwise empty. In a question they are set only if it
  # is the first one about the pass.
}

struct SplitsLeased {
  union {
    range @0 :SplitRange;
    exhausted @1 :Void;
    # This pass of this source is over.
  }
  alone @2 :Bool;
  # The pass is over, and no other task was given splits of it.
  running @3 :UInt64;
  # Not zero: the pass is over and forgotten. The pass with this number runs now, or has splits that
  # were given back.
  more @4 :List(SplitRange);
  # Further splits of the pass, if the leased splits are in several pieces. They answer the
  # following questions, one question each, so that these need not be sent.
}

struct UnreadSplits {
  # The splits of a pass that a task was leased and has not begun to read, when it leaves or closes
  # the pass.

  source @0 :UInt32;
  pass @1 :UInt64;
  answered @2 :UInt64;
  # The number of questions whose answers have reached the task; the splits of later answers are all
  # unread.
  rest @3 :SplitRange;
  # The unread splits of the last answer that has reached the task; empty if none of them is unread.
}

struct TaskEnded {
  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  jobId @2 :UInt64;
  elements @3 :UInt64;
  outcome @4 :TaskOutcome.TaskOutcome;
  failure @5 :Failure;
  # Set if the task failed.
  left @6 :List(UnreadSplits);
  # Set if the task left: these splits are for other tasks.
  bytes @7 :UInt64;
  # The bytes of the task's elements.
  ignored @8 :UInt64;
  # Elements that failed and were left out by ignore_errors.
  byItself @9 :Bool;
  # The task is exhausted, and its pipeline ended before its sources did.
  closed @10 :List(UnreadSplits);
  # The passes that the task closed, except those that the job has acknowledged; see
  # LeaseSplits.closes.
  held @11 :List(Worker.ReaderMark);
  # In a shared job: the readers that hold rows of the task, according to their reports, and readers
  # that are lost and had claimed rows of it.
}

struct DispatcherMessage {
  union {
    none @0 :Void;

    # Requests. The comment after each request names its answer. Any request may be answered with a
    # failure.
    registerWorker @1 :RegisterWorker;
    # workerRegistered
    workerHeartbeat @2 :WorkerHeartbeat;
    # heartbeatHeard; a failure (not_found): the worker must register again
    registerDataset @3 :RegisterDataset;
    # datasetDef, without the graph
    getDataset @4 :Text;
    # datasetDef
    openIteration @5 :OpenIteration;
    # iteration
    consumerHeartbeat @6 :ConsumerHeartbeat;
    # ok; a failure (not_found): the consumer is no longer a reader
    leaveIteration @7 :LeaveIteration;
    # ok; a failure (not_found): the consumer is not a reader of the job
    leaseSplits @8 :LeaseSplits;
    # splitsLeased; ok if the message is not a question
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
    # A request. The answer is ok, as soon as this many workers are alive.
    leaveService @17 :LeaveService;
    # ok
    heartbeatHeard @18 :HeartbeatHeard;
    # The answer to workerHeartbeat.
    drainWorker @19 :DrainWorker;
    # A request. The answer is workerDrains; a failure (not_found) lists the workers.
    workerDrains @20 :WorkerDrains;
    # The answer to drainWorker.
    saveDataset @21 :SaveDataset;
    # A request. The answer is saveStatus.
    awaitSave @22 :Save.AwaitSave;
    # A request. The answer is saveStatus, when its version has changed; a failure (not_found): the
    # dispatcher does not have the save.
    saveStatus @23 :Status.SaveStatus;
    # The answer to saveDataset and awaitSave.
    askSaveSteps @24 :Save.AskSaveSteps;
    # A worker's request. The answer is saveSteps.
    saveSteps @25 :Save.SaveSteps;
    # The answer to askSaveSteps.
  }
}
