@0xc41b9fe60d725a83;
# Traced functions: the computation of a user's function, in the form of nodes that refer to their
# inputs by number.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using import "tensor.capnp".ElementSpec;
using import "tensor.capnp".Shape;
using import "tensor.capnp".Structure;
using import "tensor.capnp".Tensor;

struct Slice {
  # One part of numpy's basic indexing.

  union {
    index @0 :Int64;
    range :group {
      start @1 :Int64;
      stop @2 :Int64;
      step @3 :Int64;
      hasStart @4 :Bool;
      hasStop @5 :Bool;
    }
    newAxis @6 :Void;
    ellipsis @7 :Void;
  }
}

struct Feature {
  # One feature of a tf.train.Example.

  name @0 :Text;
  dtype @1 :UInt8;
  shape @2 :Shape;
  variable @3 :Bool;
  default @4 :Tensor;
  # Absent: the feature is required.
  sequence @5 :Bool;
  # True: the feature has any number of steps of this shape.
  inLists @6 :Bool;
  # For a tf.train.SequenceExample: the feature is one of the feature lists, not of the context.
  indexName @7 :Text;
  # Not empty: the name of another feature of the record, which has the place of each value in a
  # sparse vector of `size` places or, if `size` is 0, the lengths of the rows of a ragged tensor.
  size @8 :Int64;
}

struct Expression {
  # One application of a column function. Fields that an op does not use have their default values.

  op @0 :UInt16;
  # A headrace::expr_op.
  dtype @1 :UInt8;
  # The dtype of the result; used by ops for which it cannot be inferred.
  flag @2 :Bool;
  inputs @3 :List(UInt32);
  # The numbers of earlier expressions.
  index @4 :Int64;
  axes @5 :List(Int64);
  dims @6 :List(Int64);
  slices @7 :List(Slice);
  text @8 :Data;
  value @9 :Tensor;
  features @10 :List(Feature);
  function @11 :UInt32;
  # For a parameter, which is a component of the argument of a function: the number of this
  # function. A nested function that uses the parameter captures it.
  numbers @12 :List(Float64);
  texts @13 :List(Data);
}

struct Function {
  argument @0 :ElementSpec;
  union {
    none @1 :Void;
    # Not set: refused.
    tensors :group {
      layout @2 :Structure;
      leaves @3 :List(UInt32);
      # The numbers of expressions, one for each leaf.
    }
    dataset @4 :UInt32;
    # The result is a dataset.
    named :group {
      # A function that is not part of the graph.
      name @5 :Text;
      # The name under which the worker's program, or one of its plug-ins, registered the function;
      # "python": the function is made of `program`.
      label @8 :Text;
      # For users; may be empty.
      program @9 :Data;
      # The program of which the function is made; empty: the function is registered.
      result @6 :ElementSpec;
      deterministic @7 :Bool;
      # The user's guarantee that equal rows give equal results, wherever the function runs.
    }
  }
}
