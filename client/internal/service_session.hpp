#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/base/tls_options.hpp"

#include <memory>
#include <sys/types.h>

namespace headrace::detail {

class link_pool;
class node;

/// The objects that the consumers and calls of one session share.
struct service_session {
  std::shared_ptr<node> here;
  std::shared_ptr<link_pool> links;
  pid_t owner = 0; ///< the process that made the session

  /// In a forked child the objects of the parent are not destroyed, because their threads do not
  /// exist there.
  ~service_session();

  /// A session that connects with these TLS files.
  static result<std::shared_ptr<service_session>> open(const tls_options& tls);
  /// The session of the process, which exists as long as there is a reference to it.
  static result<service_session> of_process();
  /// `given`, or the session of the process if `given` is null. Returns an error in a child that
  /// was forked after `given` was made, because the threads of `given` do not exist there.
  static result<service_session> of(const std::shared_ptr<service_session>& given);
  /// True if the session of the process has this node.
  static bool is_of_process(const node& here);
};

} // namespace headrace::detail
