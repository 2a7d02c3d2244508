#include "headrace/pipeline/functions/feature_column.hpp"
#include "headrace/pipeline/functions/ops.hpp"

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

namespace headrace::detail {

namespace {

// tf.train.Example: message Example { Features features = 1; }
// message Features { map<string, Feature> feature = 1; }
// tf.train.SequenceExample: message SequenceExample { Features context = 1; FeatureLists
// feature_lists = 2; } message FeatureLists { map<string, FeatureList> feature_list = 1; }
// message FeatureList { repeated Feature feature = 1; }
using reader = protozero::pbf_reader;

constexpr auto delimited = protozero::pbf_wire_type::length_delimited;

class example_parser {
public:
  example_parser(const expr_node& node, size_t rows)
    : in_sequences_(node.op == expr_op::parse_sequence_example) {
    columns_.reserve(node.attrs.features.size());
    for (const auto& f : node.attrs.features) {
      columns_.emplace_back(f, rows);
      indexed_ = indexed_ || !f.index_name.empty();
    }
  }

  status parse(std::string_view serialized) {
    for (auto& c : columns_) c.begin_row();
    try {
      next_ = 0;
      reader example{serialized.data(), serialized.size()};
      while (example.next()) {
        const bool lists = in_sequences_ && example.tag() == 2;
        if ((example.tag() != 1 && !lists) || example.wire_type() != delimited) {
          example.skip();
          continue;
        }
        reader features{example.get_view()};
        while (features.next(1, delimited)) HEADRACE_TRY(read_entry(features.get_view(), lists));
      }
    } catch (const protozero::exception& e) {
      return data_loss(fmt::format("{} bytes are no tf.train.{}: {}", serialized.size(),
                                   in_sequences_ ? "SequenceExample" : "Example", e.what()));
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
  status read_entry(protozero::data_view entry, bool lists) {
    reader parts{entry};
    std::string_view key;
    protozero::data_view value;
    while (parts.next()) {
      const bool bytes = parts.wire_type() == delimited;
      if (bytes && parts.tag() == 1) {
        const auto text = parts.get_view();
        key = {text.data(), text.size()};
      } else if (bytes && parts.tag() == 2) {
        value = parts.get_view();
      } else {
        parts.skip();
      }
    }
    if (indexed_ && !lists)
      for (auto& c : columns_)
        if (c.spec().index_name == key)
          HEADRACE_TRY(c.read_index(value));
    auto* found = find(key, lists);
    if (found == nullptr)
      return {};
    return lists ? found->read_steps(value) : found->read(value);
  }

  /// Examples of one writer have their features in one order: the one after the last found is
  /// tried first.
  feature_column* find(std::string_view key, bool lists) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const auto at = next_ + i < columns_.size() ? next_ + i : next_ + i - columns_.size();
      if (columns_[at].spec().name == key && columns_[at].spec().in_lists == lists) {
        next_ = at + 1 == columns_.size() ? 0 : at + 1;
        return &columns_[at];
      }
    }
    return nullptr;
  }

  std::vector<feature_column> columns_;
  bool in_sequences_;
  bool indexed_ = false;
  size_t next_ = 0;
};

} // namespace

std::vector<column> run_parse_example(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  example_parser parser{call.node, call.rows};
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
