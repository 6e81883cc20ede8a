// SPDX-License-Identifier: Apache-2.0
#include "oci/parse_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace kcg {

namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 64;

/// Puts together what is wanted of what the parser tells.
class Builder final : public json::json_sax_t {
 public:
  explicit Builder(WantedJson wanted) : wanted_(wanted) { next_.all = wants(""); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(json::number_integer_t value) override { return put(value); }
  bool number_unsigned(json::number_unsigned_t value) override { return put(value); }
  bool number_float(json::number_float_t value, const json::string_t&) override {
    return put(value);
  }
  bool string(json::string_t& value) override { return put(std::move(value)); }
  bool binary(json::binary_t&) override { return true; }  // there is none in a text
  bool start_object(std::size_t) override { return open(json::value_t::object); }
  bool start_array(std::size_t) override { return open(json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(json::string_t& name) override {
    if (left_out_ > 0) return true;
    const auto& in = open_.back();
    next_ = {nullptr, "", in.all};
    if (!in.all) {
      next_.path = in.path.empty() ? name : in.path + "." + name;
      next_.all = wants(next_.path);
      if (!next_.all && !leads_on(next_.path)) return true;
    }
    next_.value = &(*in.value)[name];
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    wrong_ = fmt::format("not JSON: {}", escaped(error.what(), 200));
    return false;
  }

  [[nodiscard]] json take() { return std::move(top_); }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  /// Value: where something stands, and whether all below it is wanted.
  struct Place {
    json* value = nullptr;  ///< nullptr: it is left out
    std::string path;       ///< unknown where all is wanted
    bool all = false;
  };

  [[nodiscard]] bool wants(std::string_view path) const {
    return std::find(wanted_.begin(), wanted_.end(), path) != wanted_.end();
  }

  [[nodiscard]] bool leads_on(std::string_view path) const {
    return std::any_of(wanted_.begin(), wanted_.end(), [&](std::string_view one) {
      return one.size() > path.size() && one.starts_with(path) && one[path.size()] == '.';
    });
  }

  /// Where the next value goes.
  Place next() {
    if (left_out_ > 0) return {};
    if (open_.empty()) next_.value = &top_;
    if (open_.empty() || open_.back().value->is_object()) return std::exchange(next_, {});
    auto place = open_.back();
    place.value = &place.value->emplace_back();
    return place;
  }

  template <class Value>
  bool put(Value&& value) {
    if (const auto at = next(); at.value != nullptr) *at.value = std::forward<Value>(value);
    return true;
  }

  bool open(json::value_t kind) {
    if (open_.size() + left_out_ == kDeepest) {
      wrong_ = fmt::format("nested more than {} levels deep", kDeepest);
      return false;
    }
    auto at = next();
    if (at.value == nullptr) {
      ++left_out_;
      return true;
    }
    *at.value = kind;
    open_.push_back(std::move(at));
    return true;
  }

  bool close() {
    if (left_out_ > 0)
      --left_out_;
    else
      open_.pop_back();
    return true;
  }

  WantedJson wanted_;
  json top_;
  std::vector<Place> open_;   ///< objects and arrays that are not at their end, from the top down
  std::size_t left_out_ = 0;  ///< such ones below them of which nothing is wanted
  Place next_;                ///< of the value that follows a key
  std::string wrong_;
};

}  // namespace

Result<json> parse_json(std::string_view text, WantedJson wanted) {
  Builder builder(wanted);
  if (!json::sax_parse(text, &builder)) return fail(0, "{}", builder.wrong());
  return builder.take();
}

json beginning_of_json(std::string_view text, WantedJson wanted) {
  Builder builder(wanted);
  (void)json::sax_parse(text, &builder);  // ignored: what came before the error is kept
  return builder.take();
}

}  // namespace kcg
