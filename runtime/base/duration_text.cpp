#include "headrace/runtime/base/duration_text.hpp"

namespace headrace::detail {

namespace {

std::string without_end_zeros(double x) {
  auto text = std::to_string(x);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text;
}

} // namespace

std::string seconds_text(duration x) { return without_end_zeros(in_seconds(x)) + " s"; }
std::string milliseconds_text(duration x) { return without_end_zeros(1e3 * in_seconds(x)) + " ms"; }

} // namespace headrace::detail
