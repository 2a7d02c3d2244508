@0xa4e1f0b7c2d95836;
# Where the records of a file begin: built once, and kept beside the file.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct RecordIndex {
  version @0 :UInt16;
  # Of this record. Others are built anew.
  fileBytes @1 :UInt64;
  modifiedNs @2 :Int64;
  # Size and time of the file that was indexed; the index of a file that has others is built anew.
  checksum @3 :UInt32;
  # CRC-32C of `offsets`.
  offsets @4 :Data;
  # Little-endian uint64: where each record begins, ascending, and last the file's size.
}
