#include "headrace/pipeline/functions/operations/feature_column.hpp"

#include "headrace/pipeline/functions/representation/expression_makers.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

// The protobuf message Feature has one of these fields: 1, a BytesList; 2, a FloatList; 3, an
// Int64List. Each of these lists is a message whose repeated field 1 has the values.
using reader = protozero::pbf_reader;
constexpr auto delimited = protozero::pbf_wire_type::length_delimited;

constexpr protozero::pbf_tag_type tag_of(dtype type) {
  return type == dtype::string ? 1 : type == dtype::float32 ? 2 : 3;
}
constexpr const char* name_of(protozero::pbf_tag_type tag) {
  return tag == 1 ? "string" : tag == 2 ? "float32" : tag == 3 ? "int64" : "an unknown kind";
}

constexpr int64_t most_padded = int64_t{1} << 30;

void read_integers(reader& values, std::vector<int64_t>& out) {
  const auto bytes = values.get_view();
  const auto* at = bytes.data();
  const auto* end = at + bytes.size();
  while (at != end) out.push_back(static_cast<int64_t>(protozero::decode_varint(&at, end)));
}

} // namespace

bool feature_column::is_fixed() const noexcept {
  return !spec_.variable && !spec_.sequence && !spec_.in_lists && spec_.index_name.empty();
}

feature_column::feature_column(const feature_spec& spec, size_t rows) : spec_(spec) {
  wanted_ = spec.variable ? 0 : *spec.dims.elements();
  if (is_text())
    borders_.push_back(int64_t{0});
  else if (is_fixed())
    values_.reserve(rows * static_cast<size_t>(wanted_) * size_of(spec.type));
  if (!is_fixed())
    starts_.push_back(int64_t{0});
}

void feature_column::begin_row() {
  found_ = false;
  placed_ = false;
  drop_values();
}

// -- reading -------------------------------------------------------------------

status feature_column::read(protozero::data_view feature) {
  drop_values();
  found_ = false;
  return append(feature);
}

status feature_column::read_steps(protozero::data_view list) {
  drop_values();
  steps_.clear();
  reader steps{list};
  while (steps.next(1, delimited)) {
    const auto before = row_values_;
    HEADRACE_TRY(append(steps.get_view()));
    steps_.push_back(row_values_ - before);
  }
  found_ = true;
  return {};
}

status feature_column::read_index(protozero::data_view feature) {
  index_.clear();
  placed_ = true;
  reader kind{feature};
  while (kind.next()) {
    if (kind.wire_type() != delimited || kind.tag() > 3) {
      kind.skip();
      continue;
    }
    const auto tag = kind.tag();
    reader values{kind.get_view()};
    if (tag != 3)
      return invalid_argument(fmt::format("feature '{}' holds {} values; int64 is needed for '{}'",
                                          spec_.index_name, name_of(tag), spec_.name));
    index_.clear();
    while (values.next()) {
      if (values.tag() == 1 && values.wire_type() == delimited)
        read_integers(values, index_);
      else if (values.tag() == 1 && values.wire_type() == protozero::pbf_wire_type::varint)
        index_.push_back(values.get_int64());
      else
        values.skip();
    }
  }
  return {};
}

status feature_column::append(protozero::data_view feature) {
  const auto begin = row_values_;
  const auto bytes = values_.size(), borders = borders_.size();
  reader kind{feature};
  while (kind.next()) {
    const auto tag = kind.tag();
    if (kind.wire_type() != delimited || tag > 3) {
      kind.skip();
      continue;
    }
    const auto list = kind.get_view();
    if (tag != tag_of(spec_.type))
      return invalid_argument(fmt::format("feature '{}' holds {} values; {} was asked for",
                                          spec_.name, name_of(tag), to_string(spec_.type)));
    // Of several lists, only the last one is used.
    values_.truncate(bytes);
    borders_.truncate(borders);
    row_values_ = begin;
    append_list(list);
    found_ = true;
  }
  return {};
}

void feature_column::append_list(protozero::data_view list) {
  reader values{list};
  // `single` is the wire type of a value that is not packed. A value that is not packed and has
  // another wire type is skipped, as protobuf skips unknown fields.
  const auto single = is_text()                      ? delimited
                      : spec_.type == dtype::float32 ? protozero::pbf_wire_type::fixed32
                                                     : protozero::pbf_wire_type::varint;
  while (values.next()) {
    const auto wire = values.wire_type();
    const auto packed = wire == delimited;
    if (values.tag() != 1 || (wire != single && !packed)) {
      values.skip();
    } else if (is_text()) {
      const auto text = values.get_view();
      add_string(text.data(), text.size());
    } else if (spec_.type == dtype::float32) {
      append_floats(values, packed);
    } else {
      append_integers(values, packed);
    }
  }
}

void feature_column::append_floats(reader& values, bool packed) {
  if (!packed) {
    values_.push_back(values.get_float());
    ++row_values_;
    return;
  }
  const auto bytes = values.get_view();
  if (bytes.size() % sizeof(float) != 0)
    throw protozero::invalid_length_exception{};
  values_.append(bytes.data(), bytes.size());
  row_values_ += static_cast<int64_t>(bytes.size() / sizeof(float));
}

void feature_column::append_integers(reader& values, bool packed) {
  if (!packed) {
    values_.push_back(values.get_int64());
    ++row_values_;
    return;
  }
  const auto bytes = values.get_view();
  const auto* at = bytes.data();
  const auto* end = at + bytes.size();
  while (at != end) {
    values_.push_back(static_cast<int64_t>(protozero::decode_varint(&at, end)));
    ++row_values_;
  }
}

// -- the row as a whole ----------------------------------------------------------

status feature_column::end_row() {
  if (is_fixed()) {
    if (!found_ && spec_.has_default)
      add_default();
    else if (!found_)
      return invalid_argument(
        fmt::format("feature '{}' is missing and has no default; {} was asked for", spec_.name,
                    to_string(spec_of(spec_))));
    else if (row_values_ != wanted_)
      return invalid_argument(fmt::format("feature '{}' has {} values; {} asks for {}", spec_.name,
                                          row_values_, to_string(spec_of(spec_)), wanted_));
    return {};
  }
  if (!spec_.index_name.empty()) {
    if (found_ != placed_ && row_values_ + static_cast<int64_t>(placed_ ? index_.size() : 0) != 0)
      return invalid_argument(fmt::format("feature '{}' is missing beside '{}'",
                                          found_ ? spec_.index_name : spec_.name,
                                          found_ ? spec_.name : spec_.index_name));
    if (!placed_)
      index_.clear();
    return spec_.size > 0 ? scatter() : pad(index_);
  }
  if (!found_)
    steps_.clear();
  if (spec_.in_lists)
    return spec_.variable ? pad(steps_) : check_steps();
  row_dims_ = {row_values_};
  if (!spec_.sequence)
    return {};
  if (wanted_ == 0 ? row_values_ != 0 : row_values_ % wanted_ != 0)
    return invalid_argument(fmt::format("feature '{}' has {} values; steps of {} have {}",
                                        spec_.name, row_values_, to_string(spec_.dims), wanted_));
  row_dims_[0] = wanted_ == 0 ? 0 : row_values_ / wanted_;
  row_dims_.insert(row_dims_.end(), spec_.dims.dims().begin(), spec_.dims.dims().end());
  return {};
}

status feature_column::check_steps() {
  for (size_t i = 0; i < steps_.size(); ++i)
    if (steps_[i] != wanted_)
      return invalid_argument(fmt::format("step {} of '{}' has {} values; {} asks for {}", i,
                                          spec_.name, steps_[i], to_string(spec_.dims), wanted_));
  row_dims_ = {static_cast<int64_t>(steps_.size())};
  row_dims_.insert(row_dims_.end(), spec_.dims.dims().begin(), spec_.dims.dims().end());
  return {};
}

status feature_column::pad(const std::vector<int64_t>& lengths) {
  int64_t longest = 0, sum = 0;
  for (auto n : lengths) {
    if (n < 0 || n > row_values_ - sum)
      return invalid_argument(fmt::format("row lengths in '{}' do not add up to the {} values of "
                                          "'{}'",
                                          spec_.index_name, row_values_, spec_.name));
    sum += n;
    longest = std::max(longest, n);
  }
  if (sum != row_values_)
    return invalid_argument(fmt::format("row lengths in '{}' add up to {}, but '{}' has {} values",
                                        spec_.index_name, sum, spec_.name, row_values_));
  const auto lines = static_cast<int64_t>(lengths.size());
  if (longest != 0 && lines > most_padded / longest)
    return resource_exhausted(
      fmt::format("feature '{}' padded to {} by {} values", spec_.name, lines, longest));
  row_dims_ = {lines, longest};
  if (lines * longest == row_values_)
    return {};
  const auto values = take_values();
  int64_t next = 0;
  for (auto n : lengths)
    for (int64_t i = 0; i < longest; ++i) {
      if (i < n)
        put(values, next++);
      else
        put_filler();
    }
  return {};
}

status feature_column::scatter() {
  if (static_cast<int64_t>(index_.size()) != row_values_)
    return invalid_argument(fmt::format("'{}' has {} places for the {} values of '{}'",
                                        spec_.index_name, index_.size(), row_values_, spec_.name));
  std::vector<int64_t> from(static_cast<size_t>(spec_.size), -1);
  for (size_t i = 0; i < index_.size(); ++i) {
    if (index_[i] < 0 || index_[i] >= spec_.size)
      return invalid_argument(
        fmt::format("place {} in '{}' is not in [0, {})", index_[i], spec_.index_name, spec_.size));
    auto& place = from[static_cast<size_t>(index_[i])];
    if (place >= 0)
      return invalid_argument(
        fmt::format("place {} is in '{}' twice", index_[i], spec_.index_name));
    place = static_cast<int64_t>(i);
  }
  const auto values = take_values();
  for (auto i : from) {
    if (i >= 0)
      put(values, i);
    else
      put_filler();
  }
  row_dims_ = {spec_.size};
  return {};
}

void feature_column::commit(bool failed) {
  if (failed) {
    drop_values();
    add_nothing();
  }
  kept_values_ += row_values_;
  kept_bytes_ = values_.size();
  kept_borders_ = borders_.size();
  row_values_ = 0;
  if (!is_fixed()) {
    starts_.push_back(kept_values_);
    for (auto dim : row_dims_) dims_.push_back(dim);
    if (rows_ == 0)
      first_dims_ = row_dims_;
    same_ = same_ && first_dims_ == row_dims_;
  }
  ++rows_;
}

column feature_column::finish() && {
  if (is_fixed() || same_) {
    const auto dims = is_fixed() ? spec_.dims : shape{first_dims_};
    return is_text() ? column::strings(dims, rows_, borders_.finish(), values_.finish())
                     : column::dense(spec_.type, dims, rows_, values_.finish());
  }
  const auto rank = first_dims_.size();
  return is_text() ? column::variable_strings(rank, rows_, borders_.finish(), values_.finish(), 0,
                                              starts_.finish(), dims_.finish())
                   : column::variable(spec_.type, rank, rows_, values_.finish(), starts_.finish(),
                                      dims_.finish());
}

// -- values ----------------------------------------------------------------------

void feature_column::drop_values() {
  values_.truncate(kept_bytes_);
  if (is_text())
    borders_.truncate(kept_borders_);
  row_values_ = 0;
}

void feature_column::add_string(const char* data, size_t size) {
  values_.append(data, size);
  borders_.push_back(static_cast<int64_t>(values_.size()));
  ++row_values_;
}

void feature_column::add_nothing() {
  int64_t values = wanted_;
  if (!is_fixed()) {
    const auto nothing = shape_of_nothing(spec_of(spec_), 0);
    row_dims_.assign(nothing.dims().begin(), nothing.dims().end());
    values = *nothing.elements();
  }
  if (is_text()) {
    for (int64_t i = 0; i < values; ++i) add_string("", 0);
    return;
  }
  const auto bytes = static_cast<size_t>(values) * size_of(spec_.type);
  if (bytes != 0)
    std::memset(values_.extend(bytes), 0, bytes);
  row_values_ = values;
}

void feature_column::add_default() {
  const auto& value = spec_.default_value;
  row_values_ = 0;
  if (is_text()) {
    for (size_t i = 0; i < static_cast<size_t>(value.total_values()); ++i)
      add_string(value.string(i).data(), value.string(i).size());
    return;
  }
  row_values_ = value.total_values();
  values_.append(value.value_buffer().data(),
                 static_cast<size_t>(row_values_) * size_of(spec_.type));
}

feature_column::taken feature_column::take_values() {
  taken out;
  out.bytes.assign(values_.data() + kept_bytes_, values_.data() + values_.size());
  if (is_text()) {
    out.borders.resize(static_cast<size_t>(row_values_) + 1);
    const auto first = kept_borders_ / sizeof(int64_t) - 1;
    for (size_t i = 0; i < out.borders.size(); ++i) {
      std::memcpy(&out.borders[i], borders_.data() + (first + i) * sizeof(int64_t),
                  sizeof(int64_t));
      out.borders[i] -= static_cast<int64_t>(kept_bytes_);
    }
  }
  drop_values();
  return out;
}

void feature_column::put(const taken& from, int64_t i) {
  const auto at = static_cast<size_t>(i);
  if (is_text())
    return add_string(reinterpret_cast<const char*>(from.bytes.data()) + from.borders[at],
                      static_cast<size_t>(from.borders[at + 1] - from.borders[at]));
  const auto size = size_of(spec_.type);
  values_.append(from.bytes.data() + at * size, size);
  ++row_values_;
}

void feature_column::put_filler() {
  const auto& value = spec_.default_value;
  if (is_text())
    return spec_.has_default ? add_string(value.string(0).data(), value.string(0).size())
                             : add_string("", 0);
  constexpr std::byte zeros[8] = {};
  const auto size = size_of(spec_.type);
  values_.append(spec_.has_default ? value.value_buffer().data() : zeros, size);
  ++row_values_;
}

} // namespace headrace::detail
