#pragma once

#include <protozero/pbf_writer.hpp>

#include <string>
#include <vector>

namespace headrace::detail::test {

using protozero::pbf_writer;

/// Writes tf.train.Example and SequenceExample messages.
class example {
public:
  example& bytes(const std::string& name, const std::vector<std::string>& values) {
    std::string list;
    for (const auto& v : values) pbf_writer{list}.add_bytes(1, v);
    return add(name, 1, list);
  }
  example& floats(const std::string& name, const std::vector<float>& values, bool packed = true) {
    std::string list;
    if (packed)
      pbf_writer{list}.add_packed_float(1, values.begin(), values.end());
    else
      for (auto v : values) pbf_writer{list}.add_float(1, v);
    return add(name, 2, list);
  }
  example& integers(const std::string& name, const std::vector<int64_t>& values,
                    bool packed = true) {
    std::string list;
    if (packed)
      pbf_writer{list}.add_packed_int64(1, values.begin(), values.end());
    else
      for (auto v : values) pbf_writer{list}.add_int64(1, v);
    return add(name, 3, list);
  }
  /// Adds a feature that has none of the three kinds of lists.
  example& nothing(const std::string& name) { return add(name, 0, {}); }
  /// Adds a feature list of a sequence example. It has one feature for each of `steps`: the feature
  /// that was added to the step last.
  example& list(const std::string& name, const std::vector<example>& steps) {
    std::string all, entry;
    for (const auto& step : steps) pbf_writer{all}.add_message(1, step.last_);
    pbf_writer writer{entry};
    writer.add_string(1, name);
    writer.add_message(2, all);
    pbf_writer{lists_}.add_message(1, entry);
    return *this;
  }
  std::string done() const {
    std::string out;
    pbf_writer{out}.add_message(1, features_);
    if (!lists_.empty())
      pbf_writer{out}.add_message(2, lists_);
    return out;
  }

private:
  example& add(const std::string& name, uint32_t kind, const std::string& list) {
    std::string feature, entry;
    if (kind != 0)
      pbf_writer{feature}.add_message(kind, list);
    pbf_writer writer{entry};
    writer.add_string(1, name);
    writer.add_message(2, feature);
    pbf_writer{features_}.add_message(1, entry);
    last_ = feature;
    return *this;
  }
  std::string features_, lists_, last_;
};

} // namespace headrace::detail::test
