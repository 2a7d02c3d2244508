@0x9d3e58b0f14c27a6;
# Tensors, and specs of tensors that are not made yet.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct Shape {
  unknownRank @0 :Bool;
  # If set, `dims` is empty.
  dims @1 :List(Int64);
  # -1: unknown until the tensor is made.
}

struct TensorSpec {
  dtype @0 :UInt8;
  # A headrace::dtype.
  shape @1 :Shape;
  nesting @2 :UInt8;
  # 0: a tensor; 1: a dataset of such tensors; and so on.
}

struct Structure {
  # The structure of an element's tensors. Leaves are numbered depth first.

  children @0 :List(Structure);
  names @1 :List(Text);
  # Set for a named structure only, one for each child.
  kind @2 :Kind;

  enum Kind {
    leaf @0;
    tuple @1;
    named @2;
    ragged @3;
    # The first leaf has the values; the others have the row lengths of the ragged axes, from the
    # outermost one.
  }

  label @3 :Text;
  # Identifies the class of which users get an object for this structure; empty: the usual class.
}

struct ElementSpec {
  layout @0 :Structure;
  components @1 :List(TensorSpec);
  # One for each leaf.
}

struct Tensor {
  # A constant.

  dtype @0 :UInt8;
  dims @1 :List(Int64);
  union {
    numbers @2 :Data;
    # Row-major, little-endian; a bool is a byte, 0 or 1.
    strings @3 :List(Data);
  }
}
