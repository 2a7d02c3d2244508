#pragma once

namespace headrace {

/// Sockets of this process that no other one shares. Programs that it starts do not get them
/// (close-on-exec from the first moment), and a forked child that goes on without exec closes them
/// before `fork` returns there: else a connection would outlive the process that had it, and its
/// peer would not learn of the end. In the child the numbers then stand for `/dev/null`, so that
/// what still names one touches no file that the child opens later.

/// A non-blocking TCP socket of `family` (AF_INET, AF_INET6). -1: see `errno`.
int open_own_socket(int family) noexcept;
/// The next connection of a listening socket, non-blocking. -1: see `errno`.
int accept_own_socket(int listening) noexcept;

} // namespace headrace
