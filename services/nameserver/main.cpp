// corelane-nameserver is the Naming Service as a daemon.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "orb/corba/init_orb.h"
#include "orb/core/client/name_service.h"
#include "orb/core/config/command_line.h"
#include "orb/core/config/orb_options.h"
#include "orb/core/config/settings_of.h"
#include "orb/core/runtime.h"
#include "orb/core/stop_signals.h"
#include "orb/os/files/small_file.h"
#include "orb/os/log.h"
#include "orb/os/process/standard_descriptors.h"
#include "services/nameserver/broker/broker.h"
#include "services/nameserver/broker/channel_by_name.h"
#include "services/nameserver/nameserver.h"
#include "services/nameserver/start.h"

namespace {

using namespace corelane;
using namespace corelane::nameserver;

int fault(const std::string& text, int status) { return std::cerr << "corelane-nameserver: " << text << "\n", status; }

Expected<void, os::FileFault> tell_where(const CORBA::ORB& orb, const std::string& reference,
                                         const std::string& reference_file) {
  if (!reference_file.empty())
    if (auto written = os::write_small_file(reference_file, reference + "\n"); !written) return written;
  for (const std::string& url : urls_of(orb.endpoints())) std::cout << url << "\n";
  // Clients of this host find it without that output. A daemon may have been started without a standard output.
  if (const std::string lost = os::output_fault(); !lost.empty())
    os::log::warn("naming: cannot print the nameserver's reference: " + lost);
  return {};
}

// Starts the broker, which connects processes of this host over channels. If it cannot start, names are served without
// it.
std::unique_ptr<Broker> start_broker(const CORBA::ORB& orb) {
  if (orb.settings().naming.socket == "off") return nullptr;
  auto broker = Broker::start(broker_path(core::runtime_directory_of(orb.settings())));
  if (broker) return std::move(*broker);
  os::log::warn(broker.error());
  return nullptr;
}

int serve(const std::vector<std::string>& options, const std::string& reference_file) {
  const auto orb = corba::init_orb(options, "nameserver");
  const core::SettingsOfServices& services = orb->settings().services;
  const auto& settings = services.of<NameserverSettings>();
  // May wait for etcd. Until it returns, signals end the process at once.
  auto store = store_of(settings, services.of<EtcdSettings>());
  if (!store) return fault(store.error(), 1);
  const core::StopSignals stop(*orb);
  const StoreStatus kept = (*store)->status();
  Nameserver server(orb, std::move(*store), settings);
  server.open();
  const auto broker = start_broker(*orb);
  os::log::info("naming: names are kept in " + kept.kind + (kept.place.empty() ? "" : " " + kept.place));
  const auto told = tell_where(*orb, orb->object_to_string(server.root()), reference_file);
  if (told) orb->run();
  server.stop();
  orb->destroy();
  if (!told) return fault(told.error().text, 1);
  os::log::info("naming: stopped");
  return 0;
}

// If the nameserver cannot listen because another process has its socket, names that process.
int serve_alone(const std::vector<std::string>& options, const std::string& reference_file) try {
  return serve(options, reference_file);
} catch (const CORBA::COMM_FAILURE&) {
  const auto settings = core::settings_of(options);
  const std::string why = settings ? fault_of_place(core::nameserver_socket(*settings)) : "";
  if (why.empty()) throw;
  return fault(why, 1);
}

int run(std::vector<std::string> words) {
  const auto orb_options = core::take_orb_options(words);
  CLI::App app{
      "Serves names (CosNaming) to CORBA clients: at a Unix socket, which clients of this host find by themselves, and "
      "at TCP port 2809. Prints its addresses on standard output when it is ready, and runs until SIGTERM or SIGINT.",
      "corelane-nameserver"};
  std::string reference_file;
  app.add_option("--ior-file", reference_file, "write the root context's reference to this file")->type_name("FILE");
  app.set_version_flag("--version", "corelane-nameserver " CORELANE_VERSION);
  app.footer(
      "Settings are -ORB options, CORELANE_ variables and corelane.toml, as for any server. Settings of naming.* are "
      "for the nameserver, such as -ORBNamingStore. See docs/naming.md and docs/configuration.md.");
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return fault(core::fault_of_command_line(app, words, error.what()) + "; see corelane-nameserver --help", 2);
  }
  const auto options = nameserver_options(orb_options);
  if (!options) return fault(options.error().text, 2);
  return serve_alone(*options, reference_file);
}

}  // namespace

int main(int argc, char* argv[]) {
  os::hold_standard_descriptors();
  os::outlive_readers();
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    return fault(error.what(), 1);
  }
}
