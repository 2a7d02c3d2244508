#pragma once

#include "headrace/actors/protocol/reader_messages.hpp"

#include <optional>

namespace headrace::detail {

/// The change that turns the view `from` of a repetition into `to`: the tasks that were added,
/// changed or removed, and all other fields of `to`. So an announcement does not grow with the
/// number of tasks. @pre both views are of one repetition, and `from` is not newer than `to`
iteration_view change_between(const iteration_view& from, const iteration_view& to);

/// Applies a change to an earlier view. nullopt: `known` is of another repetition or older than the
/// view from which the change starts, so the reader has to request the whole view. If `change` is a
/// whole view, it is returned unchanged.
std::optional<iteration_view> changed(const iteration_view& known, const iteration_view& change);

} // namespace headrace::detail
