@0xc6b2f7a9d0e41835;
# Elements kept in a folder: what `save`, `snapshot` and a cache in files write, and `load` reads. The folder holds files
# of rows and, written last, the record `dataset.headrace`: without it nothing is there. All are TFRecord files, so that
# every record has its length and a CRC-32C.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using import "block.capnp".Block;
using import "failure.capnp".Failure;
using import "tensor.capnp".ElementSpec;

struct SavedDataset {
  # The only record of `dataset.headrace`.

  enum Compression {
    none @0;
    snappy @1;
    # Column by column.
    gzip @2;
    # Whole records.
  }

  version @0 :UInt16;
  # Of this format. Others are refused.
  id @1 :UInt64;
  # Drawn when it was written.
  spec @2 :ElementSpec;
  compression @3 :Compression;
  shards @4 :List(Shard);

  struct Shard {
    file @0 :Text;
    # Name in the folder, or `pieces/<number>/<name>`.
    bytes @1 :UInt64;
    # Size of the file.
    blocks @2 :List(Record);
  }

  struct Record {
    offset @0 :UInt64;
    # Where it begins in the file.
    rows @1 :UInt32;
  }
}

struct SavePlan {
  # The only record of `saving.headrace`, in a folder that workers write into together: which pieces there are to be. Each
  # piece is a saved dataset in a folder of its own, `pieces/<number>`, and is there, or not, as such a dataset is. When all are
  # there, `dataset.headrace` in the folder names the files of all, in the order of the pieces.

  version @0 :UInt16;
  # Of this format. Others are refused.
  id @1 :UInt64;
  # Drawn when it was written.
  fingerprint @2 :Text;
  # SHA-256 of the dataset's graph, in hexadecimal.
  spec @3 :ElementSpec;
  compression @4 :SavedDataset.Compression;
  seed @5 :UInt64;
  # For operators that were given none: the same for all pieces.
  sections @6 :List(Section);
  # Empty: the whole dataset is one piece, for the reason below.
  wholeBecause @7 :Text;

  struct Section {
    # One pass over sources that advance together. Its pieces follow those of the sections before.

    group @0 :UInt32;
    pass @1 :UInt64;
    splits @2 :UInt64;
    # Of the pass.
    pieceSplits @3 :UInt64;
    # Of each piece; the last one has what is left.
    digest @4 :UInt64;
    # Of what the first of the sources listed, such as the names of files; zero: it lists nothing.
  }
}

struct SaveFailure {
  # The only record of `failed.headrace`, in such a folder: why the save ended early. Gone when it is begun again.

  planId @0 :UInt64;
  failure @1 :Failure;
}

struct SavedRows {
  # A record of a file of rows begins with this message in Cap'n Proto's stream format; the segments that its columns
  # name follow, each at the next multiple of 64 bytes from the beginning of the record.

  segments @0 :List(UInt64);
  # The bytes of each.
  block @1 :Block;
}
