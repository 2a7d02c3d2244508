#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/row_table.hpp"
#include "headrace/pipeline/kernels/string_scalar.hpp"
#include "headrace/pipeline/sources/files/file_source.hpp"
#include "headrace/pipeline/sources/files/tar_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unordered_map>

namespace headrace::detail {

namespace {

struct member_name {
  std::string key;
  std::string extension; ///< in lower case
};

// Empty for names that belong to no sample.
std::optional<member_name> split_name(const std::string& path) {
  const auto base = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  const auto dot = path.find('.', base);
  if (dot == std::string::npos || dot == base)
    return std::nullopt;
  member_name out{path.substr(0, dot), path.substr(dot + 1)};
  std::transform(out.extension.begin(), out.extension.end(), out.extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

class sample_reader final : public file_source {
public:
  sample_reader(engine& shared, const dataset_node& node, const place& at, column files)
    : file_source(shared, node, at, std::move(files)),
      fields_(fields_of(node)),
      values_(fields_.size()) {
    for (size_t i = 0; i < fields_.size(); ++i)
      text::split(fields_[i].name, ";", [&](std::string_view one) { targets_.emplace(one, i); });
  }

protected:
  status open(const std::string& path, file_place from) override {
    path_ = path;
    samples_ = 0;
    HEADRACE_ASSIGN(archive_, tar_reader::open(path));
    HEADRACE_TRY(next_member());
    while (samples_ < from.offset) {
      if (!member_)
        return data_loss(fmt::format("'{}' has {} samples now, the saved position is after sample "
                                     "{}: it is not what it was",
                                     path_, samples_, from.offset));
      for (const auto key = member_->key; member_ && member_->key == key;)
        HEADRACE_TRY(next_member());
      ++samples_;
    }
    return {};
  }

  file_portion read(const limits& wanted) override {
    row_table table{node_.spec.components, wanted};
    file_portion out;
    while (!table.full() && member_ && out.why.ok()) out.why = read_sample(table);
    out.over = out.why.ok() && !member_;
    out.rows = table.finish();
    return out;
  }

  file_place here() const override { return {samples_, 0}; }

private:
  // Moves to the next member that belongs to a sample.
  status next_member() {
    while (true) {
      HEADRACE_ASSIGN(const auto path, archive_->next());
      member_ = path ? split_name(*path) : std::nullopt;
      if (!path || member_)
        return {};
    }
  }

  // Reads the next sample and appends it, or its error; appends nothing if an incomplete sample is
  // left out. A returned error ends the source.
  status read_sample(row_table& to) {
    const auto key = member_->key;
    std::fill(values_.begin(), values_.end(), std::nullopt);
    std::vector<std::string> there;
    status wrong;
    while (member_ && member_->key == key) {
      there.push_back(member_->extension);
      if (const auto at = targets_.find(member_->extension); at != targets_.end()) {
        auto& value = values_[at->second];
        if (value)
          wrong = data_loss(fmt::format("it has more than one '{}'", fields_[at->second].name));
        HEADRACE_TRY(archive_->read(value.emplace()));
      }
      HEADRACE_TRY(next_member());
    }
    ++samples_;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i])
        continue;
      if (wrong.ok() && node_.as<tar_samples_parameters>().skip_incomplete)
        return {};
      if (wrong.ok())
        wrong =
          not_found(fmt::format("it has no '{}', but {}", fields_[i].name, fmt::join(there, ", ")));
    }
    if (!wrong.ok()) {
      to.fail_row(wrong.with_context(fmt::format("tar_samples: '{}' sample '{}'", path_, key)));
      return {};
    }
    to[0].append(key);
    for (size_t i = 0; i < values_.size(); ++i) to[i + 1].append(std::string_view{*values_[i]});
    to.end_row();
    return {};
  }

  const std::span<const field_format> fields_;
  std::unordered_map<std::string, size_t> targets_;
  std::string path_;
  std::unique_ptr<tar_reader> archive_;
  std::optional<member_name> member_; ///< the next member; unset at the end
  uint64_t samples_ = 0;              ///< the number of samples that were read
  std::vector<std::optional<std::string>> values_;
};

opened open_tar_samples(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<sample_reader>(shared, *node, at, std::move(values[0]))};
}

void encode_tar_samples(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<tar_samples_parameters>();
  auto out = to.out.initTarSamples();
  out.setFiles(to.tensor(0));
  auto extensions = out.initExtensions(static_cast<unsigned>(own.fields.size()));
  for (unsigned i = 0; i < extensions.size(); ++i) extensions.set(i, text_of(own.fields[i].name));
  out.setSkipIncomplete(own.skip_incomplete);
}

result<dataset_ptr> decode_tar_samples(node_reader& from) {
  const auto in = from.in.getTarSamples();
  HEADRACE_ASSIGN(auto names, from.tensor(in.getFiles()));
  std::vector<std::string> extensions;
  for (auto one : in.getExtensions()) extensions.push_back(string_of(one));
  return make_tar_samples(std::move(names), std::move(extensions), in.getSkipIncomplete());
}

} // namespace

constinit const operator_record tar_samples_record{
  .name = "tar_samples",
  .arm = schema::Dataset::TAR_SAMPLES,
  .encode = encode_tar_samples,
  .decode = decode_tar_samples,
  .open = open_tar_samples,
  .rows = source_rows,
  .source = {.files = file_use::named, .splits = splits_of_files},
};

} // namespace headrace::detail
