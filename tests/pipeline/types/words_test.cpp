#include "headrace/pipeline/types/compression.hpp"
#include "headrace/pipeline/types/file_compression.hpp"
#include "headrace/pipeline/types/saved_compression.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

TEST(Words, OfEachValueAreReadBack) {
  for (const auto x : sharding_policies) EXPECT_EQ(sharding_policy_of(to_string(x)).value(), x);
  for (const auto x : compressions) EXPECT_EQ(compression_of(to_string(x)).value(), x);
}

TEST(Words, OthersAreRefusedWithThoseThatAreKnown) {
  EXPECT_EQ(to_string(sharding_policy_of("some").status()),
            "invalid_argument: sharding policy is 'some'; it must be 'off', 'dynamic', 'file', "
            "'data', 'file_or_data' or 'hint'");
  EXPECT_EQ(to_string(sharding_policy_of("").status()),
            "invalid_argument: sharding policy is ''; it must be 'off', 'dynamic', 'file', 'data', "
            "'file_or_data' or 'hint'");
  EXPECT_EQ(to_string(compression_of("AUTO").status()),
            "invalid_argument: compression is 'AUTO'; it must be 'auto', 'none' or 'snappy'");
  EXPECT_EQ(to_string(file_compression_of("LZ4").status()),
            "invalid_argument: compression is 'LZ4'; it must be '', 'GZIP' or 'ZLIB'");
  EXPECT_EQ(to_string(saved_compression_of("ZIP").status()),
            "invalid_argument: compression is 'ZIP'; it must be 'NONE', 'SNAPPY', 'GZIP' or "
            "'AUTO'");
}

} // namespace
} // namespace headrace::detail::test
