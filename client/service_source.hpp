#pragma once

#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace headrace {

class handout;

/// A `distribute` node being read: the service's elements in this process.
class service_source final : public element_source {
public:
  /// Is given what a trainer should know of a pass that ended well: that elements are missing. May
  /// be empty.
  using warning = std::function<void(const std::string&)>;
  /// Connects to the service, begins to open the next repetition of its job, and returns without
  /// waiting for an answer to that.
  static result<std::unique_ptr<service_source>> open(const dataset_node& node,
                                                      std::stop_token stop, warning warn = {});
  ~service_source() override;

  std::optional<block> next(const limits& wanted) override;
  bool was_empty() override;

  /// The next rows, not handed out yet: each must be claimed. nullptr: the end, or an error row's
  /// block that is claimed as any other.
  std::shared_ptr<const block> peek();
  /// As `peek`, but waits no longer than `limit`: nothing then.
  std::optional<std::shared_ptr<const block>> peek_within(duration limit);
  /// See handout.
  handout& rows() noexcept { return *out_; }

private:
  struct impl;
  explicit service_source(std::unique_ptr<impl> what);
  std::unique_ptr<impl> impl_;
  std::shared_ptr<handout> out_;
  std::shared_ptr<const block> current_;
};

} // namespace headrace
