@0xa86f03d7b1c2e95d;
# A block in the form in which it is sent between processes: this header, and the bytes of its
# columns in payload segments. Numbers are little-endian. The receiver has the spec of the elements,
# and refuses a block that does not match it.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct Part {
  # Some bytes: in a payload segment, or in this struct if they are few.

  enum Encoding {
    none @0;
    snappy @1;
  }

  bytes @0 :UInt64;
  # The number of bytes after decoding.
  encoding @1 :Encoding;
  union {
    inline @2 :Data;
    segment @3 :UInt32;
    # The index of the payload segment, which contains this part alone.
  }
}

struct Column {
  # One component of all rows.

  dtype @0 :UInt8;
  # A headrace::dtype.
  values @1 :Part;
  # The numbers of all rows, one after another, or the bytes of all strings.
  borders @2 :Part;
  # Set for strings only: int64, one more than there are strings; string i has the bytes of `values`
  # from borders[i] - byteBase to borders[i + 1] - byteBase.
  byteBase @3 :Int64;
  # Equal to borders[0], which is not zero if the column was cut out of a longer one.
  union {
    dense @4 :List(UInt64);
    # The shape of every row.
    variable :group {
      # Rows of different shapes.
      rank @5 :UInt16;
      dims @6 :Part;
      # int64, rows * rank: the shape of each row.
    }
  }
}

struct RowError {
  row @0 :UInt32;
  code @1 :UInt16;
  # A headrace::status_code.
  text @2 :Text;
  endsRun @3 :Bool;
  # The dataset ends with this error, before all of its rows were made.
}

struct RowErrors {
  # The root of the message in Block.errors.

  list @0 :List(RowError);
  # Ascending by row.
}

struct Block {
  rows @0 :UInt32;
  columns @1 :List(Column);
  errors @2 :Part;
  # RowErrors as a message of its own, in Cap'n Proto's flat stream format, because many errors may
  # be too large for this header. Empty: no row failed.
  origins @3 :Part;
  # Records of 32 bytes: rows (uint32), source (uint32), pass, split, step (uint64 each). Row i of
  # the record's rows descends from split `split + i * step`. Empty: unknown. Otherwise the rows of
  # all records add up to `rows`.
}
