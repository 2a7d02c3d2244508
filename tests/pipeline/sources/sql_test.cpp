#include "tests/pipeline/sources/source_rows.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>

namespace headrace::detail {
namespace {

using test::rows_of;
using test::scratch_folder;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

expr_ptr text(const std::string& x) { return expr{x}.node(); }

std::string database(const scratch_folder& folder, const std::string& statements) {
  auto path = folder.path() + "/base.sqlite";
  sqlite3* base = nullptr;
  sqlite3_open(path.c_str(), &base);
  char* why = nullptr;
  EXPECT_EQ(sqlite3_exec(base, statements.c_str(), nullptr, nullptr, &why), SQLITE_OK) << why;
  sqlite3_close(base);
  return path;
}

dataset_ptr select(const std::string& path, const std::string& query,
                   std::vector<field_format> columns) {
  return make_sql("sqlite", text(path), text(query), std::move(columns)).value();
}

constexpr const char* people =
  "create table people(id integer, name text, height real, photo blob);"
  "insert into people values (1, 'Ada', 1.5, x'0001ff'), (2, 'Bob', 2, null), (3, null, 0.25, '');";

TEST(Sql, RowsOfAQueryAreScalars) {
  scratch_folder folder;
  const auto path = database(folder, people);
  EXPECT_THAT(rows_of(select(path, "select id, name, height from people order by id desc;",
                             {field("id", dtype::int32), field("name", "nobody"),
                              field("height", dtype::float64)})),
              ElementsAre("3|'nobody'|0.25", "2|'Bob'|2", "1|'Ada'|1.5"));
  EXPECT_THAT(rows_of(select(path, "select id, photo, id > 1, id * 0.5 from people where id = 1",
                             {field("", dtype::string), field("", dtype::string),
                              field("", dtype::boolean), field("", dtype::float32)})),
              ElementsAre(std::string("'1'|'\0\1\xff'|0|0.5", 15)));
  EXPECT_THAT(rows_of(select(path, "select id from people where id > 9", {field("", dtype::int8)})),
              ElementsAre());
}

TEST(Sql, ManyRowsComeInOrder) {
  scratch_folder folder;
  const auto path =
    database(folder, "create table t(x integer); with recursive n(i) as (select 0 union all "
                     "select i + 1 from n where i < 19999) insert into t select i from n;");
  const auto rows = rows_of(select(path, "select x from t order by x", {field("x", dtype::int64)}));
  ASSERT_EQ(rows.size(), 20000u);
  for (size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], std::to_string(i));
}

TEST(Sql, ValuesThatDoNotFitAreErrorsOfTheirRows) {
  scratch_folder folder;
  const auto path = database(folder, people);
  EXPECT_THAT(
    rows_of(select(path, "select name from people order by id", {field("name", dtype::string)})),
    ElementsAre("'Ada'", "'Bob'",
                AllOf(HasSubstr("!invalid_argument: sql: '" + path),
                      EndsWith("row 3: column 'name': it is null, and has nothing to "
                               "stand in"))));
  EXPECT_THAT(
    rows_of(select(path, "select name from people where id = 1", {field("", dtype::int64)})),
    ElementsAre(EndsWith("row 1: column 'name': text (Ada) is no int64")));
  EXPECT_THAT(
    rows_of(select(path, "select id * 200 from people where id = 2", {field("", dtype::int8)})),
    ElementsAre(AllOf(HasSubstr("invalid_argument"), EndsWith("400 is out of the range of int8"))));
}

TEST(Sql, WrongQueriesAreErrorsThatSayWhy) {
  scratch_folder folder;
  const auto path = database(folder, people);
  const auto why = [&](const std::string& query) {
    return rows_of(select(path, query, {field("", dtype::int64)})).at(0);
  };
  EXPECT_THAT(why("selekt 1"), AllOf(HasSubstr(path), HasSubstr("syntax error")));
  EXPECT_THAT(why("select id from nobody"), HasSubstr("no such table: nobody"));
  EXPECT_THAT(why("select id, name from people"), HasSubstr("gives 2 columns, 1 are described"));
  EXPECT_THAT(why(" ;"), HasSubstr("the query is empty"));
  EXPECT_THAT(why("select 1; select 2"), HasSubstr("goes on after its end, with 'select 2'"));
  EXPECT_THAT(why("delete from people"), HasSubstr("the query writes; it must only read"));
  EXPECT_THAT(rows_of(select("/nowhere/x", "select 1", {field("", dtype::int64)})),
              ElementsAre(HasSubstr("!not_found: sql: cannot open '/nowhere/x'")));
  EXPECT_THAT(rows_of(select(folder.write("text", std::string(5000, 'x')), "select 1 from a",
                             {field("", dtype::int64)})),
              ElementsAre(AllOf(HasSubstr("data_loss"), HasSubstr("file is not a database"))));
}

TEST(Sql, DamageInTheFileEndsItWithAnErrorAfterTheRowsBefore) {
  scratch_folder folder;
  const auto path =
    database(folder, "create table t(x text); with recursive n(i) as (select 0 union all "
                     "select i + 1 from n where i < 999) insert into t select hex(zeroblob(100)) "
                     "from n;");
  auto bytes = test::read_file(path);
  for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 8192; ++i) bytes[i] = '\x7f';
  const auto bad = folder.write("bad", bytes);
  const auto rows = rows_of(select(bad, "select x from t", {field("x", dtype::string)}));
  ASSERT_GT(rows.size(), 100u);
  ASSERT_LT(rows.size(), 1000u);
  EXPECT_THAT(rows.back(), AllOf(HasSubstr("!data_loss: sql: cannot read '" + bad)));
  EXPECT_EQ(rows[rows.size() - 2][0], '\'');
}

TEST(Sql, TheQueryIsOneSplit) {
  scratch_folder folder;
  const auto path = database(folder, people);
  test::scripted_splits splits;
  iterator_context context;
  context.splits = &splits;
  auto graph = select(path, "select id from people", {field("", dtype::int64)});
  EXPECT_THAT(test::read_all(*make_iterator(graph, context).value()), ElementsAre());
  EXPECT_EQ(splits.log[0].total, 1u);
  splits.script = {{0, 0, split_range{0, 1}}};
  EXPECT_EQ(test::read_all(*make_iterator(graph, context).value()).size(), 3u);
}

TEST(Sql, WrongArgumentsAreRefused) {
  EXPECT_THAT(
    to_string(make_sql("postgres", text("x"), text("y"), {field("", dtype::int64)}).status()),
    HasSubstr("sql: driver is 'postgres'; it must be 'sqlite'"));
  EXPECT_THAT(
    to_string(
      make_sql("sqlite", scalar_constant(1), text("y"), {field("", dtype::int64)}).status()),
    HasSubstr("data_source is int64[]; it must be a string"));
}

} // namespace
} // namespace headrace::detail
