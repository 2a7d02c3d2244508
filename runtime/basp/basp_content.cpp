#include "headrace/runtime/basp/basp_content.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace headrace::detail {
namespace {

/// The framework's notation of the types of a message's values.
constexpr std::string_view no_values = "@<>";
constexpr std::string_view an_envelope = "@<>+headrace::detail::envelope";
constexpr std::string_view an_error = "@<>+@error";

/// The most errors that may be nested: the context of an error may contain another error.
constexpr int deepest = 4;

} // namespace

const char* basp_content::take(size_t bytes) {
  if (failed_ || rest_.size() < bytes) {
    failed_ = true;
    return nullptr;
  }
  const auto at = rest_.data();
  rest_ = rest_.subspan(bytes);
  return at;
}

bool basp_content::skip(size_t bytes) { return take(bytes) != nullptr || (bytes == 0 && !failed_); }

template <class T>
std::optional<T> basp_content::number() {
  const auto at = take(sizeof(T));
  if (at == nullptr)
    return {};
  T out = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    out = static_cast<T>((uint64_t{out} << 8) | static_cast<unsigned char>(at[i]));
  return out;
}

std::optional<uint8_t> basp_content::byte() { return number<uint8_t>(); }
std::optional<uint16_t> basp_content::half() { return number<uint16_t>(); }
std::optional<uint64_t> basp_content::word() { return number<uint64_t>(); }

std::optional<size_t> basp_content::count() {
  uint64_t out = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    const auto next = byte();
    if (!next)
      return {};
    out |= uint64_t{*next & 0x7Fu} << shift;
    if ((*next & 0x80u) != 0)
      continue;
    if (out > std::numeric_limits<uint32_t>::max())
      break;
    return static_cast<size_t>(out);
  }
  failed_ = true;
  return {};
}

std::optional<std::string_view> basp_content::text() {
  const auto size = count();
  const auto at = size ? take(*size) : nullptr;
  if (at == nullptr)
    return {};
  return std::string_view{at, *size};
}

std::optional<basp_node> basp_content::node() {
  const auto at = take(basp_node_bytes);
  if (at == nullptr)
    return {};
  basp_content parts{{at, basp_node_bytes}};
  const auto kind = parts.word();
  const auto nonzero = [](char x) { return x != 0; };
  const auto process = at + sizeof(uint64_t);
  const auto host = process + sizeof(uint32_t);
  failed_ = kind != basp_usual_node || std::none_of(process, host, nonzero)
            || std::none_of(host, at + basp_node_bytes, nonzero);
  if (failed_)
    return {};
  basp_node out;
  std::memcpy(out.data(), at, out.size());
  return out;
}

bool basp_content::texts(size_t most) {
  const auto size = count();
  failed_ = failed_ || *size > most;
  for (size_t i = 0; !failed_ && i < *size; ++i) static_cast<void>(text());
  return !failed_;
}

std::optional<std::string_view> basp_content::types() {
  const auto number = half(); // 0: the type has no number, and its name follows
  failed_ = failed_ || *number != 0;
  return text();
}

bool basp_content::message(bool may_be_error) {
  const auto holds = types();
  if (!holds)
    return false;
  if (*holds == an_envelope) {
    const auto size = count();
    return size && *size <= max_message_bytes && skip(*size);
  }
  if (may_be_error && *holds == an_error)
    return error();
  failed_ = true;
  return false;
}

bool basp_content::error() { return error(deepest); }

bool basp_content::error(int depth) { return byte() && word() && depth > 0 && values(depth - 1); }

bool basp_content::values(int depth) {
  const auto holds = types();
  failed_ = failed_ || !holds->starts_with(no_values);
  if (failed_)
    return false;
  for (auto rest = holds->substr(no_values.size()); !rest.empty();) {
    if (rest.front() != '+')
      return !(failed_ = true);
    rest.remove_prefix(1);
    const auto type = rest.substr(0, rest.find('+'));
    rest.remove_prefix(type.size());
    if (!value(type, depth))
      return !(failed_ = true);
  }
  return true;
}

bool basp_content::value(std::string_view type, int depth) {
  if (type == "@str")
    return text().has_value();
  if (type == "@strset")
    return texts(longest_basp_greeting);
  if (type == "@atom")
    return skip(sizeof(uint64_t));
  if (type == "@u16")
    return skip(sizeof(uint16_t));
  if (type == "@error")
    return error(depth);
  return false;
}

} // namespace headrace::detail
