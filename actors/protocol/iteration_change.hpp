#pragma once

#include "headrace/actors/protocol/reader_messages.hpp"

#include <optional>

namespace headrace {

/// The change that turns the view `from` of a repetition into `to`: the tasks that are new, moved
/// or gone, and all fields that are short. So an announcement is as short for a thousand tasks as
/// for two. @pre both are of one repetition, and `from` is not newer than `to`
iteration_view change_between(const iteration_view& from, const iteration_view& to);

/// Applies a change to an earlier view. nullopt: `known` is older than the view that the change
/// starts from, so that the reader has to request the whole view. A whole view is returned as it
/// is.
std::optional<iteration_view> changed(const iteration_view& known, const iteration_view& change);

} // namespace headrace
