#pragma once

#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace headrace::detail {

class handout;

/// The source of a `distribute` node in a trainer: it returns the elements that the service
/// delivers.
class service_source final : public element_source {
public:
  /// Called with a message for the user that is not an error, for instance that elements are
  /// missing: at the end of a repetition, or while the repetition is read. May be empty. If it
  /// throws, `peek` throws the same exception, and no rows are lost.
  using warning = std::function<void(const std::string&)>;
  /// Connects to the service, requests the next repetition of the job, and returns without waiting
  /// for the answer. `in`: the session; null: the session in the options of the graph, or, if
  /// there is none, the session of the process.
  static result<std::unique_ptr<service_source>>
  open(const dataset_node& node, std::stop_token stop, warning warn = {},
       const std::shared_ptr<service_session>& in = {});
  ~service_source() override;

  /// Also returns the rows that `peek` has returned and that its caller has not taken.
  std::optional<block> next(const limits& wanted) override;
  bool was_empty() override;

  /// The next rows, none of which is handed out yet: the caller takes each with `handout::claim`.
  /// An error is returned as a block with one error row, which is taken like other rows. nullptr:
  /// the end.
  std::shared_ptr<const block> peek();
  /// As `peek`, but waits for at most `limit`, and then returns nullopt.
  std::optional<std::shared_ptr<const block>> peek_within(duration limit);
  /// The handout whose `claim` takes the rows that `peek` returned.
  handout& rows() noexcept { return *out_; }

private:
  struct impl;
  explicit service_source(std::unique_ptr<impl> what);
  void give_warning(const std::string& what) const;

  std::unique_ptr<impl> impl_;
  std::shared_ptr<handout> out_;
  std::shared_ptr<const block> current_; ///< the block that `peek` returned last
  bool kept_back_ = false;               ///< `peek` did not return `current_`, because `warn` threw
};

} // namespace headrace::detail
