#include "headrace/pipeline/codec/field_codec.hpp"

#include "headrace/pipeline/codec/vocabulary_codec.hpp"
#include "headrace/schemas/text.hpp"

namespace headrace::detail {

result<std::vector<field_format>> decode(::capnp::List<schema::Field>::Reader in) {
  std::vector<field_format> out;
  for (auto one : in) {
    auto& made = out.emplace_back();
    made.name = string_of(one.getName());
    HEADRACE_ASSIGN(made.spec, decode(one.getSpec()));
    if (made.spec.is_dataset())
      return invalid_argument(fmt::format("field '{}' is a dataset", made.name));
    if (one.isMissing()) {
      HEADRACE_ASSIGN(made.missing, decode(one.getMissing()));
    }
  }
  return out;
}

void encode(std::span<const field_format> fields, ::capnp::List<schema::Field>::Builder out) {
  for (unsigned i = 0; i < out.size(); ++i) {
    out[i].setName(text_of(fields[i].name));
    encode(fields[i].spec, out[i].initSpec());
    if (fields[i].missing)
      encode(*fields[i].missing, out[i].initMissing());
    else
      out[i].setRequired();
  }
}

} // namespace headrace::detail
