#include "headrace/pipeline/functions/lookup.hpp"

#include "headrace/pipeline/functions/literal.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <numeric>
#include <string_view>
#include <unordered_set>

namespace headrace::lookup {
using namespace detail;

namespace {

expr iota(size_t n) {
  std::vector<int64_t> out(n);
  std::iota(out.begin(), out.end(), int64_t{0});
  return constant(out);
}

} // namespace

table::table(const expr& keys, const expr& values, const expr& default_value)
  : keys_(keys),
    values_(values),
    default_(default_value.is_literal()
               ? expr{detail::adapt_literal("lookup.table", default_value, values.type()).value()}
               : default_value) {
  (void)lookup(keys); // checks keys, values and default
}

expr table::lookup(const expr& keys) const {
  expr_attrs attrs;
  attrs.dims = {buckets_};
  const auto key = keys.is_literal() && keys.type() != keys_.type()
                     ? detail::adapt_literal("lookup.table", keys, keys_.type()).value()
                     : keys.node();
  return detail::apply(expr_op::lookup, {key, keys_.node(), values_.node(), default_.node()},
                       std::move(attrs));
}

int64_t table::size() const {
  const auto& keys = keys_.node()->attrs.value;
  const auto n = static_cast<size_t>(keys.total_values());
  const auto width = keys.is_string() ? 0 : size_of(keys.type());
  const auto* all = reinterpret_cast<const char*>(keys.value_buffer().data());
  std::unordered_set<std::string_view> different;
  for (size_t i = 0; i < n; ++i)
    different.insert(keys.is_string() ? keys.string(i) : std::string_view{all + i * width, width});
  return static_cast<int64_t>(different.size()) + buckets_;
}

table vocabulary_table(const std::vector<std::string>& words, int64_t num_oov_buckets) {
  table out{constant(words), iota(words.size()), int64_t{-1}};
  out.buckets_ = num_oov_buckets;
  (void)out.lookup(out.keys_);
  return out;
}

table index_to_string(const std::vector<std::string>& words, const std::string& default_value) {
  return {iota(words.size()), constant(words), default_value};
}

std::vector<std::string> read_vocabulary(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in)
    throw error{not_found(
      fmt::format("lookup.read_vocabulary: cannot read '{}': {}", path, std::strerror(errno)))};
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    out.push_back(std::move(line));
  }
  if (in.bad())
    throw error{data_loss(fmt::format("lookup.read_vocabulary: '{}' broke off", path))};
  return out;
}

} // namespace headrace::lookup
