#include "headrace/client/monitor/counted_metrics.hpp"
#include "headrace/client/monitor/service_metrics.hpp"
#include "tests/support/paths.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

namespace headrace::detail {
namespace {

/// The Markdown table of the metrics that a dispatcher or a worker counts.
std::string table() {
  std::string out = "| metric | kind | unit | what it is |\n| --- | --- | --- | --- |\n";
  for (const auto& [what, kind] : monitor::counted_metrics())
    out += fmt::format("| `{}` | {} | {} | {} |\n", what.name, kind,
                       what.unit.empty() ? "" : what.unit, what.help);
  return out;
}

/// The Markdown table of the metrics that a dispatcher's HTTP port makes from the service's status.
std::string table_of_the_status() {
  std::string out = "| metric | kind | unit | what it is |\n| --- | --- | --- | --- |\n";
  for (const auto& [name, x] : monitor::described_metrics())
    out += fmt::format("| `{}` | {} | {} | {} |\n", name, x.kind, x.unit, x.help);
  return out;
}

TEST(MetricsDocument, HasTheTables) {
  std::ifstream in{test::expected_path("../../docs/metrics.md")};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const auto made = testing::TempDir() + "headrace_metrics.md";
  std::ofstream{made} << table() << "\n" << table_of_the_status();
  EXPECT_NE(text.find(table()), std::string::npos) << "the first table is now that of " << made;
  EXPECT_NE(text.find(table_of_the_status()), std::string::npos)
    << "the second table is now that of " << made;
}

TEST(MetricNames, EndWithTheirUnitsAndBeginWithTheProject) {
  for (const auto& [what, kind] : monitor::counted_metrics()) {
    EXPECT_TRUE(what.name.starts_with("headrace_")) << what.name;
    EXPECT_TRUE(what.name.ends_with(what.unit)) << what.name;
    EXPECT_TRUE(what.help.ends_with('.')) << what.name;
  }
  for (const auto& [name, x] : monitor::described_metrics()) {
    EXPECT_TRUE(name.starts_with("headrace_")) << name;
    EXPECT_TRUE(name.ends_with(x.unit)) << name;
    EXPECT_TRUE(x.help.ends_with('.')) << name;
  }
}

} // namespace
} // namespace headrace::detail
