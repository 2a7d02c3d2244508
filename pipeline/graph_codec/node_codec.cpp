#include "headrace/pipeline/graph_codec/node_codec.hpp"

namespace headrace::detail {

schema::Options::Choice to_schema(const std::optional<bool>& x) {
  if (!x)
    return schema::Options::Choice::UNSET;
  return *x ? schema::Options::Choice::YES : schema::Options::Choice::NO;
}

result<std::optional<bool>> from_schema(schema::Options::Choice x) {
  switch (x) {
  case schema::Options::Choice::UNSET: return std::optional<bool>{};
  case schema::Options::Choice::NO: return std::optional{false};
  case schema::Options::Choice::YES: return std::optional{true};
  }
  return invalid_argument("options: a choice is neither unset, no nor yes");
}

} // namespace headrace::detail
