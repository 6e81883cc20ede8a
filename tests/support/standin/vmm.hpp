// SPDX-License-Identifier: Apache-2.0
//
// Starting the processes of a sandbox with the command lines that Kata gives them.
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "model/ids.hpp"
#include "options.hpp"

namespace kcg::standin {

/// Value: where the files of a sandbox live below the run root.
struct Places {
  std::string state;   ///< /run/vc/sbs/<id>
  std::string vm;      ///< /run/vc/vm/<id>
  std::string shared;  ///< /run/kata-containers/shared/sandboxes/<id>

  [[nodiscard]] std::string control() const { return state + "/shim-monitor.sock"; }
  [[nodiscard]] std::string qmp() const { return vm + "/qmp.sock"; }
  [[nodiscard]] std::string file_sharing() const { return vm + "/vhost-fs.sock"; }
  [[nodiscard]] std::string pid_file() const { return vm + "/pid"; }
};
[[nodiscard]] Places places(const Options& options);

/// virtiofsd; it forks its second process itself. `socket`: a listening one, or none for a stand-in
/// that serves nobody; handed over as descriptor 3.
[[nodiscard]] Result<Pid> start_helper(const Options& options, const Fd& socket);
/// The same, but a shell that becomes it when there is a file `at`.
[[nodiscard]] Result<Pid> start_late_helper(const Options& options, const Fd& socket,
                                            const std::string& at);
/// `qmp`: a listening socket, handed over as descriptor 3.
[[nodiscard]] Result<Pid> start_vmm(const Options& options, const Fd& qmp);
/// The long-lived shim itself, for the `start` helper; its output goes to the bundle's log.
[[nodiscard]] Result<Pid> start_shim(const Options& options);

}  // namespace kcg::standin
