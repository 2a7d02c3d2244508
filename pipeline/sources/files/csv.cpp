#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/files/byte_stream.hpp"
#include "headrace/pipeline/files/csv_scanner.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/row_table.hpp"
#include "headrace/pipeline/kernels/string_scalar.hpp"
#include "headrace/pipeline/sources/files/csv_columns.hpp"
#include "headrace/pipeline/sources/files/file_source.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

using ending = csv_scanner::ending;

status parse_bool(std::string_view x, field_column& to) {
  const auto word = text::strip(x);
  const bool yes = word == "true" || word == "True" || word == "TRUE" || word == "1";
  if (!yes && word != "false" && word != "False" && word != "FALSE" && word != "0")
    return text::not_a_number(x, dtype::boolean, false);
  to.append(yes);
  return {};
}

status parse(std::string_view x, field_column& to) {
  if (to.spec().type == dtype::string) {
    to.append(x);
    return {};
  }
  return visit_plain(to.spec().type, [&]<class T>(T) -> status {
    if constexpr (std::is_same_v<T, bool>) {
      return parse_bool(x, to);
    } else if constexpr (is_complex(dtype_of<T>)) {
      return internal_error("complex numbers are refused when the dataset is made");
    } else {
      T value{};
      HEADRACE_TRY(text::parse_number(x, value));
      to.append(value);
      return {};
    }
  });
}

constexpr size_t most_row_bytes = size_t{256} << 20;

const csv_format& table_format(const dataset_node& node) {
  return node.as<csv_parameters>().format;
}

class csv_reader final : public file_source {
public:
  csv_reader(engine& shared, const dataset_node& node, const place& at, column files)
    : file_source(shared, node, at, std::move(files)),
      columns_(node),
      scanner_(table_format(node).delimiter, table_format(node).quotes) {}

protected:
  status open(const std::string& path, file_place from) override {
    path_ = path;
    columns_ = csv_columns{node_};
    line_ = 1;
    HEADRACE_TRY(start(0));
    HEADRACE_TRY(skip_mark());
    if (table_format(node_).header)
      HEADRACE_TRY(read_header());
    if (from.offset <= window_->offset())
      return {};
    line_ = from.line;
    return start(from.offset);
  }

  file_portion read(const limits& wanted) override {
    row_table table{node_.spec.components, wanted};
    file_portion out;
    while (!table.full()) {
      auto more = read_row(table);
      if (!more) {
        out.why = more.status();
        break;
      }
      if (!*more) {
        out.over = true;
        break;
      }
    }
    out.rows = table.finish();
    return out;
  }

  file_place here() const override { return {window_->offset(), line_}; }

private:
  status start(uint64_t offset) {
    HEADRACE_ASSIGN(auto bytes,
                    open_bytes(path_, compression_of_files(node_), engine_.context().stop));
    if (offset != 0) {
      HEADRACE_ASSIGN(const bool there, bytes->skip(offset));
      if (!there)
        return data_loss(fmt::format("'{}' ends before offset {}, where the saved position is: it "
                                     "is not what it was",
                                     path_, offset));
    }
    window_.emplace(std::move(bytes), offset);
    last_ = false;
    return {};
  }

  std::string_view text() const {
    const auto bytes = window_->bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // Reads more text; sets `last_` at the end.
  status more() {
    HEADRACE_ASSIGN(const bool some, window_->more());
    last_ = !some;
    return {};
  }

  // Some programs begin a file with the byte order mark of UTF-8.
  status skip_mark() {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    while (text().size() < mark.size() && !last_) HEADRACE_TRY(more());
    if (text().starts_with(mark))
      window_->use(mark.size());
    return {};
  }

  status read_header() {
    std::vector<std::string> names;
    while (true) {
      names.clear();
      scanner_.start(text(), last_);
      ending how;
      do {
        how = scanner_.next();
        names.emplace_back(scanner_.value());
      } while (how == ending::field);
      if (how == ending::row)
        break;
      if (how != ending::cut)
        return invalid_argument(fmt::format("'{}' line 1: {}", path_, describe(how)));
      HEADRACE_TRY(more());
    }
    if (text().empty())
      return {}; // an empty file has no rows
    window_->use(scanner_.used());
    line_ += scanner_.lines();
    if (auto why = columns_.read_header(names); !why.ok())
      return why.with_context(fmt::format("'{}' line 1", path_));
    return {};
  }

  // Appends the next row, or its error; false at the end.
  result<bool> read_row(row_table& to) {
    while (true) {
      const auto all = text();
      if (all.empty() && last_)
        return false;
      scanner_.start(all, last_);
      status why;
      if (!scan(to, why)) {
        to.drop_row();
        if (all.size() > most_row_bytes)
          return data_loss(
            fmt::format("'{}' line {}: a row of more than {} bytes; is a quote open?", path_, line_,
                        most_row_bytes));
        HEADRACE_TRY(more());
        continue;
      }
      if (!why.ok())
        to.fail_row(why.with_context(fmt::format("csv: '{}' line {}", path_, line_)));
      else
        to.end_row();
      window_->use(scanner_.used());
      line_ += scanner_.lines();
      return true;
    }
  }

  // Reads a row; sets `why` to the error if the row does not fit the columns. False: the text ends
  // inside the row, and more may follow.
  bool scan(row_table& to, status& why) {
    for (size_t i = 0;; ++i) {
      const auto how = scanner_.next();
      if (how == ending::cut)
        return false;
      if (how != ending::field && how != ending::row) {
        why = invalid_argument(fmt::format("{}: {}", columns_.name(i), describe(how)));
        // A new row begins with the next line.
        return scanner_.skip_line();
      }
      const auto value = scanner_.value();
      if (const auto target = columns_.component(i); target >= 0 && why.ok())
        why = append(value, static_cast<size_t>(target), to, i);
      if (how == ending::row) {
        if (!columns_.right(i + 1))
          why = invalid_argument(
            fmt::format("there are {} fields; there must be {}", i + 1, columns_.expected()));
        return true;
      }
    }
  }

  status append(std::string_view value, size_t target, row_table& to, size_t i) const {
    if (value.empty() || value == table_format(node_).na_value) {
      if (const auto& missing = fields_of(node_)[target].missing) {
        to[target].append_row(*missing);
        return {};
      }
      return invalid_argument(
        fmt::format("{} is missing, and has nothing to stand in", columns_.name(i)));
    }
    if (auto why = parse(value, to[target]); !why.ok())
      return why.with_context(columns_.name(i));
    return {};
  }

  static const char* describe(ending how) {
    switch (how) {
    case ending::open_quote: return "the file ends within quotes";
    case ending::stray_quote: return "a quote within a field that does not begin with one";
    case ending::after_quote: return "text after the closing quote";
    default: return "";
    }
  }

  csv_columns columns_;
  csv_scanner scanner_;
  std::string path_;
  std::optional<byte_window> window_;
  bool last_ = false; ///< no text follows the window
  uint64_t line_ = 1; ///< the number of the line with which the next row begins
};

opened open_csv(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<csv_reader>(shared, *node, at, std::move(values[0]))};
}

void encode_csv(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<csv_parameters>();
  auto out = to.out.initCsv();
  to.files(out.initFiles());
  encode(own.fields, out.initColumns(static_cast<unsigned>(own.fields.size())));
  out.setHeader(own.format.header);
  out.setDelimiter(static_cast<uint8_t>(own.format.delimiter));
  out.setQuotes(own.format.quotes);
  out.setNaValue(text_of(own.format.na_value));
  auto select = out.initSelect(static_cast<unsigned>(own.format.select.size()));
  for (unsigned i = 0; i < select.size(); ++i) select.set(i, own.format.select[i]);
}

result<dataset_ptr> decode_csv(node_reader& from) {
  const auto in = from.in.getCsv();
  HEADRACE_ASSIGN(auto names, from.tensor(in.getFiles().getNames()));
  HEADRACE_ASSIGN(auto columns, decode(in.getColumns()));
  csv_format format{in.getHeader(), static_cast<char>(in.getDelimiter()), in.getQuotes(),
                    string_of(in.getNaValue())};
  for (auto column : in.getSelect()) format.select.push_back(column);
  HEADRACE_ASSIGN(const auto packing, from.compression_of(dataset_op::csv, in.getFiles()));
  return make_csv(std::move(names), std::move(columns), std::move(format), packing);
}

} // namespace

constinit const operator_record csv_record{
  .name = "csv",
  .arm = schema::Dataset::CSV,
  .encode = encode_csv,
  .decode = decode_csv,
  .open = open_csv,
  .rows = source_rows,
  .source = {.files = file_use::named, .splits = splits_of_files},
};

} // namespace headrace::detail
