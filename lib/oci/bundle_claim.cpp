// SPDX-License-Identifier: Apache-2.0
//
// Whose container is a bundle that cannot be read? Its annotations are looked at as they come, up
// to the place where the text stops being JSON.
#include <map>
#include <nlohmann/json.hpp>

#include "oci/bundle_json.hpp"

namespace kcg {

namespace {

using nlohmann::json;

/// Resource-free listener: keeps the texts of the top level's "annotations".
class Annotations final : public json::json_sax_t {
 public:
  std::map<std::string, std::string> found;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const json::string_t&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool string(json::string_t& value) override {
    if (inside_ && depth_ == 2) found[key_] = value;
    return true;
  }
  bool key(json::string_t& value) override {
    if (depth_ == 1) inside_ = value == "annotations";
    if (depth_ == 2) key_ = value;
    return true;
  }
  bool start_object(std::size_t) override { return deeper(); }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_object() override { return higher(); }
  bool end_array() override { return higher(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

 private:
  bool deeper() {
    ++depth_;
    return true;
  }
  bool higher() {
    --depth_;
    return true;
  }
  std::size_t depth_ = 0;
  bool inside_ = false;
  std::string key_;
};

}  // namespace

std::optional<std::string> claimed_sandbox(std::string_view text, BundleOrigin::Root root) {
  Annotations annotations;
  (void)json::sax_parse(text, &annotations);  // ignored: what came before the error is kept
  const auto named = [&](const char* type, const char* id) -> std::optional<std::string> {
    const auto is = annotations.found.find(type);
    const auto of = annotations.found.find(id);
    if (is == annotations.found.end() || of == annotations.found.end()) return std::nullopt;
    return is->second == "container" ? std::optional(of->second) : std::nullopt;
  };
  if (root == BundleOrigin::Root::crio)
    return named("io.kubernetes.cri-o.ContainerType", "io.kubernetes.cri-o.SandboxID");
  return named("io.kubernetes.cri.container-type", "io.kubernetes.cri.sandbox-id");
}

}  // namespace kcg
