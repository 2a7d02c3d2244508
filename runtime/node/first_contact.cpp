#include "headrace/runtime/node/first_contact.hpp"

#include <fmt/format.h>

#include <utility>

namespace headrace::detail {

namespace {

constexpr duration silence = std::chrono::seconds{1};
constexpr uint32_t most_refusals = 3;

/// The time at which `limit` has passed, at most the latest time that can be represented.
time_point after(time_point now, duration limit) {
  return now > time_point::max() - limit ? time_point::max() : now + limit;
}

} // namespace

first_contact::first_contact(std::string dispatcher, std::string option, duration limit,
                             time_point now)
  : dispatcher_(std::move(dispatcher)),
    option_(std::move(option)),
    limit_(limit),
    until_(after(now, limit)),
    silent_until_(now + silence) {}

std::optional<status> first_contact::failed(const status& why) {
  last_ = why;
  refusals_ = why.code() == status_code::unauthenticated ? refusals_ + 1 : 0;
  switch (why.code()) {
  case status_code::unavailable:
  case status_code::deadline_exceeded:
  case status_code::resource_exhausted: // no free thread or descriptor
  case status_code::unknown: return std::nullopt;
  case status_code::unauthenticated:
    if (refusals_ < most_refusals)
      return std::nullopt;
    return why;
  default: return why;
  }
}

void first_contact::reached() noexcept {
  last_ = {};
  refusals_ = 0;
}

status first_contact::late() const {
  return unavailable(fmt::format("the dispatcher at {} has not answered for {:.3g} s{}{}; start it "
                                 "(`headrace dispatcher`), or give `{}` more",
                                 dispatcher_, in_seconds(limit_), last_.ok() ? "" : ": ",
                                 last_.message(), option_));
}

bool first_contact::is_worth_a_word(time_point now) {
  if (now < silent_until_)
    return false;
  silent_until_ = time_point::max();
  return true;
}

std::string first_contact::word() const {
  return fmt::format("waiting for the dispatcher at {}, at most {:.3g} s (`{}`)", dispatcher_,
                     in_seconds(limit_), option_);
}

} // namespace headrace::detail
