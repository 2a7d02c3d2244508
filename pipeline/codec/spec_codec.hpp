#pragma once

#include "headrace/pipeline/types/column.hpp"
#include "headrace/runtime/base/result.hpp"

#include <headrace/schemas/tensor.capnp.h>

/// Encodes specs and constants as messages. The `decode` functions do not trust the bytes: a result
/// is consistent, or the status names the fault. For malformed pointers Cap'n Proto throws
/// kj::Exception, which `read_message` catches.
namespace headrace::detail {

void encode(const tensor_spec& x, schema::TensorSpec::Builder out);
void encode(const structure& x, schema::Structure::Builder out);
void encode(const element_spec& x, schema::ElementSpec::Builder out);
void encode(const shape& x, schema::Shape::Builder out);
/// Encodes a constant: a column of one row.
void encode(const column& x, schema::Tensor::Builder out);

result<dtype> decode_dtype(uint8_t number);
result<shape> decode(schema::Shape::Reader in);
result<tensor_spec> decode(schema::TensorSpec::Reader in);
result<structure> decode(schema::Structure::Reader in);
result<element_spec> decode(schema::ElementSpec::Reader in);
/// Decodes a constant: a column of one row.
result<column> decode(schema::Tensor::Reader in);

} // namespace headrace::detail
