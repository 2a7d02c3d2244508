#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/files/byte_stream.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/kernels/string_scalar.hpp"
#include "headrace/pipeline/sources/files/file_source.hpp"
#include "headrace/pipeline/sources/files/json_fields.hpp"

#include <cstring>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

constexpr size_t most_line_bytes = size_t{256} << 20;

class json_reader final : public file_source {
public:
  json_reader(engine& shared, const dataset_node& node, const place& at, column files)
    : file_source(shared, node, at, std::move(files)),
      fields_(node.as<json_lines_parameters>().fields) {}

protected:
  status open(const std::string& path, file_place from) override {
    path_ = path;
    line_ = from.line;
    HEADRACE_ASSIGN(auto bytes,
                    open_bytes(path, compression_of_files(node_), engine_.context().stop));
    if (from.offset != 0) {
      HEADRACE_ASSIGN(const bool there, bytes->skip(from.offset));
      if (!there)
        return data_loss(fmt::format("'{}' ends before offset {}, where the saved position is: it "
                                     "is not what it was",
                                     path, from.offset));
    }
    window_.emplace(std::move(bytes), from.offset);
    return {};
  }

  file_portion read(const limits& wanted) override {
    row_table table{node_.spec.components, wanted};
    file_portion out;
    while (!table.full() && !out.over && out.why.ok()) {
      auto line = find_line();
      if (!line) {
        out.why = line.status();
        break;
      }
      out.over = !line->whole;
      read_line(line->text, table);
      window_->use(line->text.size() + line->whole);
      ++line_;
    }
    out.rows = table.finish();
    return out;
  }

  file_place here() const override { return {window_->offset(), line_}; }

private:
  struct found_line {
    std::string_view text;
    bool whole = false; ///< a line feed ends the line; false: it is the last line, without one
  };

  std::string_view rest() const {
    const auto bytes = window_->bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  result<found_line> find_line() {
    for (size_t searched = 0;;) {
      if (const auto end = rest().find('\n', searched); end != std::string_view::npos)
        return found_line{rest().substr(0, end), true};
      searched = rest().size();
      if (searched > most_line_bytes)
        return data_loss(
          fmt::format("'{}' line {}: more than {} bytes", path_, line_ + 1, most_line_bytes));
      HEADRACE_ASSIGN(const bool more, window_->more());
      if (!more)
        return found_line{rest(), false};
    }
  }

  void read_line(std::string_view line, row_table& to) {
    if (text::strip(line).empty())
      return;
    if (auto why = fields_.read(line, rest().size() - line.size(), to); !why.ok())
      to.fail_row(why.with_context(fmt::format("json_lines: '{}' line {}", path_, line_ + 1)));
    else
      to.end_row();
  }

  json_fields fields_;
  std::string path_;
  std::optional<byte_window> window_;
  uint64_t line_ = 0; ///< the number of lines that were read
};

opened open_json_lines(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<json_reader>(shared, *node, at, std::move(values[0]))};
}

void encode_json_lines(const dataset_node& node, node_writer& to) {
  const auto& fields = node.as<json_lines_parameters>().fields;
  auto out = to.out.initJsonLines();
  to.files(out.initFiles());
  encode(fields, out.initFields(static_cast<unsigned>(fields.size())));
}

result<dataset_ptr> decode_json_lines(node_reader& from) {
  const auto in = from.in.getJsonLines();
  HEADRACE_ASSIGN(auto names, from.tensor(in.getFiles().getNames()));
  HEADRACE_ASSIGN(auto fields, decode(in.getFields()));
  HEADRACE_ASSIGN(const auto packing, from.compression_of(dataset_op::json_lines, in.getFiles()));
  return make_json_lines(std::move(names), std::move(fields), packing);
}

} // namespace

constinit const operator_record json_lines_record{
  .name = "json_lines",
  .arm = schema::Dataset::JSON_LINES,
  .encode = encode_json_lines,
  .decode = decode_json_lines,
  .open = open_json_lines,
  .rows = source_rows,
  .source = {.files = file_use::named, .splits = splits_of_files},
};

} // namespace headrace::detail
