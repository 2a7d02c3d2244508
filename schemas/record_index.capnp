@0xa4e1f0b7c2d95836;
# The offsets of the records of a file. The index is built once, and kept beside the file or in the
# user's cache directory.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct RecordIndex {
  version @0 :UInt16;
  # The version of this record. If it is not the version of this build, the index is built anew.
  fileBytes @1 :UInt64;
  modifiedNs @2 :Int64;
  # Size and time of the indexed file. If they differ from the file's, the index is built anew.
  checksum @3 :UInt32;
  # CRC-32C of `offsets`.
  offsets @4 :Data;
  # Little-endian uint64: the offset of each record, ascending, and the file's size at the end.
}
