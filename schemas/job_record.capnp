@0xc32c01ca514c09ba;
# What a job keeps: the facts that change its record (actors/job/job_record.hpp), and that record as a whole, but for what
# the dispatcher gives a job as it begins: id, processing mode and the plan of its splits. Written and read by one host; a
# newer build reads what an older one wrote.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Dispatcher = import "dispatcher.capnp";
using Worker = import "worker.capnp";
using import "failure.capnp".Failure;

# -- tasks and readers of a repetition (actors/job/iteration.hpp)

enum TaskState {
  # A value that the reader does not know is refused, never read as another.

  starting @0;
  # Its worker is asked to run it.
  running @1;
  ended @2;
  # It gave everything that it had.
  failed @3;
  lost @4;
  # With its worker.
  left @5;
  # Its worker ended in order. What the task had not read is for others.
}

struct Task {
  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  worker @2 :Dispatcher.RegisterWorker;
  # Who runs it; the tasks of that worker are not named.
  state @3 :TaskState;
  ran @4 :Bool;
  # Its worker has or had it.
  byItself @5 :Bool;
  # It ended before its sources were exhausted.
  elements @6 :UInt64;
  # Produced; counted when it is over.
  bytes @7 :UInt64;
  ignored @8 :UInt64;
  # Elements that failed and were left out.
  newest @9 :UInt64;
  # When it gave splits back: tasks up to this id had begun before.
  shard @10 :UInt32;
  # Under a static policy: the worker's index in the dispatcher's list, plus one; zero: it has none.
}

struct IterationReader {
  consumerId @0 :UInt64;
  nodeId @1 :UInt64;
  # That it reads from; zero: any.
  place @2 :UInt64;
  # Of its process, as OpenIteration.place.
  index @3 :UInt32;
  # Of coordinated reads: which element of each round is its own.
}

struct IterationState {
  version @0 :UInt64;
  # Counts the changes.
  lastTask @1 :UInt64;
  # The next task's id is one more.
  opened @2 :Bool;
  # Somebody has read it.
  finished @3 :Bool;
  failure @4 :Failure;
  # Why it ended. Absent: well, or it goes on.
  tasks @5 :List(Task);
  readers @6 :List(IterationReader);
  rounds @7 :Dispatcher.Rounds;
  # Absent: the job has no coordinated reads.
}

# -- splits (actors/job/split_assigner.hpp)

struct CameTo {
  # A task came to a pass of a source.

  taskId @0 :UInt64;
  source @1 :UInt32;
  pass @2 :UInt64;
  total :union {
    unknown @3 :Void;
    splits @4 :UInt64;
    # How many the source has in a pass, as the task found.
  }
  listing @5 :Dispatcher.SplitListing;
  # What the first task found there; absent: the numbers mean the same everywhere, or another one was the first.
}

struct LeasedTo {
  # The answer to a task's question for splits. In one struct, as nearly all that a job keeps are these.

  taskId @0 :UInt64;
  source @1 :UInt32;
  numbered @2 :Bool;
  # The question has a number.
  pass @3 :UInt64;
  number @4 :UInt64;
  # Which question of that pass and source this answers.
  union {
    range :group {
      first @5 :UInt64;
      count @6 :UInt64;
    }
    over :group {
      # The pass is over for the task.

      alone @7 :Bool;
      # No other task was given splits of it.
      running @8 :UInt64;
      # Not zero: the pass is forgotten, and this later one runs now.
    }
  }
  continues @9 :Bool;
  # Of a range: it was given together with the answer to the question before.
}

struct SplitsReturned {
  # A task has not begun to read these.

  source @0 :UInt32;
  kept @1 :Bool;
  # For a task to come; else for those alone that still read that pass.
  pass @2 :UInt64;
  splits @3 :Dispatcher.SplitRange;
}

struct PassClosed {
  # A task reads no more of that pass, though it is not over.

  taskId @0 :UInt64;
  source @1 :UInt32;
  pass @2 :UInt64;
}

struct SplitState {
  tasks @0 :UInt64;
  # That share the splits.
  leased @1 :UInt64;
  # Splits, so far.
  groups @2 :List(Group);
  passes @3 :List(Pass);
  # Those that are not forgotten.
  answers @4 :List(LeasedTo);
  # The last one for each task and source, with those that were given together with it behind it; all are numbered.

  struct Group {
    # Sources that are leased together.

    number @0 :UInt32;
    sources @1 :List(UInt32);
    # As the job's plan has them: a state of another plan is refused.
    passesOver @2 :UInt64;
    # Earlier passes are over and forgotten, but for those of which splits were given back.
    tasks @3 :List(TaskPass);
  }

  struct TaskPass {
    taskId @0 :UInt64;
    source @1 :UInt32;
    pass @2 :UInt64;
    # The latest that the task came to.
  }

  struct Pass {
    pass @0 :UInt64;
    group @1 :UInt32;
    keeps @2 :Bool;
    # What was given back is kept, also when all tasks have left the pass.
    remnant @3 :Bool;
    # It was forgotten, and only what was given back is left of it.
    shared @4 :Bool;
    # Several tasks were leased splits of it.
    asked @5 :Bool;
    # `holdings` are known, if only that there are none.
    next @6 :UInt64;
    # The first split that nobody was leased.
    total :union {
      unknown @7 :Void;
      splits @8 :UInt64;
    }
    lastReader :union {
      # The last one that was leased splits of it.

      none @9 :Void;
      task @10 :UInt64;
    }
    returned @11 :List(Dispatcher.SplitRange);
    # Leased again before `next` is, in this order.
    listings @12 :List(SourceListing);
    holdings @13 :List(Holding);
  }

  struct SourceListing {
    source @0 :UInt32;
    listing @1 :Dispatcher.SplitListing;
  }

  struct Holding {
    # What a task has of a pass.

    taskId @0 :UInt64;
    ranges @1 :List(Dispatcher.SplitRange);
    # That were not told to every source of the group yet.
    dropped @2 :UInt64;
    # Ranges before these.
    end @3 :UInt64;
    # Of the last range, as the first source was told it.
    given @4 :List(SourceCount);
    # How many ranges each source was told: no more than there are.
    done @5 :List(UInt32);
    # Sources that were told the end.
  }

  struct SourceCount {
    source @0 :UInt32;
    count @1 :UInt64;
  }
}

# -- what was leased, and who has rows of it (actors/job/lease_history.hpp)

struct TaskLost {
  taskId @0 :UInt64;
  readers @1 :List(UInt64);
  # Consumers that have not said yet what they got of it.
}

struct ReaderReceived {
  consumerId @0 :UInt64;
  receipt @1 :Dispatcher.SplitReceipt;
}

struct ReaderUnheard {
  # A reader is gone and did not say what it got.

  consumerId @0 :UInt64;
  version @1 :UInt64;
  # The first of the TaskReaders that do not name it.
}

struct TaskGave {
  # A task says of which splits its readers were given rows.

  taskId @0 :UInt64;
  version @1 :UInt64;
  # Of the TaskReaders that it follows.
  receipt @2 :Dispatcher.SplitReceipt;
  lostElements @3 :UInt64;
  # So far: given to nobody, as readers that are gone may have handed them out.
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
  # Which readers have rows of a split. A value that the reader of this does not know is refused.

  nobody @0;
  perhaps @1;
  # One that is gone; the task, which lives, knows it.
  unknown @2;
  # Perhaps one that is gone and did not say it.
  reader @3;
}

struct LeaseState {
  tasks @0 :List(TaskLeases);
  # That were leased something and are not settled.
  lost @1 :List(TaskLost);
  losses @2 :Dispatcher.IterationLosses;
  # Of tasks that are settled.
  kept @3 :List(UInt64);
  # Tasks that are over, and of which readers hold rows: if one of these is gone, what is known of them is read again.

  struct TaskLeases {
    taskId @0 :UInt64;
    leases @1 :List(Lease);
    # In the order in which they were given.
    answered @2 :List(Answered);
    newest @3 :List(Dispatcher.SplitRun);
    # Of a lost task: the last split of which each reader got a row.
    outOfOrder @4 :Bool;
    # Rows may be missing before the newest of all readers.
    givenBack @5 :UInt64;
    # Rows, by readers.
    untold @6 :UInt64;
    # Not zero: the task has to say what readers got that were gone at this version of TaskReaders.
    forgotten @7 :UInt64;
    # Splits of leases that there was no room to remember, though the job reads splits again.
    lostElements @8 :UInt64;
    # As the task said with TaskGave.
  }

  struct Lease {
    source @0 :UInt32;
    # The first one of its group.
    holder @1 :Holder;
    pass @2 :UInt64;
    first @3 :UInt64;
    count @4 :UInt64;
  }

  struct Answered {
    source @0 :UInt32;
    # The first one of its group.
    pass @1 :UInt64;
    count @2 :UInt64;
    # Of questions that were answered.
  }
}

# -- rows that readers hold of tasks that are over (actors/job/held_rows.hpp)

struct TaskOver {
  taskId @0 :UInt64;
  readers @1 :List(Worker.ReaderMark);
}

# -- the whole

struct JobFact {
  # An arm that the reader does not know is refused, with all that was written with it.

  repetition @0 :UInt64;
  union {
    none @1 :Void;
    # Never written.
    begun @2 :Begun;
    forgotten @3 :Void;
    # Of the repetition only stays how it ended.

    readerJoined @4 :IterationReader;
    readerLeft @5 :ConsumerId;
    taskIs @6 :Task;
    # A new task, or what became of one.
    finishedAs @7 :Finished;

    sharedBy @8 :TaskCount;
    cameTo @9 :CameTo;
    leasedTo @10 :LeasedTo;
    taskGone @11 :TaskId;
    # What it held is read, or was given back before this.
    returned @12 :SplitsReturned;
    closed @13 :PassClosed;

    lost @14 :TaskLost;
    received @15 :ReaderReceived;
    unheard @16 :ReaderUnheard;
    given @17 :TaskGave;
    settled @18 :TaskSettled;

    taskOver @19 :TaskOver;
    handedOut @20 :Worker.ReaderMark;
    # Only how many elements were handed out counts.
    readerGone @21 :ConsumerId;
    # What it held is lost.

    collected @22 :Void;
    # Nobody read the repetition for long: it is as if it had never begun.
    done @23 :TaskDone;
    # What a task and its readers are done with: it is not read again.
    kept @24 :TaskId;
    # The task is over, and readers hold rows of it.
    released @25 :TaskSettled;
    # Such a task is forgotten.
    epochProposed @26 :Proposed;
    # Of coordinated reads: the readers are asked how far they may go before it begins.
    epochAgreed @27 :Dispatcher.RoundEpoch;
  }

  struct Begun {
    seed @0 :UInt64;
  }
  struct Finished {
    failure @0 :Failure;
    # Absent: it ended well.
  }
  struct Proposed {
    epoch @0 :UInt64;
  }
  struct TaskCount {
    tasks @0 :UInt64;
    # Living ones.
  }
  struct TaskId {
    taskId @0 :UInt64;
  }
  struct ConsumerId {
    consumerId @0 :UInt64;
  }
}

struct JobFacts {
  # Facts that were decided together: they hold all, or none does.

  facts @0 :List(JobFact);
  # In the order in which they are applied.
}

struct JobState {
  repetitions @0 :List(Repetition);
  overBelow @1 :UInt64;
  # All earlier repetitions are forgotten.
  over @2 :List(Over);
  # Those later ones that are forgotten, and the earlier ones that failed.
  collected @3 :List(Collected);
  # The latest repetitions that were collected, in the order of these ends.

  struct Repetition {
    number @0 :UInt64;
    seed @1 :UInt64;
    iteration @2 :IterationState;
    splits @3 :SplitState;
    leases @4 :LeaseState;
    held @5 :List(Worker.ReaderMark);
    # Rows that readers have of tasks that are over, and have not handed out.
    lostElements @6 :UInt64;
    # That were lost with readers.
  }

  struct Over {
    repetition @0 :UInt64;
    failure @1 :Failure;
    # Absent: it ended well.
  }

  struct Collected {
    repetition @0 :UInt64;
    family @1 :UInt64;
    # What the ids of its tasks have in common.
  }
}
