// Makes and checks directories in which a program keeps files for other programs of its user.
// Threads: any but real-time ones.
//
// The folder orb/os/files reads, writes and watches small files and directories.
#pragma once

#include <string>

#include "orb/base/expected.h"

namespace corelane::os {

// Ensures that the directory exists. Makes it if its parent exists, but makes no parents, so that a typing error in the
// path is noticed. The path must not be a link, and must belong to this user or to root. The directory's mode decides
// who else may write there. An error is a sentence that begins with the path and says what is wrong and how to fix it.
Expected<void, std::string> make_directory(const std::string& path);

// Explains why this user could not open, make or replace `path`. Names the owner of the path, or of the nearest visible
// directory above it, and what to do. Begins with a semicolon. Returns "" if ownership is not the reason.
std::string ownership_text(const std::string& path);

// Returns what a mode of stat(2) describes: "a directory", "a fifo".
std::string kind_of_file(unsigned mode);

}  // namespace corelane::os
