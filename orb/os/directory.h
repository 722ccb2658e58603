// Directories that a program keeps files in for others of its user.
// Threads: any but real-time ones.
#pragma once

#include <string>

#include "orb/base/expected.h"

namespace corelane::os {

// Sees to it that the directory is there: makes it when its parent is there, and no more than that, so that a path with
// a slip in it is found out. It is no link, and belongs to this user or to root; who else may write into it is what its
// mode says. Else what is wrong, and how to mend it, as a sentence that begins with the path.
Expected<void, std::string> make_directory(const std::string& path);

// Of a path that the system did not let this user open, make or replace: whose it is, or whose the nearest directory
// above it is that can be seen, and what to do about that; it begins with a semicolon. "" where that is not the reason.
std::string ownership_text(const std::string& path);

// "a directory", "a fifo": what a mode of stat(2) says is there.
std::string kind_of_file(unsigned mode);

}  // namespace corelane::os
