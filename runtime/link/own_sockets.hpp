#pragma once

namespace headrace {

/// Sockets that no other process shares. Programs that this process starts do not inherit them
/// (close-on-exec from the first moment), and in a forked child that continues without exec they
/// are closed before `fork` returns: else a connection would outlive the process that had it, and
/// its peer would not notice the end. In the child their numbers then stand for `/dev/null`, so
/// that objects which still have them do not use a file that the child opens later.

/// A non-blocking TCP socket of `family` (AF_INET, AF_INET6). -1: see `errno`.
int open_own_socket(int family) noexcept;
/// The next connection of a listening socket, non-blocking. -1: see `errno`.
int accept_own_socket(int listening) noexcept;

} // namespace headrace
