// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target over the files of the directories that are its arguments: what every build
// does, with any compiler. Fails when there is nothing to replay.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

bool replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  if (!file.is_open()) return false;
  return LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                bytes.size()) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      if (!replay(entry.path())) return 1;
      ++count;
    }
  }
  (void)std::printf("%zu inputs replayed\n", count);  // ignored: only for people
  return count > 0 ? 0 : 1;
}
