// Fuzz target: any text is a name of the Naming Service or is refused, and each name has one text. The same holds for
// corbaname: URLs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "orb/giop/corbaname.h"

using namespace corelane;

namespace {

void check_name(std::string_view text) {
  const auto name = giop::parse_name(text);
  if (name && giop::to_string(*name) != text) std::abort();
  if (!name && name.error().text.empty()) std::abort();
}

void check_url(std::string_view text) {
  const auto place = giop::parse_corbaname(text);
  if (!place || place->name.empty()) return;
  std::string address = giop::to_string(place->context);
  address.erase(0, address.find(':') + 1);
  const auto url = giop::corbaname_of(address, giop::to_string(place->name));
  if (!url) std::abort();
  const auto again = giop::parse_corbaname(*url);
  if (!again || *again != *place) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_name(text);
  check_url(text);
  check_url("corbaname:" + std::string(text));
  return 0;
}
