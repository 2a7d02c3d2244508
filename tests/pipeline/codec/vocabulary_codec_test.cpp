#include "headrace/pipeline/codec/vocabulary_codec.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::test {

TEST(VocabularyCodec, BringsEachValueBack) {
  for (const auto x : {sharding_policy::off, sharding_policy::dynamic})
    EXPECT_EQ(from_schema(to_schema(x)).value(), x);
  for (const auto x : {compression::automatic, compression::none, compression::snappy})
    EXPECT_EQ(from_schema(to_schema(x)).value(), x);
}

TEST(VocabularyCodec, RefusesAnUnknownValueByItsNumber) {
  const auto policy = from_schema(static_cast<schema::ShardingPolicy>(7));
  EXPECT_EQ(policy.status().code(), status_code::unimplemented);
  EXPECT_NE(policy.status().message().find("sharding policy number 7"), std::string::npos)
    << policy.status().message();
  const auto packing = from_schema(static_cast<schema::Compression>(9));
  EXPECT_EQ(packing.status().code(), status_code::unimplemented);
  EXPECT_NE(packing.status().message().find("compression number 9"), std::string::npos)
    << packing.status().message();
}

} // namespace headrace::detail::test
