#include "headrace/pipeline/graph/operator_record.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <vector>

namespace headrace::detail {
namespace {

const std::vector<dataset_op> all_operators{
#define HEADRACE_OPERATOR(name, number) dataset_op::name,
  HEADRACE_OPERATORS(HEADRACE_OPERATOR)
#undef HEADRACE_OPERATOR
};

TEST(OperatorRecords, HaveAllThatGraphsNeedToBeStoredAndToRun) {
  std::set<uint16_t> arms;
  std::set<std::string_view> names;
  for (const auto op : all_operators) {
    const auto* record = find_record(op);
    ASSERT_NE(record, nullptr) << static_cast<int>(op);
    EXPECT_TRUE(names.insert(record->name).second) << record->name;
    EXPECT_TRUE(arms.insert(record->arm).second) << record->name;
    EXPECT_EQ(find_record_of_arm(record->arm), record) << record->name;
    EXPECT_NE(record->encode, nullptr) << record->name;
    EXPECT_NE(record->decode, nullptr) << record->name;
    EXPECT_NE(record->open, nullptr) << record->name;
    EXPECT_GE(record->position_version, 1) << record->name;
    EXPECT_EQ(to_string(op), record->name);
  }
}

TEST(OperatorRecords, SayWhatSplitsAreOfSourcesOnly) {
  for (const auto op : all_operators) {
    const auto& record = *find_record(op);
    EXPECT_EQ(record.source.splits != nullptr, is_source(op)) << record.name;
    EXPECT_TRUE(record.rows.apart || !is_source(op)) << record.name;
  }
}

TEST(OperatorRecords, SayHowManyRowsAreTakenTogether) {
  for (const auto op : all_operators) {
    const auto& pieces = find_record(op)->pieces;
    EXPECT_EQ(pieces.rows_together != nullptr, pieces.rule == piece_rule::together)
      << to_string(op);
  }
}

TEST(OperatorRecords, SayWhichInputEachRunReadsWhole) {
  for (const auto op : all_operators) {
    std::optional<size_t> expected;
    if (op == dataset_op::choose_from)
      expected = 0;
    if (op == dataset_op::snapshot)
      expected = 1;
    EXPECT_EQ(find_record(op)->whole_input, expected) << to_string(op);
  }
}

TEST(OperatorRecords, OnlyARepeatReturnsItsInputSeveralTimes) {
  for (const auto op : all_operators)
    EXPECT_EQ(find_record(op)->passes != nullptr, op == dataset_op::repeat) << to_string(op);
  dataset_node node{.op = dataset_op::repeat};
  for (const known_number count :
       {known_number{-1}, known_number{0}, known_number{3}, known_number{}}) {
    node.parameters = repeat_parameters{.count = count};
    EXPECT_EQ(passes_over_input(node), count) << shown_number(count);
  }
  EXPECT_EQ(passes_over_input(dataset_node{.op = dataset_op::take}), 1);
}

TEST(OperatorRecords, AnOperatorThatDoesNothingWithRowsReturnsOneForOne) {
  for (const auto op : all_operators) {
    const auto& rows = find_record(op)->rows;
    EXPECT_EQ(rows.untouched, op == dataset_op::prefetch || op == dataset_op::options)
      << to_string(op);
    EXPECT_TRUE(!rows.untouched || (rows.one_to_one && rows.apart)) << to_string(op);
  }
}

TEST(OperatorRecords, AreNotThereForOtherNumbers) {
  for (const int number : {0, 98, 255, 256, 65535}) {
    const auto op = static_cast<dataset_op>(number);
    EXPECT_EQ(find_record(op), nullptr) << number;
    EXPECT_EQ(to_string(op), "unknown operator");
  }
  EXPECT_EQ(find_record_of_arm(0), nullptr); // `none`: no operator was set in the message
  EXPECT_EQ(find_record_of_arm(65535), nullptr);
}

} // namespace
} // namespace headrace::detail
