#pragma once

#include "headrace/actors/protocol/reader_messages.hpp"

#include <optional>

namespace headrace {

/// What of a repetition a reader that knows `from` needs to come to know `to`: tasks that are new,
/// moved or gone, and whatever is short. So what a job announces when one of a thousand tasks
/// changes is as short as where there are two.
/// @pre of the same repetition, `from` not newer than `to`
iteration_view change_between(const iteration_view& from, const iteration_view& to);

/// The view that a change makes of an earlier one; nullopt: `known` is older than what the change
/// goes out from, so that the whole has to be asked for. A view that is whole is taken as it is.
std::optional<iteration_view> changed(const iteration_view& known, const iteration_view& change);

} // namespace headrace
