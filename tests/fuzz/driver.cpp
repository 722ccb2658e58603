// Replaces libFuzzer if it is not available. Passes each file on the command line, and each file of a folder, to the
// fuzz target once. After --changing N it passes each file N more times, in memory that another thread changes
// meanwhile.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "tests/support/bytes/changing_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void feed(corelane::Bytes bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

void feed_changing(corelane::Bytes bytes, int times) {
  corelane::testing::ChangingBytes changing(bytes.size());
  for (int i = 0; i < times; ++i) feed(changing.put(bytes));
}

void feed_file(const std::filesystem::path& path, int times_changing) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  std::printf("%s: %zu bytes\n", path.c_str(), bytes.size());
  std::fflush(stdout);  // so that the last line names the file that crashed the target
  feed(std::as_bytes(std::span(bytes)));
  if (times_changing != 0) feed_changing(std::as_bytes(std::span(bytes)), times_changing);
}

}  // namespace

int main(int count, char** words) {
  int fed = 0, times_changing = 0;
  for (int i = 1; i < count; ++i) {
    if (words[i] == std::string_view("--changing") && i + 1 < count) {
      times_changing = std::atoi(words[++i]);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(words[i])) {
      if (!entry.is_regular_file()) continue;
      feed_file(entry.path(), times_changing);
      ++fed;
    }
  }
  std::printf("%d inputs\n", fed);
  return fed > 0 ? 0 : 1;
}
