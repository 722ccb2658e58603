#include "orb/transport/host_view.h"

#include "orb/os/machine/host.h"

namespace corelane::transport {

const HostView& HostView::of_process() {
  static const HostView view{
      .boot_id = os::this_host().boot_id, .mount_namespace = os::mount_namespace(), .name = os::host_name()};
  return view;
}

}  // namespace corelane::transport
