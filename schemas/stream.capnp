@0xb95d20c7e84fa163;
# What a consumer and a task say to each other over a link. One stream is one channel of the link; its messages
# keep their order. Element counts are counts of rows.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Block = import "block.capnp";
using Compression = import "compression.capnp";
using TaskOutcome = import "task_outcome.capnp";
using import "failure.capnp".Failure;

struct Open {
  # First on the channel, from the consumer; again after the link was lost.

  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  consumerId @2 :UInt64;
  received @3 :UInt64;
  # Elements of this stream that the consumer has got: it goes on after these.
  handedOut @4 :UInt64;
  # Elements of this stream that its trainer has been given.
  compression @5 :Compression.Compression;
  trainerId @6 :Text;
  # Of a job with a cross-trainer cache: whose place in the elements this stream shares.
  startsNewest @7 :Bool;
  # A trainer that the cache does not know begins with what is made from now on, not with the oldest that is there.
  consumerIndex @8 :UInt32;
  # Of a job with coordinated reads: which element of each group of the task's output goes to this consumer.
}

struct Grant {
  # How far the trainer is, and how much may be sent. All are totals or states, so a lost or repeated one does no
  # harm.

  handedOut @0 :UInt64;
  # Elements of this stream handed to the trainer: the task forgets these rows.
  elements @1 :UInt64;
  # The task may send up to this element of the stream.
  bytes @2 :UInt64;
  # And no more bytes than this that are not handed out; but one element always.
  waiting @3 :Bool;
  # The trainer is blocked: no stream has anything for it.
  received @4 :UInt64;
  # Elements of this stream that the consumer has got. Said for each block once the task is `leaving`, and in coordinated
  # reads; else it may be zero.
  claimed @5 :UInt64;
  # The trainer may take up to this element soon. Of a stream whose blocks say `claimed`.
  epoch @6 :UInt64;
  # Of coordinated reads: the newest epoch that the consumer takes part in.
}

struct Recall {
  # Give back what your trainer has not been given.

  id @0 :UInt64;
  keep @1 :UInt64;
  # Elements that may be kept beyond those handed out.
}

struct Recalled {
  id @0 :UInt64;
  mark @1 :UInt64;
  # Elements of this stream up to here stay with the consumer; the others come back.
}

struct StreamBlock {
  first @0 :UInt64;
  # Elements of this stream before this block: numbers without gaps.
  block @1 :Block.Block;
  skipped @2 :UInt64;
  # Elements that this trainer was too slow for, up to this block: they are not in the cache any more.
  claimed @3 :UInt64;
  # Not zero: the trainer may be handed out up to this element of the stream, and no others before they are claimed and
  # that is confirmed. Zero: it may be handed out all that it is sent.
}

struct Claimed {
  # The answer to a claim, where no block brings it.

  elements @0 :UInt64;
  # The trainer may be handed out up to this element of the stream: when its consumer is gone without a word, these go to
  # nobody else.
}

struct StreamEnd {
  elements @0 :UInt64;
  # Nothing comes after this many elements of this stream.
  outcome @1 :TaskOutcome.TaskOutcome;
  # Why nothing comes. Only after `exhausted` of all tasks are the sources known to be read to their end.
}

struct ReceivedByAll {
  # Of coordinated reads: how far a consumer may hand out.

  epoch @0 :UInt64;
  # That all consumers have said to take part in.
  elements @1 :UInt64;
  # Of each of their streams, that have arrived.
}

struct StreamMessage {
  union {
    none @0 :Void;
    # From the consumer.
    open @1 :Open;
    grant @2 :Grant;
    recalled @3 :Recalled;
    close @4 :Void;
    # The consumer leaves.

    # From the task.
    block @5 :StreamBlock;
    recall @6 :Recall;
    end @7 :StreamEnd;
    failed @8 :Failure;
    # The stream is refused or cannot go on.
    opened @10 :Void;
    # The answer to `open`: the consumer reads here, and what it holds of this stream is its own.
    leaving @9 :Void;
    # Its worker ends: what the task has comes as fast as it is granted, and nothing after it.
    claimed @11 :Claimed;
    receivedByAll @12 :ReceivedByAll;
  }
}
