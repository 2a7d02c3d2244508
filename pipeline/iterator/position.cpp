#include "headrace/pipeline/iterator/position.hpp"

namespace headrace {

namespace {

void collect(const position& of, std::vector<split_place>& out) {
  if (of.reads)
    out.push_back(*of.reads);
  for (const auto& part : of.parts)
    if (part)
      collect(*part, out);
}

} // namespace

std::vector<split_place> oldest_splits_held(const position& of) {
  std::vector<split_place> out;
  collect(of, out);
  return out;
}

} // namespace headrace
