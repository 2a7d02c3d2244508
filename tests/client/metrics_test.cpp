#include "headrace/actors/worker/worker_metrics.hpp"
#include "headrace/client/monitor/service_metrics.hpp"
#include "headrace/client/server.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/basp/network_guard.hpp"
#include "headrace/runtime/journal/journal_metrics.hpp"
#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/node/node_metrics.hpp"
#include "tests/support/paths.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

namespace headrace {
namespace {

/// All that a dispatcher or a worker counts.
std::string table() {
  metric_registry all;
  const link_metrics links{all};
  const node_metrics node{all};
  const journal_metrics journal{all};
  const worker_metrics worker{all};
  const network_guard guard{
    {.log = {}, .metrics = std::shared_ptr<metric_registry>{std::shared_ptr<void>{}, &all}}};
  std::string out = "| metric | kind | unit | what it is |\n| --- | --- | --- | --- |\n";
  for (const auto& [what, kind] : all.families())
    out += fmt::format("| `{}` | {} | {} | {} |\n", what.name, kind,
                       what.unit.empty() ? "" : what.unit, what.help);
  return out;
}

/// The table of the status that a dispatcher's HTTP port shows.
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
  metric_registry all;
  const link_metrics links{all};
  const node_metrics node{all};
  const journal_metrics journal{all};
  const worker_metrics worker{all};
  for (const auto& [what, kind] : all.families()) {
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
} // namespace headrace
