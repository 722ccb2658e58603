// Whether whoever answers at a Unix socket may be believed. Anybody can put a socket at a path that others look at; the
// kernel tells of a connected one who listens there (SO_PEERCRED, unix(7)), which no file in between can forge.
// Threads: any.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>

namespace corelane::os {

// Nothing: the server is root's, this process's user's, or that of one of these users. Else whose it is, as the end of
// a sentence about it: "is run by user 1001, neither this one nor root".
std::optional<std::string> why_not_trusted(int connected_socket, std::span<const uid_t> others = {});

}  // namespace corelane::os
