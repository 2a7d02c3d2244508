@0xe27a90c5b36d18f4;
# Graphs of datasets. Nodes name each other by number, so that shared nodes stay shared. A graph's
# fingerprint is the SHA-256 of the canonical form of this message: one segment, nodes in the order
# of their first use, depth first.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Compression = import "compression.capnp";
using Sharding = import "sharding.capnp";
using import "expression.capnp".Expression;
using import "expression.capnp".Function;
using import "saved.capnp".SavedDataset;
using import "tensor.capnp".ElementSpec;
using import "tensor.capnp".Structure;
using import "tensor.capnp".Tensor;
using import "tensor.capnp".TensorSpec;

struct DatasetGraph {
  expressions @0 :List(Expression);
  functions @1 :List(Function);
  datasets @2 :List(Dataset);
  # The last one is the graph's result. Inputs, and datasets that functions return, come before the
  # nodes that use them.
}

struct Seed {
  # The seed of an operator or of a graph's options, as set by the user.

  union {
    unset @0 :Void;
    # An operator's seed is derived from the seed of the options or, if that seed is unset, too,
    # from the seed of the run.
    value @1 :UInt64;
  }
}

struct Files {
  enum Compression {
    # The compression of whole files. A value that the receiver does not define is refused, never
    # read as another one.

    none @0;
    gzip @1;
    zlib @2;
  }
  names @0 :UInt32;
  # The number of an expression.
  compression @1 :Compression;
}

struct Field {
  # A component of the rows that a source reads, or of those that paddedBatch pads.

  name @0 :Text;
  spec @1 :TensorSpec;
  union {
    required @2 :Void;
    missing @3 :Tensor;
    # The value for a missing field, or for the padding.
  }
}

struct ServiceOptions {
  address @0 :Text;
  processingMode @1 :Sharding.ShardingPolicy;
  jobName @2 :Text;
  datasetId @3 :Text;
  maxOutstandingRequests @4 :Int64;
  compression @5 :Compression.Compression;
  # The compression of blocks for this reader.
  workerTimeoutNs @6 :Int64;
  # How long a reader waits while there is no worker, before it gets an error.
  stallTimeoutNs @7 :Int64;
  # How long a reader waits for an element while there are workers, before it gets an error;
  # positive.
  targetWorkers @8 :Sharding.TargetWorkers;
  guarantee @9 :Sharding.Guarantee;
  trainerId @10 :Text;
  # Not empty: the reader uses the cross-trainer cache, with this trainer id. The next three fields
  # belong to the cache.
  cacheWaitNs @11 :UInt64;
  # How long the other trainers wait for a trainer that is behind; 0: they do not wait.
  expectedTrainers @12 :UInt32;
  startsNewest @13 :Bool;
  numConsumers @14 :UInt32;
  # Not zero: coordinated reads. The next three fields belong to these.
  consumerIndex @15 :UInt32;
  rejoin @16 :Bool;
  # The consumer replaces one that is gone.
  consumerTimeoutNs @17 :UInt64;
  # How long a reader waits while consumers are missing, before it gets an error.
}

struct Options {
  # How a graph runs. See graph_options in pipeline/graph/operator_parameters.hpp.

  enum Choice {
    unset @0;
    no @1;
    yes @2;
  }
  deterministic @0 :Choice;
  autotune @1 :Choice;
  threads @2 :Int64;
  # 0: unset.
  memory @3 :Int64;
  # Bytes; 0: unset.
  compression :union {
    # The compression of blocks for readers that leave the choice to the workers.

    unset @4 :Void;
    # The value of the next options node towards the sources; if none has one, the workers choose.
    value @5 :Compression.Compression;
  }
  seed @6 :Seed;
}

struct Dataset {
  # One node. In the operators below, `tensors` and similar fields contain numbers of expressions,
  # `input` is the number of a dataset, and `function` the number of a function. If `computed` is
  # not empty, it contains the number of an expression, whose value replaces the operator's number
  # (size, count ...).

  union {
    none @0 :Void;
    # Not set: the receiver refuses it, as it does with an operator of a newer version.

    range :group {
      start @1 :UInt32;
      stop @2 :UInt32;
      step @3 :UInt32;
    }
    fromTensors :group {
      tensors @4 :List(UInt32);
      layout @5 :Structure;
    }
    fromTensorSlices :group {
      tensors @6 :List(UInt32);
      layout @7 :Structure;
    }
    textLines @8 :Files;
    tfrecord @9 :Files;
    listFiles :group {
      patterns @10 :UInt32;
      shuffle @11 :Bool;
      seed @12 :Seed;
    }
    map :group {
      input @13 :UInt32;
      function @14 :UInt32;
      parallel @15 :Int64;
      deterministic @113 :Options.Choice;
    }
    filter :group {
      input @16 :UInt32;
      function @17 :UInt32;
      parallel @105 :Int64;
      deterministic @114 :Options.Choice;
    }
    flatMap :group {
      input @18 :UInt32;
      function @19 :UInt32;
    }
    interleave :group {
      input @20 :UInt32;
      function @21 :UInt32;
      cycle @22 :Int64;
      length @23 :Int64;
      parallel @24 :Int64;
      deterministic @115 :Options.Choice;
    }
    batch :group {
      input @25 :UInt32;
      size @26 :Int64;
      dropRemainder @27 :Bool;
      computed @147 :List(UInt32);
    }
    shuffle :group {
      input @28 :UInt32;
      bufferSize @29 :Int64;
      seed @30 :Seed;
      reshuffle @31 :Bool;
      computed @148 :List(UInt32);
    }
    repeat :group {
      input @32 :UInt32;
      count @33 :Int64;
      # -1: without end.
      computed @149 :List(UInt32);
    }
    take :group {
      input @34 :UInt32;
      count @35 :Int64;
      # -1: all.
      computed @150 :List(UInt32);
    }
    skip :group {
      input @36 :UInt32;
      count @37 :Int64;
      # -1: all.
      computed @151 :List(UInt32);
    }
    prefetch :group {
      input @38 :UInt32;
      elements @39 :Int64;
      # -1: chosen by the process that runs the graph.
    }
    enumerate :group {
      input @40 :UInt32;
      start @41 :Int64;
    }
    zip :group {
      inputs @42 :List(UInt32);
    }
    concatenate :group {
      first @43 :UInt32;
      second @44 :UInt32;
    }
    distribute :group {
      # Runs its input in a service, and gives the elements that the service returns.
      service @45 :ServiceOptions;
      input @46 :UInt32;
      # The dataset that is read if `service.datasetId` is empty.
      spec @47 :ElementSpec;
      # The spec of the registered dataset.
      infinite @48 :Bool;
      # The registered dataset has no end.
    }
    fixedLength :group {
      files @49 :Files;
      recordBytes @50 :Int64;
      headerBytes @51 :Int64;
      footerBytes @52 :Int64;
    }
    csv :group {
      files @53 :Files;
      columns @54 :List(Field);
      header @55 :Bool;
      delimiter @56 :UInt8;
      quotes @57 :Bool;
      naValue @58 :Text;
      select @59 :List(Int64);
    }
    jsonLines :group {
      files @60 :Files;
      fields @61 :List(Field);
    }
    sql :group {
      driver @62 :Text;
      source @63 :UInt32;
      query @64 :UInt32;
      columns @65 :List(Field);
    }
    tarSamples :group {
      files @66 :UInt32;
      extensions @67 :List(Text);
      skipIncomplete @68 :Bool;
    }
    counter :group {
      start @69 :Int64;
      step @70 :Int64;
    }
    random :group {
      seed @71 :Seed;
      reseed @72 :Bool;
    }
    generator :group {
      name @73 :Text;
      label @142 :Text;
      program @143 :Data;
      # As `program` in Function.named.
      spec @74 :ElementSpec;
      count @75 :Int64;
      # -1: the function decides.
      deterministic @140 :Bool;
      # The user's guarantee that the function makes the same rows in each pass, wherever it runs.
    }
    takeWhile :group {
      input @76 :UInt32;
      function @77 :UInt32;
    }
    shard :group {
      input @78 :UInt32;
      shards @79 :Int64;
      # -1: each worker has a part of its own, under the sharding policy `hint`.
      index @80 :Int64;
      run @152 :Int64 = 1;
      # The number of consecutive elements that go to one shard.
    }
    unique :group {
      input @81 :UInt32;
    }
    ignoreErrors :group {
      input @82 :UInt32;
    }
    assertCardinality :group {
      input @83 :UInt32;
      count @84 :Int64;
      # -1: infinitely many.
    }
    scan :group {
      input @85 :UInt32;
      function @86 :UInt32;
      initialState @87 :List(UInt32);
    }
    paddedBatch :group {
      input @88 :UInt32;
      size @89 :Int64;
      dropRemainder @90 :Bool;
      computed @144 :Bool;
      # True: the size is computed by an expression, which is the last one in `extent`.
      components @91 :List(Field);
      # The padded shapes, and the values that fill the padding.
      extent @127 :List(UInt32);
      # The number of an expression for the extent of the axes whose padded extent is unknown; if
      # it is missing, the largest extent in the batch. If `computed`, the size's number follows.
    }
    window :group {
      input @92 :UInt32;
      size @93 :Int64;
      shift @94 :Int64;
      stride @95 :Int64;
      dropRemainder @96 :Bool;
    }
    sampleFrom :group {
      inputs @97 :List(UInt32);
      weights @98 :List(Float64);
      seed @99 :Seed;
      stopOnEmpty @100 :Bool;
      rerandomize @101 :Bool;
    }
    chooseFrom :group {
      choices @102 :UInt32;
      inputs @103 :List(UInt32);
      stopOnEmpty @104 :Bool;
    }
    options :group {
      input @106 :UInt32;
      options @107 :Options;
    }
    globalShuffle :group {
      input @108 :UInt32;
      # A source whose rows can be read in any order.
      seed @109 :Seed;
      reshuffle @110 :Bool;
    }
    sleep :group {
      input @111 :UInt32;
      microseconds @112 :Int64;
      computed @145 :List(UInt32);
    }
    elementsOf :group {
      # The elements of datasets that are parameters of the function.
      tensors @116 :List(UInt32);
      layout @117 :Structure;
    }
    groupByWindow :group {
      # The input consists of (key, element) or (key, size, element); the window function gets (key,
      # dataset of elements).
      input @118 :UInt32;
      size @119 :Int64;
      # 0: each element of the input contains the size.
      dropRemainder @120 :Bool;
    }
    raggedBatch :group {
      input @121 :UInt32;
      size @122 :Int64;
      dropRemainder @123 :Bool;
      computed @146 :List(UInt32);
    }
    singleElement :group {
      input @124 :UInt32;
    }
    lastElement :group {
      input @125 :UInt32;
      tensors @126 :List(UInt32);
      # The element that is given if the input has none.
    }
    load :group {
      folder @128 :Text;
      spec @129 :ElementSpec;
      blocks @130 :Int64;
      # The number of blocks that are read; -1: the blocks of one shard, which are counted when the
      # shard is read.
      cardinality @131 :Int64;
      shard @132 :UInt32;
      # The number of an expression, plus one; 0: all shards.
      pieceWaitNs @141 :Int64;
      # Not zero: the shard is the number of a piece in a folder that workers are writing into, and
      # this is how long a reader waits for the piece.
    }
    cache :group {
      input @133 :UInt32;
      folder @134 :Text;
      mostBytes @135 :Int64;
    }
    snapshot :group {
      input @136 :UInt32;
      folder @137 :Text;
      compression @138 :SavedDataset.Compression;
      shard @139 :UInt32;
      # The number of a function, plus one; 0: one shard.
      reader @158 :UInt32;
      # The number, plus one, of a dataset that is read in place of the shards when the snapshot is
      # complete; 0: the shards are read, one after the other.
    }
    writeTfrecord :group {
      # Writes a file, and gives one element, the number of records, when all records are in the
      # file.
      input @153 :UInt32;
      file @154 :Files;
    }
    stats :group {
      input @155 :UInt32;
      tag @156 :Text;
      bytes @157 :Bool;
      # True: the bytes of each element are measured; false: the time that each element took.
    }
    savedShards :group {
      # The numbers of the shards of a saved dataset, from 0.
      folder @159 :Text;
    }
  }
}
