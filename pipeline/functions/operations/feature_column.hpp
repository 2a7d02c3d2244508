#pragma once

#include "headrace/pipeline/functions/representation/value.hpp"
#include "headrace/runtime/base/result.hpp"

#include <protozero/pbf_reader.hpp>

namespace headrace::detail {

/// Collects one feature of serialised examples over all rows. If a row fails, its values are
/// removed again. If bytes are damaged, protozero's exceptions are thrown.
class feature_column {
public:
  feature_column(const feature_spec& spec, size_t rows);

  const feature_spec& spec() const noexcept { return spec_; }

  void begin_row();
  /// Reads a serialised `Feature`. If `read` is called several times for a row, the last `Feature`
  /// is used, as in any protobuf map.
  status read(protozero::data_view feature);
  /// Reads a serialised `FeatureList`, which contains one `Feature` for each step.
  status read_steps(protozero::data_view list);
  /// Reads the serialised `Feature` with the places or row lengths of the values.
  status read_index(protozero::data_view feature);
  /// Checks and arranges the row's values, or adds the default if the feature is missing.
  status end_row();
  /// Adds the row to the column. If the row has `failed`, `end_row` need not be called before, and
  /// the row has zeros or empty strings in place of its values.
  void commit(bool failed);

  column finish() &&;

private:
  /// Values taken out of a row to be arranged anew.
  struct taken {
    std::vector<std::byte> bytes;
    std::vector<int64_t> borders; ///< of strings
  };

  bool is_text() const noexcept { return spec_.type == dtype::string; }
  /// True if all rows have the same shape, whatever their examples contain.
  bool is_fixed() const noexcept;
  void drop_values();
  void add_string(const char* data, size_t size);
  void add_nothing();
  void add_default();
  taken take_values();
  void put(const taken& from, int64_t i);
  void put_filler();
  status check_steps();
  /// Arranges the row's values in lines, of which line `i` has `lengths[i]` values, and fills each
  /// line to the longest length.
  status pad(const std::vector<int64_t>& lengths);
  status scatter();

  status append(protozero::data_view feature);
  void append_list(protozero::data_view list);
  void append_floats(protozero::pbf_reader& values, bool packed);
  void append_integers(protozero::pbf_reader& values, bool packed);

  const feature_spec& spec_;
  int64_t wanted_ = 0; ///< the number of values of a row or step; 0 for a variable feature
  bool found_ = false;
  bool placed_ = false; ///< the index feature was present
  size_t rows_ = 0;
  int64_t row_values_ = 0;
  int64_t kept_values_ = 0;
  size_t kept_bytes_ = 0;
  size_t kept_borders_ = sizeof(int64_t);
  std::vector<int64_t> steps_;    ///< the number of values of each step
  std::vector<int64_t> index_;    ///< the values of the index feature: places or row lengths
  std::vector<int64_t> row_dims_; ///< of the current row
  bool same_ = true;
  std::vector<int64_t> first_dims_;
  buffer_builder values_, borders_, starts_, dims_;
};

} // namespace headrace::detail
