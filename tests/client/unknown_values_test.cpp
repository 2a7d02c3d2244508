#include "headrace/client/distribute.hpp"
#include "headrace/client/server.hpp"
#include "tests/runtime/node/echo_actor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

TEST(UnknownValues, ADispatcherRefusesAShardingPolicyThatItDoesNotKnow) {
  dispatcher_server dispatcher;
  const auto id = register_dataset(dispatcher.target(), dataset::range(3));
  node here;
  const auto to = connect(here, parse_address(dispatcher.target()).value()).value().actor;
  const auto said =
    ask_raw(here, to, make_envelope(1, [&](schema::Envelope::Builder b) {
              auto out = b.initDispatcher().initOpenIteration();
              out.setConsumerId(1);
              out.setDatasetId(id);
              out.initParameters().setProcessingMode(static_cast<schema::ShardingPolicy>(7));
            }));
  ASSERT_TRUE(said.ok());
  const auto why = status_of(*said);
  EXPECT_EQ(why.code(), status_code::unimplemented);
  EXPECT_THAT(why.message(), testing::HasSubstr("sharding policy number 7 is not known"));
}

} // namespace
} // namespace headrace::detail::test
