#include "tests/actors/dispatcher/driven_dispatcher.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;

dataset_ptr numbers(int64_t n) { return make_range(0, n, 1).value(); }

class TakenId : public testing::Test {
protected:
  /// Registers a graph. `whole` false: only its fingerprint is sent.
  dispatcher_commands enroll(const std::string& id, const dataset_ptr& what, bool whole = true) {
    auto graph = encode_graph(what).value();
    dataset_registration registration{.id = id, .fingerprint = fingerprint(graph)};
    if (whole)
      registration.graph = std::move(graph);
    token_ = request_token{token_.value + 1};
    return x.take(x.core.register_dataset(token_, std::move(registration)));
  }
  dataset_def known(const dispatcher_commands& out) { return answer_to<dataset_def>(token_, out); }
  status refused(const dispatcher_commands& out) { return answer_to<status>(token_, out); }
  driven_dispatcher x;

private:
  request_token token_{1000};
};

TEST_F(TakenId, IsTheSameDatasetForTheSameGraph) {
  enroll("mine", numbers(10));
  const auto again = known(enroll("mine", numbers(10)));
  EXPECT_EQ(again.id, "mine");
  EXPECT_EQ(again.warning, "");
}

TEST_F(TakenId, IsTheDatasetThatHasItForAnotherGraphOfTheSameStructure) {
  enroll("mine", numbers(10));
  const auto out = enroll("mine", numbers(20));
  EXPECT_EQ(known(out).id, "mine");
  EXPECT_THAT(known(out).warning, HasSubstr("'mine' is taken by another graph"));
  EXPECT_EQ(all_of<dispatcher_command::log>(out).size(), 1u);
  EXPECT_EQ((*x.core.record().datasets().find("mine"))->fingerprint,
            fingerprint(encode_graph(numbers(10)).value()));
}

TEST_F(TakenId, IsRefusedToAnotherStructure) {
  enroll("mine", numbers(10));
  const struct {
    dataset_ptr what;
    const char* gives;
  } rows[] = {
    {make_batch(numbers(10), 2, true).value(), "int64[2], of finite size"},
    {make_repeat(numbers(10), -1).value(), "int64[], without end"},
  };
  for (const auto& [what, gives] : rows) {
    const auto how = refused(enroll("mine", what));
    EXPECT_EQ(how.code(), status_code::already_exists);
    EXPECT_THAT(how.message(), HasSubstr("'mine'"));
    EXPECT_THAT(how.message(), HasSubstr("of finite size"));
    EXPECT_THAT(how.message(), HasSubstr(gives));
  }
}

TEST_F(TakenId, AsksForAGraphThatIsNotKnown) {
  enroll("mine", numbers(10));
  EXPECT_EQ(refused(enroll("mine", numbers(20), false)).code(), status_code::not_found);
  enroll("other", numbers(20));
  EXPECT_THAT(known(enroll("mine", numbers(20), false)).warning, HasSubstr("'mine'"));
}

TEST_F(TakenId, IsNewEachTimeWhereNoneIsGiven) {
  const auto first = known(enroll({}, numbers(10))).id;
  EXPECT_NE(known(enroll({}, numbers(10))).id, first);
}

TEST(RegisteredDatasets, AreBounded) {
  service_record x;
  const dataset_record graph{{}, {}, "print"};
  for (size_t i = 0; i < service_record::most_registered; ++i) {
    EXPECT_TRUE(x.has_room_for({}).ok());
    x.apply(service_record::dataset_registered{"id " + std::to_string(i), graph});
  }
  const auto how = x.has_room_for({});
  EXPECT_EQ(how.code(), status_code::resource_exhausted);
  EXPECT_THAT(how.message(), HasSubstr("100000 datasets are registered"));
  EXPECT_TRUE(x.has_room_for({.id = "id 7"}).ok()) << "it is there";
}

} // namespace
} // namespace headrace::detail::test
