@0xc6b2f7a9d0e41835;
# Elements kept in a folder: what `save`, `snapshot` and a cache in files write, and `load` reads. The folder holds files
# of rows and, written last, the record `dataset.headrace`: without it nothing is there. All are TFRecord files, so that
# every record has its length and a CRC-32C.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using import "block.capnp".Block;
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
    # Name in the folder.
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

struct SavedRows {
  # A record of a file of rows begins with this message in Cap'n Proto's stream format; the segments that its columns
  # name follow, each at the next multiple of 64 bytes from the beginning of the record.

  segments @0 :List(UInt64);
  # The bytes of each.
  block @1 :Block;
}
