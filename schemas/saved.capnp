@0xc6b2f7a9d0e41835;
# Elements in a folder, as written by `save`, `snapshot` and a cache in files, and read by `load`.
# The folder contains files of rows and, written last, the record `dataset.headrace`: without it the
# folder counts as empty. All files are TFRecord files, so that every record has its length and a
# CRC-32C.

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
    # Columns are compressed.
    gzip @2;
    # Whole records are compressed.
  }

  version @0 :UInt16;
  # The version of this format. Other versions are refused.
  id @1 :UInt64;
  # A random number. In a folder with a plan, the plan's id; in a piece, a number that is derived
  # from the plan's id.
  spec @2 :ElementSpec;
  compression @3 :Compression;
  shards @4 :List(Shard);

  struct Shard {
    file @0 :Text;
    # The name in the folder, or `pieces/<number>/<name>`.
    bytes @1 :UInt64;
    # The size of the file in bytes.
    blocks @2 :List(Record);
  }

  struct Record {
    offset @0 :UInt64;
    # The offset of the record in the file.
    rows @1 :UInt32;
  }
}

struct SavePlan {
  # The only record of `saving.headrace`, in a folder that workers write into together: the planned
  # pieces. Each piece is a saved dataset in a folder of its own, `pieces/<number>`. When all are
  # written, `dataset.headrace` in the folder names the files of all pieces, in their order.

  version @0 :UInt16;
  # The version of this format. Other versions are refused.
  id @1 :UInt64;
  # Random, drawn when the plan was made.
  fingerprint @2 :Text;
  # SHA-256 of the dataset's graph, in hexadecimal.
  spec @3 :ElementSpec;
  compression @4 :SavedDataset.Compression;
  seed @5 :UInt64;
  # The seed for operators without a seed of their own, equal for all pieces.
  sections @6 :List(Section);
  # Empty: the whole dataset is one piece, for the reason in `wholeBecause`.
  wholeBecause @7 :Text;

  struct Section {
    # One pass over the sources of one group. Its pieces follow those of earlier sections.

    group @0 :UInt32;
    pass @1 :UInt64;
    splits @2 :UInt64;
    # The number of splits in the pass.
    pieceSplits @3 :UInt64;
    # The number of splits in each piece; the last piece has the remaining ones.
    digest @4 :UInt64;
    # The digest of the listing (such as file names) of the first source; zero: the source has no
    # listing.
  }
}

struct SaveFailure {
  # The only record of `failed.headrace`, in a folder that workers write into together: the reason
  # why the save ended early. The file is removed when the save is begun again or is complete.

  planId @0 :UInt64;
  failure @1 :Failure;
}

struct SavedRows {
  # A record of a file of rows begins with this message in Cap'n Proto's stream format. The segments
  # that its columns name follow, each at the next multiple of 64 bytes from the beginning of the
  # record.

  segments @0 :List(UInt64);
  # The number of bytes in each segment.
  block @1 :Block;
}
