// SPDX-License-Identifier: Apache-2.0
#include "integration/documents.hpp"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "base/fd.hpp"
#include "integration/process.hpp"

namespace kcg::integration {

std::string misfit(const std::string& kind, const std::string& document) {
  char name[] = "/tmp/kcg-document-XXXXXX";
  const Fd file(mkstemp(name));
  if (write(file.get(), document.data(), document.size()) != static_cast<ssize_t>(document.size()))
    throw std::runtime_error(name);
  const auto ended = run(
      {"python3", KCG_FITS_SCHEMA, std::string(KCG_SCHEMAS) + "/" + kind + ".schema.json", name});
  unlink(name);
  return ended.status == 0 ? "" : kind + ": " + ended.out + ended.err;
}

}  // namespace kcg::integration
