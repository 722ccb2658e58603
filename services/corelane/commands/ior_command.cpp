#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "services/corelane/commands/command.h"
#include "services/corelane/references/ior.h"

namespace corelane::tool {

Action define_ior(CLI::App& app, std::vector<std::string>&) {
  struct Options {
    std::string what{};
    Format format = Format::table;
  };
  const auto options = std::make_shared<Options>();
  app.footer(
      "Makes no call; corelane ping makes one. Exit status: 0 the reference is sound, 1 it is no reference or one of "
      "its profiles is damaged, 2 the command line was wrong.");
  app.add_option("REFERENCE", options->what, "IOR:..., corbaloc:..., corbaname:..., a file that holds one, or -")
      ->type_name("")
      ->required();
  add_format(app, options->format);
  return [options](const ToolSettings&) {
    return show_reference(options->what, options->format, std::cin, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
