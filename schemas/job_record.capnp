@0xc32c01ca514c09ba;
# The facts of a job's record (actors/job/job_record.hpp), and the record as a whole. It does not
# contain the properties that the dispatcher sets when the job begins: id, sharding policy and the
# plan of its splits. Facts and records are stored in the dispatcher's journal and are not exchanged
# between hosts. A newer build can read what an older build has written.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Dispatcher = import "dispatcher.capnp";
using Worker = import "worker.capnp";
using import "failure.capnp".Failure;

# -- tasks and readers of a repetition (actors/job/iteration.hpp)

enum TaskState {
  # A stored value that this build does not define is refused, never read as another one.

  starting @0;
  # The task's worker was ordered to run it.
  running @1;
  ended @2;
  # The task gave all of its elements.
  failed @3;
  lost @4;
  # The task is lost with its worker, or ended before its readers had all rows of the splits that it
  # had begun.
  left @5;
  # The task ended in order before it had given all of its elements, because its worker left, no
  # reader read the task, or the rounds began anew. Other tasks read the splits that it had not
  # read.
}

struct Task {
  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  worker @2 :Dispatcher.RegisterWorker;
  # The task's worker. Other tasks of this worker are not listed in this field.
  state @3 :TaskState;
  ran @4 :Bool;
  # The worker has confirmed at some time that the task runs.
  byItself @5 :Bool;
  # The task's pipeline ended before its sources were exhausted.
  elements @6 :UInt64;
  # The number of produced elements; set when the task is over.
  bytes @7 :UInt64;
  ignored @8 :UInt64;
  # Elements that failed and were left out by ignore_errors.
  newest @9 :UInt64;
  # Set when the task leaves, or when splits of it are returned: the id of the newest task of the
  # repetition at that time.
  shard @10 :UInt32;
  # Under a static policy: the worker's index in the dispatcher's list, plus one; zero: the task has
  # no shard.
}

struct IterationReader {
  consumerId @0 :UInt64;
  nodeId @1 :UInt64;
  # The node that the reader reads from; zero: any.
  place @2 :UInt64;
  # The place of the reader's process, see OpenIteration.place.
  index @3 :UInt32;
  # The reader's seat in coordinated reads. Not set in an IterationState, whose `rounds` has the
  # seats.
}

struct Absence {
  # In coordinated reads: where a consumer that is gone has left the rounds.

  next @0 :UInt64;
  # The first round that the consumer may not have handed out.
  most @1 :UInt64;
  # The most rounds that the consumer can have missed. Zero: it has taken part in no round.
  lost @2 :Bool;
  # True: the consumer did not leave in order.
}

struct IterationState {
  version @0 :UInt64;
  # The number of changes so far.
  lastTask @1 :UInt64;
  # The id of the next task is one more.
  opened @2 :Bool;
  # The repetition had a reader at some time.
  finished @3 :Bool;
  failure @4 :Failure;
  # The failure with which the repetition was finished. Absent: it succeeded, or is not finished.
  tasks @5 :List(Task);
  readers @6 :List(IterationReader);
  rounds @7 :Dispatcher.Rounds;
  # Absent: the job has no coordinated reads.
  absent @8 :List(Absence);
  # The consumers that are gone since the epoch of coordinated reads began.
  missed @9 :UInt64;
  # An upper bound of the elements that consumers which are gone missed in rounds of the others.
}

# -- splits (actors/job/splits/split_assigner.hpp)

struct CameTo {
  # A task has reached a pass of a source.

  taskId @0 :UInt64;
  source @1 :UInt32;
  pass @2 :UInt64;
  total :union {
    unknown @3 :Void;
    splits @4 :UInt64;
    # The number of splits in a pass of the source, if the task has found it.
  }
  listing @5 :Dispatcher.SplitListing;
  # The listing of the first task that reached the pass. Absent: the numbers stand for the same
  # splits everywhere, or another task was the first.
}

struct LeasedTo {
  # The answer to a task's question for splits. Nearly all facts of a job are such answers, so they
  # are stored compactly, in one struct.

  taskId @0 :UInt64;
  source @1 :UInt32;
  numbered @2 :Bool;
  # The question has a number.
  pass @3 :UInt64;
  number @4 :UInt64;
  # The number of the question about that pass and source.
  union {
    range :group {
      first @5 :UInt64;
      count @6 :UInt64;
    }
    over :group {
      # The pass is over for the task.

      alone @7 :Bool;
      # No other task was given splits of the pass.
      running @8 :UInt64;
      # Not zero: the pass is forgotten. The pass with this number runs now, or has splits that were
      # given back.
    }
  }
  continues @9 :Bool;
  # The range was sent with the answer to an earlier question.
}

struct SplitsReturned {
  # Splits that a task was leased and that must be leased again.

  source @0 :UInt32;
  kept @1 :Bool;
  # True: the splits are kept until a task comes that reads them. False: they are only for tasks
  # that still read the pass.
  pass @2 :UInt64;
  splits @3 :Dispatcher.SplitRange;
}

struct PassClosed {
  # A task closed a pass that is not over.

  taskId @0 :UInt64;
  source @1 :UInt32;
  pass @2 :UInt64;
}

struct SplitState {
  tasks @0 :UInt64;
  # The number of tasks that share the splits.
  leased @1 :UInt64;
  # The total of leased splits.
  groups @2 :List(Group);
  passes @3 :List(Pass);
  # The passes that are not forgotten: splits of them can still be leased, or some task that reached
  # them was not sent their end.
  answers @4 :List(LeasedTo);
  # For each task and source the last answer, followed by the pieces that were sent with it.
  # `numbered` is set in all of them.

  struct Group {
    # Sources that are leased together.

    number @0 :UInt32;
    sources @1 :List(UInt32);
    # The sources of the group, which must be those of the job's plan: a state with another plan is
    # refused.
    passesOver @2 :UInt64;
    # The number of passes that are over. They are forgotten, except those of which returned splits
    # are left.
    tasks @3 :List(TaskPass);
  }

  struct TaskPass {
    taskId @0 :UInt64;
    source @1 :UInt32;
    pass @2 :UInt64;
    # The latest pass that the task has reached.
  }

  struct Pass {
    pass @0 :UInt64;
    group @1 :UInt32;
    keeps @2 :Bool;
    # Returned splits are kept even if all tasks have left the pass.
    remnant @3 :Bool;
    # The pass was over before: only returned splits are left of it.
    shared @4 :Bool;
    # Several tasks were leased splits of the pass.
    asked @5 :Bool;
    # True: the leases of each task in the pass are recorded in `holdings`, which may be empty.
    next @6 :UInt64;
    # The first split that is not leased yet.
    total :union {
      unknown @7 :Void;
      splits @8 :UInt64;
    }
    lastReader :union {
      # A task that was leased splits of the pass.

      none @9 :Void;
      task @10 :UInt64;
    }
    returned @11 :List(Dispatcher.SplitRange);
    # Returned splits, which are leased again before new splits, in this order.
    listings @12 :List(SourceListing);
    holdings @13 :List(Holding);
  }

  struct SourceListing {
    source @0 :UInt32;
    listing @1 :Dispatcher.SplitListing;
  }

  struct Holding {
    # The leases of one task in a pass.

    taskId @0 :UInt64;
    ranges @1 :List(Dispatcher.SplitRange);
    # Ranges that were not sent to every source of the group yet.
    dropped @2 :UInt64;
    # The number of earlier ranges, which are no longer stored.
    end @3 :UInt64;
    # The end of the last range, as sent to the first source.
    given @4 :List(SourceCount);
    # The number of ranges that each source was sent: at most the sum of `dropped` and the number of
    # `ranges`.
    done @5 :List(UInt32);
    # Sources that were sent the end of the pass.
  }

  struct SourceCount {
    source @0 :UInt32;
    count @1 :UInt64;
  }
}

# -- leases of splits, and the readers with rows of them (actors/job/splits/lease_history.hpp)

struct TaskLost {
  taskId @0 :UInt64;
  readers @1 :List(UInt64);
  # Readers that have not sent receipts yet.
}

struct ReaderReceived {
  consumerId @0 :UInt64;
  receipt @1 :Dispatcher.SplitReceipt;
}

struct ReaderUnheard {
  # A reader is gone and sent no receipts.

  consumerId @0 :UInt64;
  version @1 :UInt64;
  # The first version of the TaskReaders that does not name the reader.
}

struct TaskGave {
  # A task sent its account.

  taskId @0 :UInt64;
  version @1 :UInt64;
  # The version of the TaskReaders that the task follows.
  receipt @2 :Dispatcher.SplitReceipt;
  lostElements @3 :UInt64;
  # The total of elements that no reader is given, because readers that are gone may have handed
  # them out.
}

struct TaskDone {
  taskId @0 :UInt64;
  places @1 :List(Dispatcher.SplitsDone);
}

struct TaskSettled {
  taskId @0 :UInt64;
  losses @1 :Dispatcher.IterationLosses;
}

enum Holder {
  # Which readers have rows of a lease. A stored value that this build does not define is refused.

  nobody @0;
  perhaps @1;
  # A reader that is gone may have rows of the lease; the living task will report it.
  unknown @2;
  # A reader that is gone may have rows of the lease, and no report will follow.
  reader @3;
}

struct LeaseState {
  tasks @0 :List(TaskLeases);
  # The tasks that were leased splits and are running, or lost and not settled, or in `kept`.
  lost @1 :List(TaskLost);
  losses @2 :Dispatcher.IterationLosses;
  # The losses of settled tasks.
  kept @3 :List(UInt64);
  # Tasks that are over and of which readers hold rows: if such a reader is lost, the splits of the
  # task are read again.

  struct TaskLeases {
    taskId @0 :UInt64;
    leases @1 :List(Lease);
    # The leases in the order in which they were made.
    answered @2 :List(Answered);
    newest @3 :List(Dispatcher.SplitRun);
    # For a lost task: for each reader, the split of the newest row that it received.
    outOfOrder @4 :Bool;
    # True, e.g. if rows were given back: rows before each reader's newest one may be missing, too.
    givenBack @5 :UInt64;
    # The number of rows that readers gave back.
    untold @6 :UInt64;
    # Not zero: the task still has to send an account for this version of TaskReaders.
    forgotten @7 :UInt64;
    # Under at_least_once: the number of splits that were dropped from `leases` to bound the memory.
    lostElements @8 :UInt64;
    # The number of lost elements that the task reported in TaskGave.
  }

  struct Lease {
    source @0 :UInt32;
    # The first source of the group.
    holder @1 :Holder;
    pass @2 :UInt64;
    first @3 :UInt64;
    count @4 :UInt64;
  }

  struct Answered {
    source @0 :UInt32;
    # The first source of the group.
    pass @1 :UInt64;
    count @2 :UInt64;
    # The number of answered questions.
  }
}

# -- rows that readers hold of tasks that are over (actors/job/splits/held_rows.hpp)

struct TaskOver {
  taskId @0 :UInt64;
  readers @1 :List(Worker.ReaderMark);
}

# -- the whole record

struct JobFact {
  # If this build does not define a stored union member, it refuses all facts of the JobFacts.

  repetition @0 :UInt64;
  union {
    none @1 :Void;
    # The member is never written.
    begun @2 :Begun;
    forgotten @3 :Void;
    # The repetition is forgotten, except its result.

    readerJoined @4 :IterationReader;
    readerLeft @5 :ReaderLeft;
    taskIs @6 :Task;
    # A new task, or the new state of a task.
    finishedAs @7 :Finished;

    sharedBy @8 :TaskCount;
    cameTo @9 :CameTo;
    leasedTo @10 :LeasedTo;
    taskGone @11 :TaskId;
    # The task is over: it has read the splits that it held, or gave them back before.
    returned @12 :SplitsReturned;
    closed @13 :PassClosed;

    lost @14 :TaskLost;
    received @15 :ReaderReceived;
    unheard @16 :ReaderUnheard;
    given @17 :TaskGave;
    settled @18 :TaskSettled;

    taskOver @19 :TaskOver;
    handedOut @20 :Worker.ReaderMark;
    # The reader has handed out more rows that it held. `received` of the mark is not used.
    readerGone @21 :ConsumerId;
    # The rows that the reader held are lost.

    collected @22 :Void;
    # The unfinished repetition had no reader for `job_gc_timeout`: it is removed as if it had never
    # begun.
    done @23 :TaskDone;
    # Splits that are done and need not be read again.
    kept @24 :TaskId;
    # The task is over or settled, and readers hold rows of it.
    released @25 :TaskSettled;
    # Readers no longer hold rows of a task in `kept`, or its splits are read again: the task is
    # removed from `kept`.
    epochProposed @26 :Proposed;
    # In coordinated reads: an epoch is proposed to the readers.
    epochAgreed @27 :Dispatcher.RoundEpoch;
  }

  struct Begun {
    seed @0 :UInt64;
  }
  struct ReaderLeft {
    consumerId @0 :UInt64;
    from @1 :Absence;
    # In coordinated reads: where the reader has left the rounds.
    upTo @2 :UInt64;
    # In coordinated reads, if no other reader takes part: the first round that no reader has reached.
  }
  struct Finished {
    failure @0 :Failure;
    # Absent: the repetition succeeded.
  }
  struct Proposed {
    epoch @0 :UInt64;
  }
  struct TaskCount {
    tasks @0 :UInt64;
    # The number of living tasks.
  }
  struct TaskId {
    taskId @0 :UInt64;
  }
  struct ConsumerId {
    consumerId @0 :UInt64;
  }
}

struct JobFacts {
  # Facts that were decided on together: all of them are stored, or none.

  facts @0 :List(JobFact);
  # The facts in the order in which they are applied.
}

struct JobState {
  repetitions @0 :List(Repetition);
  overBelow @1 :UInt64;
  # All repetitions before this number are forgotten.
  over @2 :List(Over);
  # Forgotten repetitions from `overBelow` on, and earlier ones that failed.
  collected @3 :List(Collected);
  # The repetitions that were collected last, in the order of their collection.

  struct Repetition {
    number @0 :UInt64;
    seed @1 :UInt64;
    iteration @2 :IterationState;
    splits @3 :SplitState;
    leases @4 :LeaseState;
    held @5 :List(Worker.ReaderMark);
    # The positions of the readers that hold rows of tasks that are over.
    lostElements @6 :UInt64;
    # The number of elements that were lost with readers.
  }

  struct Over {
    repetition @0 :UInt64;
    failure @1 :Failure;
    # Absent: the repetition succeeded.
  }

  struct Collected {
    repetition @0 :UInt64;
    family @1 :UInt64;
    # The part that the ids of all tasks of the repetition have in common.
  }
}
