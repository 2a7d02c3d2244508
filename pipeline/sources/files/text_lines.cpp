#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/sources/files/file_reader.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::detail {

namespace {

class text_reader final : public file_reader {
public:
  using file_reader::file_reader;

protected:
  result<bool> append_rows(byte_window& from, const std::string&, string_rows& to) override {
    size_t searched = 0; // the number of bytes that were searched and have no line end
    while (!to.full()) {
      const auto bytes = from.bytes();
      const auto* begin = bytes.data();
      const auto* end = searched == bytes.size()
                          ? nullptr
                          : static_cast<const std::byte*>(
                            std::memchr(begin + searched, '\n', bytes.size() - searched));
      if (end) {
        append_line(to, begin, static_cast<size_t>(end - begin));
        from.use(static_cast<size_t>(end - begin) + 1);
        searched = 0;
        continue;
      }
      searched = bytes.size();
      HEADRACE_ASSIGN(const bool more, from.more());
      if (more)
        continue;
      const auto rest = from.bytes();
      if (std::any_of(rest.begin(), rest.end(), [](auto c) { return c != std::byte{'\r'}; }))
        append_line(to, rest.data(), rest.size()); // a last line without a line end
      from.use(rest.size());
      return false;
    }
    return true;
  }

private:
  // Removes every carriage return, as TensorFlow does.
  void append_line(string_rows& to, const std::byte* line, size_t size) {
    if (size == 0 || !std::memchr(line, '\r', size)) {
      to.append(line, size);
      return;
    }
    kept_.assign(line, line + size);
    std::erase(kept_, std::byte{'\r'});
    to.append(kept_.data(), kept_.size());
  }

  std::vector<std::byte> kept_;
};

opened open_text_lines(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<text_reader>(shared, *node, at, std::move(values[0]))};
}

void encode_text_lines(const dataset_node&, node_writer& to) { to.files(to.out.initTextLines()); }

result<dataset_ptr> decode_text_lines(node_reader& from) {
  const auto in = from.in.getTextLines();
  HEADRACE_ASSIGN(auto names, from.tensor(in.getNames()));
  HEADRACE_ASSIGN(const auto packing, from.compression_of(dataset_op::text_lines, in));
  return make_text_lines(std::move(names), packing);
}

} // namespace

constinit const operator_record text_lines_record{
  .name = "text_lines",
  .arm = schema::Dataset::TEXT_LINES,
  .encode = encode_text_lines,
  .decode = decode_text_lines,
  .open = open_text_lines,
  .position_version = 2,
  .rows = source_rows,
  .source = {.files = file_use::named, .splits = splits_of_files},
};

} // namespace headrace::detail
