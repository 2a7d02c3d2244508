#pragma once

#include "headrace/runtime/caf/error.hpp"
#include "headrace/runtime/message/caf_inspect.hpp"
#include "headrace/runtime/message/envelope.hpp"
#include "headrace/runtime/message/local.hpp"

namespace headrace::detail {

// The first type id of each layer's block. A layer that sends types of its own between actors lists
// them in one header, which also declares a function that registers them:
//
//   CAF_BEGIN_TYPE_ID_BLOCK(headrace_actors, headrace::detail::actors_first_type_id)
//     CAF_ADD_TYPE_ID(headrace_actors, (headrace::local<headrace::detail::task_event>))
//     CAF_ADD_ATOM(headrace_actors, headrace::atom, deadline, "deadline")
//   CAF_END_TYPE_ID_BLOCK(headrace_actors)
//
//   void register_actor_types(caf::actor_system_config& config);
//
// The header's .cpp defines the function:
//
//   void register_actor_types(caf::actor_system_config& config) {
//     port::register_types<caf::id_block::headrace_actors>(config);
//   }
//
// The layer's nodes have this function as their `node_options::message_types`. An atom has at most
// ten characters. Types that never leave the process are listed only because release 1.1 of CAF
// requires it.
inline constexpr auto runtime_first_type_id = caf::first_custom_type_id;
inline constexpr auto node_first_type_id =
  static_cast<std::remove_const_t<decltype(caf::first_custom_type_id)>>(caf::first_custom_type_id
                                                                        + 50);
inline constexpr auto actors_first_type_id =
  static_cast<std::remove_const_t<decltype(caf::first_custom_type_id)>>(caf::first_custom_type_id
                                                                        + 100);
inline constexpr auto client_first_type_id =
  static_cast<std::remove_const_t<decltype(caf::first_custom_type_id)>>(caf::first_custom_type_id
                                                                        + 200);
inline constexpr auto tests_first_type_id =
  static_cast<std::remove_const_t<decltype(caf::first_custom_type_id)>>(caf::first_custom_type_id
                                                                        + 300);

} // namespace headrace::detail

CAF_BEGIN_TYPE_ID_BLOCK(headrace_runtime, headrace::detail::runtime_first_type_id)
CAF_ADD_TYPE_ID(headrace_runtime, (headrace::detail::envelope))
#if !HEADRACE_CAF_LEGACY
CAF_ADD_TYPE_ID(headrace_runtime, (headrace::status_code))
#endif
// The message of a supervisor's timer to the supervisor itself. It contains an epoch.
CAF_ADD_ATOM(headrace_runtime, headrace::atom, supervise, "supervise")
CAF_END_TYPE_ID_BLOCK(headrace_runtime)

namespace headrace::detail {

void register_runtime_types(caf::actor_system_config& config);

/// The only signature of a published actor.
using published_actor = port::handle<caf::result<envelope>(envelope)>;

} // namespace headrace::detail
