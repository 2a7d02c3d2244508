#include "headrace/pipeline/functions/build.hpp"
#include "headrace/pipeline/functions/ops.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

namespace headrace::detail {

namespace {

// tf.train.Example: message Example { Features features = 1; }
// message Features { map<string, Feature> feature = 1; } message Feature { oneof kind {
// BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
// and each list { repeated value = 1 }.
using reader = protozero::pbf_reader;

constexpr protozero::pbf_tag_type tag_of(dtype type) {
  return type == dtype::string ? 1 : type == dtype::float32 ? 2 : 3;
}
constexpr const char* name_of(protozero::pbf_tag_type tag) {
  return tag == 1 ? "string" : tag == 2 ? "float32" : tag == 3 ? "int64" : "an unknown kind";
}

/// Collects one feature over all rows. Of a row that fails half way, what was added is taken back.
class feature_column {
public:
  feature_column(const feature_spec& spec, size_t rows) : spec_(spec) {
    wanted_ = spec.variable ? 0 : *spec.dims.elements();
    if (is_text())
      borders_.push_back(int64_t{0});
    else if (!spec.variable)
      values_.reserve(rows * static_cast<size_t>(wanted_) * size_of(spec.type));
    if (spec.variable)
      starts_.push_back(int64_t{0});
  }

  const feature_spec& spec() const noexcept { return spec_; }
  bool found() const noexcept { return found_; }

  void begin_row() {
    found_ = false;
    drop_values();
  }

  /// Takes a feature's value; the last one of a row counts, as in any protobuf map.
  status read(protozero::data_view feature) {
    drop_values();
    found_ = false;
    reader kind{feature};
    while (kind.next()) {
      const auto tag = kind.tag();
      if (kind.wire_type() != protozero::pbf_wire_type::length_delimited || tag > 3) {
        kind.skip();
        continue;
      }
      const auto list = kind.get_view();
      if (tag != tag_of(spec_.type))
        return invalid_argument(fmt::format("feature '{}' holds {} values; {} was asked for",
                                            spec_.name, name_of(tag), to_string(spec_.type)));
      drop_values();
      read_list(list);
      found_ = true;
    }
    return {};
  }

  /// Checks the row's values, or puts the default in their place.
  status end_row() {
    if (!found_) {
      if (spec_.has_default)
        add_default();
      else if (!spec_.variable)
        return not_found(fmt::format("feature '{}' is missing and has no default; {} was asked for",
                                     spec_.name, to_string(spec_of(spec_))));
    } else if (!spec_.variable && row_values_ != wanted_) {
      return invalid_argument(fmt::format("feature '{}' has {} values; {} asks for {}", spec_.name,
                                          row_values_, to_string(spec_of(spec_)), wanted_));
    }
    return {};
  }

  /// After `end_row`, or instead of it for a failed row.
  void commit(bool failed) {
    if (failed) {
      drop_values();
      add_nothing();
    }
    kept_values_ += row_values_;
    kept_bytes_ = values_.size();
    kept_borders_ = borders_.size();
    row_values_ = 0;
    if (spec_.variable)
      starts_.push_back(kept_values_);
    ++rows_;
  }

  column finish() && {
    if (!spec_.variable)
      return is_text() ? column::strings(spec_.dims, rows_, borders_.finish(), values_.finish())
                       : column::dense(spec_.type, spec_.dims, rows_, values_.finish());
    auto starts = starts_.finish();
    mutable_buffer dims{rows_ * sizeof(int64_t)};
    const auto ends = starts.as<int64_t>();
    bool same = true;
    for (size_t r = 0; r < rows_; ++r) {
      dims.as<int64_t>()[r] = ends[r + 1] - ends[r];
      same = same && dims.as<int64_t>()[r] == dims.as<int64_t>()[0];
    }
    if (same) {
      const shape row{dims.as<int64_t>()[0]};
      return is_text() ? column::strings(row, rows_, borders_.finish(), values_.finish())
                       : column::dense(spec_.type, row, rows_, values_.finish());
    }
    auto extents = std::move(dims).freeze();
    return is_text() ? column::variable_strings(1, rows_, borders_.finish(), values_.finish(), 0,
                                                std::move(starts), std::move(extents))
                     : column::variable(spec_.type, 1, rows_, values_.finish(), std::move(starts),
                                        std::move(extents));
  }

private:
  bool is_text() const noexcept { return spec_.type == dtype::string; }

  void drop_values() {
    values_.truncate(kept_bytes_);
    if (is_text())
      borders_.truncate(kept_borders_);
    row_values_ = 0;
  }
  void add_string(const char* data, size_t size) {
    values_.append(data, size);
    borders_.push_back(static_cast<int64_t>(values_.size()));
    ++row_values_;
  }
  void add_nothing() {
    if (is_text()) {
      for (int64_t i = 0; i < wanted_; ++i) add_string("", 0);
      return;
    }
    const auto bytes = static_cast<size_t>(wanted_) * size_of(spec_.type);
    if (bytes != 0)
      std::memset(values_.extend(bytes), 0, bytes);
    row_values_ = wanted_;
  }
  void add_default() {
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

  void read_list(protozero::data_view list) {
    reader values{list};
    // A value of another wire type is an unknown field.
    const auto single = is_text()                      ? protozero::pbf_wire_type::length_delimited
                        : spec_.type == dtype::float32 ? protozero::pbf_wire_type::fixed32
                                                       : protozero::pbf_wire_type::varint;
    while (values.next()) {
      const auto wire = values.wire_type();
      const auto packed = wire == protozero::pbf_wire_type::length_delimited;
      if (values.tag() != 1 || (wire != single && !packed))
        values.skip();
      else if (is_text())
        read_string(values);
      else if (spec_.type == dtype::float32)
        read_floats(values, packed);
      else
        read_integers(values, packed);
    }
  }
  void read_string(reader& values) {
    const auto text = values.get_view();
    add_string(text.data(), text.size());
  }
  void read_floats(reader& values, bool packed) {
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
  void read_integers(reader& values, bool packed) {
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

  const feature_spec& spec_;
  int64_t wanted_ = 0;
  bool found_ = false;
  size_t rows_ = 0;
  int64_t row_values_ = 0;
  int64_t kept_values_ = 0;
  size_t kept_bytes_ = 0;
  size_t kept_borders_ = sizeof(int64_t);
  buffer_builder values_, borders_, starts_;
};

class example_parser {
public:
  example_parser(const std::vector<feature_spec>& features, size_t rows) {
    columns_.reserve(features.size());
    for (const auto& f : features) columns_.emplace_back(f, rows);
  }

  status parse(std::string_view serialized) {
    for (auto& c : columns_) c.begin_row();
    try {
      next_ = 0;
      reader example{serialized.data(), serialized.size()};
      while (example.next(1, protozero::pbf_wire_type::length_delimited)) {
        reader features{example.get_view()};
        while (features.next(1, protozero::pbf_wire_type::length_delimited))
          HEADRACE_TRY(read_entry(features.get_view()));
      }
    } catch (const protozero::exception& e) {
      return data_loss(
        fmt::format("{} bytes are no tf.train.Example: {}", serialized.size(), e.what()));
    }
    for (auto& c : columns_) HEADRACE_TRY(c.end_row());
    return {};
  }
  void commit(bool failed) {
    for (auto& c : columns_) c.commit(failed);
  }
  std::vector<column> finish() && {
    std::vector<column> out;
    for (auto& c : columns_) out.push_back(std::move(c).finish());
    return out;
  }

private:
  status read_entry(protozero::data_view entry) {
    reader parts{entry};
    std::string_view key;
    std::optional<protozero::data_view> value;
    while (parts.next()) {
      const bool bytes = parts.wire_type() == protozero::pbf_wire_type::length_delimited;
      if (bytes && parts.tag() == 1) {
        const auto text = parts.get_view();
        key = {text.data(), text.size()};
      } else if (bytes && parts.tag() == 2) {
        value = parts.get_view();
      } else {
        parts.skip();
      }
    }
    auto* found = find(key);
    if (found == nullptr)
      return {};
    return found->read(value.value_or(protozero::data_view{}));
  }

  /// Examples of one writer have their features in one order: the one after the last found is
  /// tried first.
  feature_column* find(std::string_view key) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const auto at = next_ + i < columns_.size() ? next_ + i : next_ + i - columns_.size();
      if (columns_[at].spec().name == key) {
        next_ = at + 1 == columns_.size() ? 0 : at + 1;
        return &columns_[at];
      }
    }
    return nullptr;
  }

  std::vector<feature_column> columns_;
  size_t next_ = 0;
};

} // namespace

std::vector<column> run_parse_example(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  example_parser parser{call.node.attrs.features, call.rows};
  for (size_t r = 0; r < call.rows; ++r) {
    bool failed = call.skips(r);
    if (!failed) {
      const auto first = in.first_value(r);
      const auto why = in.first_value(r + 1) - first == 1
                         ? parser.parse(in.string(static_cast<size_t>(first)))
                         : invalid_argument("the serialized example must be a scalar string");
      failed = !why.ok();
      if (failed)
        call.fail(r, why);
    }
    parser.commit(failed);
  }
  return std::move(parser).finish();
}

} // namespace headrace::detail
