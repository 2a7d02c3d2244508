#include "headrace/pipeline/functions/operations/string_columns.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"

#include <charconv>
#include <cstring>
#include <farmhash.h>
#include <fmt/format.h>
#include <unordered_map>

namespace headrace::detail {

namespace {

/// The place of each key in the table. String keys are views of the node's constant.
struct index_table {
  std::unordered_map<std::string_view, size_t> strings;
  std::unordered_map<int64_t, size_t> integers;
};

template <class T>
int64_t as_integer(T x) {
  // uint64 keys that int64 does not hold become negative; different keys stay different.
  return static_cast<int64_t>(x);
}

result<tensor_spec> infer_lookup(const library_operands& in) {
  const auto& keys = in[1];
  const auto& values = in[2];
  if (keys.type != dtype::string && !is_integer(keys.type))
    return invalid_argument(
      fmt::format("the table's keys are {}; they must be strings or integers", to_string(keys)));
  for (const auto i : {size_t{1}, size_t{2}})
    if (!in[i].dims.has_rank() || in[i].dims.rank() != 1)
      return invalid_argument(fmt::format("the table's {} are {}; a vector is needed",
                                          i == 1 ? "keys" : "values", to_string(in[i])));
  if (keys.dims != values.dims)
    return invalid_argument(fmt::format("{} keys for {} values", keys.dims[0], values.dims[0]));
  if (in[3].type != values.type || !in[3].dims.is_scalar())
    return invalid_argument(fmt::format("the default is {}; a scalar of {} is needed",
                                        to_string(in[3]), to_string(values.type)));
  if (in[0].type != keys.type)
    return invalid_argument(
      fmt::format("keys are {}; the table's are {}", to_string(in[0]), to_string(keys.type)));
  if (in.attrs.dims.size() != 1 || in.attrs.dims[0] < 0)
    return invalid_argument("the number of buckets must not be negative");
  if (in.attrs.dims[0] > 0 && values.type != dtype::int64)
    return invalid_argument(
      fmt::format("values are {}; buckets need int64 ids", to_string(values.type)));
  return tensor_spec{values.type, in[0].dims};
}

bool same_value(const column& values, size_t a, size_t b) {
  if (values.is_string())
    return values.string(a) == values.string(b);
  const auto size = size_of(values.type());
  const auto* all = values.value_buffer().data();
  return std::memcmp(all + a * size, all + b * size, size) == 0;
}

/// Checks a key at place `i` that is in the table at place `before` already: an error if its values
/// at the two places differ.
status again(const column& values, size_t before, size_t i, std::string_view key) {
  if (same_value(values, before, i))
    return {};
  return failed_precondition(fmt::format("key {} is there twice, with different values", key));
}

result<std::shared_ptr<const void>> prepare_lookup(const expr_node& node) {
  for (size_t i = 1; i < 4; ++i)
    if (node.inputs[i]->op != expr_op::constant)
      return invalid_argument("keys, values and default of the table must be constants");
  const auto& keys = node.inputs[1]->attrs.value;
  const auto& values = node.inputs[2]->attrs.value;
  const auto n = static_cast<size_t>(keys.total_values());
  auto out = std::make_shared<index_table>();
  if (keys.is_string()) {
    out->strings.reserve(n);
    for (size_t i = 0; i < n; ++i)
      if (const auto [at, fresh] = out->strings.emplace(keys.string(i), i); !fresh)
        HEADRACE_TRY(again(values, at->second, i, fmt::format("'{}'", keys.string(i))));
    return std::shared_ptr<const void>{std::move(out)};
  }
  out->integers.reserve(n);
  status why;
  visit_plain(keys.type(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const auto xs = keys.values<T>();
      for (size_t i = 0; i < n && why.ok(); ++i)
        if (const auto [at, fresh] = out->integers.emplace(as_integer(xs[i]), i); !fresh)
          why = again(values, at->second, i, fmt::format("{}", +xs[i]));
    }
  });
  HEADRACE_TRY(why);
  return std::shared_ptr<const void>{std::move(out)};
}

constexpr size_t absent = ~size_t{0};

/// Calls `take(place, text)` for each key. `place` is the key's place in the table, or `absent`;
/// `text` is a function that returns the key as text.
template <class Take>
void find_all(const column& keys, const index_table& in, Take&& take) {
  const auto n = static_cast<size_t>(keys.total_values());
  if (keys.is_string()) {
    for (size_t i = 0; i < n; ++i) {
      const auto at = in.strings.find(keys.string(i));
      take(at == in.strings.end() ? absent : at->second, [&] { return keys.string(i); });
    }
    return;
  }
  visit_plain(keys.type(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      char digits[24];
      for (auto x : keys.values<T>()) {
        const auto at = in.integers.find(as_integer(x));
        take(at == in.integers.end() ? absent : at->second, [&] {
          const auto end = std::to_chars(digits, digits + sizeof digits, +x).ptr;
          return std::string_view{digits, static_cast<size_t>(end - digits)};
        });
      }
    }
  });
}

column run_lookup(const op_call& call) {
  const auto& keys = *call.inputs[0].data;
  // Keys, values and default of the table are constants, so each has one row in any call.
  const auto& values = *call.inputs[2].data;
  const auto& other = *call.inputs[3].data;
  const auto& table = *static_cast<const index_table*>(call.node.prepared.get());
  if (values.is_string()) {
    buffer_builder borders, bytes;
    borders.push_back(int64_t{0});
    find_all(keys, table, [&](size_t at, auto&&) {
      const auto text = at == absent ? other.string(0) : values.string(at);
      bytes.append(text.data(), text.size());
      borders.push_back(static_cast<int64_t>(bytes.size()));
    });
    return strings_with_shapes_of(keys, borders.finish(), bytes.finish());
  }
  const auto size = size_of(values.type());
  mutable_buffer out{static_cast<size_t>(keys.total_values()) * size};
  const auto buckets = static_cast<uint64_t>(call.node.attrs.dims[0]);
  auto* to = out.data();
  find_all(keys, table, [&](size_t at, auto&& spelt) {
    if (at == absent && buckets != 0) {
      const auto text = spelt();
      const auto id = static_cast<uint64_t>(values.total_values())
                      + util::Fingerprint64(text.data(), text.size()) % buckets;
      std::memcpy(to, &id, size);
    } else if (at == absent) {
      std::memcpy(to, other.value_buffer().data(), size);
    } else {
      std::memcpy(to, values.value_buffer().data() + at * size, size);
    }
    to += size;
  });
  return with_shapes_of(keys, values.type(), std::move(out).freeze());
}

} // namespace

std::span<const library_function> lookup_functions() {
  static constexpr library_function functions[] = {
    {expr_op::lookup, "lookup.table", 4, 4, infer_lookup, run_lookup, prepare_lookup},
  };
  return functions;
}

} // namespace headrace::detail
