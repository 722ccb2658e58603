#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>

#include "services/corelane/commands/command.h"
#include "services/corelane/naming/naming.h"
#include "services/corelane/references/ior.h"

namespace corelane::tool {
namespace {

using Work = int (*)(const NamingOptions& options, std::ostream& out, std::ostream& err);

struct Chosen {
  NamingOptions options{};
  Work work = nullptr;
};

CLI::App* add_part(CLI::App& app, const std::shared_ptr<Chosen>& chosen, std::vector<std::string>& orb_options,
                   const char* name, const char* summary, Work work) {
  CLI::App* const part = app.add_subcommand(name, summary);
  part->callback([chosen, work] { chosen->work = work; });
  add_format(*part, chosen->options.format);
  const auto use = [&orb_options](const std::string& word) {
    const auto reference = sound_reference_of(word, std::cin);
    if (!reference) throw CLI::ValidationError("--service", reference.error().text);
    orb_options.insert(orb_options.end(), {"-ORBNamingService", *reference});
  };
  part->add_option_function<std::string>("--service", use,
                                         "the naming service, such as corbaloc::host:2809/NameService, or a file that "
                                         "holds its reference [this host's]")
      ->type_name("REFERENCE");
  part->footer("Exit status: 0 done, 1 failed (the reason is printed), 2 the command line was wrong.");
  return part;
}

void add_name(CLI::App* part, NamingOptions& options, bool required, const char* help) {
  part->add_option("NAME", options.name, help)->type_name("")->required(required);
}

void define_bind(CLI::App* part, NamingOptions& options) {
  add_name(part, options, true, "the new name, such as plant.line1/controller");
  part->add_option_function<std::string>(
          "REFERENCE", [&options](const std::string& word) { options.reference = word; },
          "the object to bind: IOR:..., corbaloc:..., a file that holds one, or -")
      ->type_name("");
  part->add_flag("--context", options.context, "make a context of that name; needs no REFERENCE");
  part->add_flag("--replace", options.replace, "replace a binding that the name has already");
  part->add_flag("--parents", options.parents, "make the missing contexts of the name's path");
  add_pid(*part, "--process", options.process, "remove the name when this process ends (Corelane's nameserver only)");
}

void define_watch(CLI::App* part, NamingOptions& options) {
  part->add_option("PATTERN", options.pattern, "* stands for a part of a component, ** for any number of components")
      ->type_name("")
      ->capture_default_str();
  add_duration(*part, "--interval", options.interval, "asks once in so long [500ms]", std::chrono::milliseconds{1});
  part->add_option("--changes", options.changes, "number of changes to wait for; 0: run until it is stopped")
      ->type_name("COUNT")
      ->check(CLI::Range(0, 1'000'000'000).description(""))
      ->capture_default_str();
}

}  // namespace

Action define_ns(CLI::App& app, std::vector<std::string>& orb_options) {
  const auto chosen = std::make_shared<Chosen>();
  NamingOptions& options = chosen->options;
  app.require_subcommand(1);
  app.footer(
      "In names, / separates components, and . separates an id from its kind; \\ before one of them makes it an "
      "ordinary character.");
  const auto part = [&](const char* name, const char* summary, Work work) {
    return add_part(app, chosen, orb_options, name, summary, work);
  };
  auto* const list = part("list", "show the names in a context", &list_names);
  add_name(list, options, false, "the context [the root]");
  list->add_flag("-r,--recursive", options.recursive, "list the contexts below it, too");
  list->add_flag("-l,--long", options.details,
                 "also show whether each name ends with a process, and with which one (Corelane's nameserver only)");
  add_name(part("resolve", "print the reference that a name means", &resolve_name), options, true, "the name");
  define_bind(part("bind", "give an object a name, or make a context (--context)", &bind_name), options);
  auto* const unbind = part("unbind", "take a name away", &unbind_name);
  add_name(unbind, options, true, "the name");
  auto* const destroy = unbind->add_flag("--destroy", options.destroy,
                                         "if the name means a context, destroy that, too; it has to be empty");
  unbind
      ->add_flag("--name-only", options.name_only,
                 "if the name means a context, remove only the name and keep the context")
      ->excludes(destroy);
  part("status", "show the state of the nameserver and its store (Corelane's nameserver only)", &show_naming_status)
      ->footer(
          "Exit status: 0 the nameserver works, 1 names may be out of date or cannot be bound, 2 the command line was "
          "wrong.");
  define_watch(part("watch", "print each name that is bound or unbound", &watch_names), options);
  return [chosen](const ToolSettings& settings) {
    chosen->options.orb_options = settings.orb_options;
    chosen->options.trusted = settings.trusted;
    if (!settings.names_a_service) chosen->options.sockets = settings.nameserver_sockets;
    return chosen->work(chosen->options, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
