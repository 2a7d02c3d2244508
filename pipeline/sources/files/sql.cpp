#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/sources/files/sqlite_query.hpp"
#include "headrace/pipeline/sources/split_cursor.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// The whole query is one split.
class sql_iterator final : public operator_iterator {
public:
  sql_iterator(engine& shared, const dataset_node& node, const place& at, const column& path,
               const column& query)
    : operator_iterator(shared, node),
      path_(path.string(0)),
      text_(query.string(0)),
      splits_(shared, at, 1) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (!pending_.ok())
      return fail(pending_);
    if (!query_) {
      auto more = splits_.here();
      if (!more)
        return fail(more.status());
      if (!*more)
        return std::nullopt;
      splits_.pass(1);
      if (auto opened = open(); !opened.ok())
        return fail(opened);
    }
    row_table table{node_.spec.components, wanted};
    while (!table.full()) {
      auto more = query_->step();
      if (!more) {
        pending_ = more.status();
        break;
      }
      if (!*more) {
        end();
        break;
      }
      ++given_;
      if (auto why = query_->read(table); !why.ok())
        table.fail_row(why.with_context(fmt::format("sql: '{}' row {}", path_, given_)));
      else
        table.end_row();
    }
    auto out = table.finish();
    if (out.rows == 0)
      return pending_.ok() ? std::nullopt : std::optional{fail(pending_)};
    ++kernel_calls_;
    if (splits_.provided())
      out.origins = {splits_.from(0, out.rows, 0)};
    return out;
  }

  // Saves as numbers: the numbers of `splits_`; whether the query runs, and the number of rows that
  // it gave.
  void save_to(position& to) const override {
    splits_.save_to(to, query_ != nullptr);
    to.numbers.push_back(query_ != nullptr);
    to.numbers.push_back(given_);
  }
  status restore_from(position_reader& from) override {
    splits_.restore_from(from);
    const bool opened = from.flag();
    const auto given = from.number();
    if (!opened || !from.fits())
      return {};
    HEADRACE_TRY(open());
    for (given_ = 0; given_ < given; ++given_) {
      HEADRACE_ASSIGN(const bool more, query_->step());
      if (!more)
        return data_loss(fmt::format("the query on '{}' gives {} rows now, the saved position is "
                                     "after row {}: the data is not what it was",
                                     path_, given_, given));
    }
    return {};
  }

private:
  status open() {
    HEADRACE_ASSIGN(query_, sqlite_query::open(path_, text_, node_.as<sql_parameters>().fields,
                                               engine_.context().stop));
    return {};
  }

  block fail(const status& why) {
    auto out = last_failure(why.with_context(to_string(node_.op)));
    if (splits_.provided())
      out.origins = {splits_.from(0, 1, 0)};
    return out;
  }

  std::string path_, text_;
  split_cursor splits_;
  std::unique_ptr<sqlite_query> query_; ///< set while the query runs
  uint64_t given_ = 0;                  ///< the number of rows that the query gave
  status pending_;                      ///< an error that is returned after the rows before it
};

opened open_sql(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<sql_iterator>(shared, *node, at, values[0], values[1])};
}

void encode_sql(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<sql_parameters>();
  auto out = to.out.initSql();
  out.setDriver(text_of(own.driver));
  out.setSource(to.tensor(0));
  out.setQuery(to.tensor(1));
  encode(own.fields, out.initColumns(static_cast<unsigned>(own.fields.size())));
}

result<dataset_ptr> decode_sql(node_reader& from) {
  const auto in = from.in.getSql();
  HEADRACE_ASSIGN(auto source, from.tensor(in.getSource()));
  HEADRACE_ASSIGN(auto query, from.tensor(in.getQuery()));
  HEADRACE_ASSIGN(auto columns, decode(in.getColumns()));
  return make_sql(string_of(in.getDriver()), std::move(source), std::move(query),
                  std::move(columns));
}

std::optional<uint64_t> one_query(const dataset_node&) { return 1; }

} // namespace

constinit const operator_record sql_record{
  .name = "sql",
  .arm = schema::Dataset::SQL,
  .encode = encode_sql,
  .decode = decode_sql,
  .open = open_sql,
  .rows = source_rows,
  .source = {.files = file_use::others, .splits = one_query},
};

} // namespace headrace::detail
