#pragma once

#include "headrace/pipeline/codec/spec_codec.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>
#include <headrace/schemas/dataset.capnp.h>

/// The encodings of parts that several operators' messages contain.
namespace headrace::detail {

/// Returns `x`, a value that was read for `op`; an error gets the name of the operator.
template <class T>
result<T> in_operator(dataset_op op, result<T> x) {
  return x ? std::move(x) : result<T>{x.status().with_context(to_string(op))};
}

inline std::optional<uint64_t> seed_of(schema::Seed::Reader x) {
  return x.isValue() ? std::optional{x.getValue()} : std::nullopt;
}

inline void write(const std::optional<uint64_t>& seed, schema::Seed::Builder out) {
  if (seed)
    out.setValue(*seed);
  else
    out.setUnset();
}

/// Encodes and decodes the fields that a source reads, or the components that an operator pads. A
/// field's spec must not be a dataset: `decode` refuses such a field with `invalid_argument`.
result<std::vector<field_format>> decode(::capnp::List<schema::Field>::Reader in);
void encode(std::span<const field_format> fields, ::capnp::List<schema::Field>::Builder out);

} // namespace headrace::detail
