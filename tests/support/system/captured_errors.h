// CapturedErrors captures standard error, and so the log, until destruction.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "orb/os/fd.h"

namespace corelane::testing {

class CapturedErrors {
 public:
  CapturedErrors() : saved_(dup(2)), file_(std::tmpfile()) { dup2(fileno(file_), 2); }
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  ~CapturedErrors() {
    dup2(saved_.get(), 2);
    std::fclose(file_);
  }
  std::string text() const {
    std::string text(65536, '\0');
    const auto size = pread(fileno(file_), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return text;
  }
  std::size_t times(const std::string& words) const {
    const std::string all = text();
    std::size_t count = 0;
    for (std::size_t at = all.find(words); at != all.npos; at = all.find(words, at + 1)) ++count;
    return count;
  }

 private:
  const os::Fd saved_;
  std::FILE* const file_;
};

}  // namespace corelane::testing
