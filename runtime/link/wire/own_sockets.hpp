#pragma once

namespace headrace::detail {

/// Sockets that are not shared with other processes. Programs that this process starts do not
/// inherit them (close-on-exec is set when they are made), and in a forked child that continues
/// without exec they are closed before `fork` returns: otherwise a connection would outlive the
/// process that made it, and its peer would not detect the end. In the child their descriptors then
/// refer to `/dev/null`, so that objects which still have them do not use a file that the child
/// opens later.

/// A non-blocking TCP socket of `family` (AF_INET, AF_INET6). -1: see `errno`.
int open_own_socket(int family) noexcept;
/// The next connection of a listening socket, non-blocking. -1: see `errno`.
int accept_own_socket(int listening) noexcept;

} // namespace headrace::detail
