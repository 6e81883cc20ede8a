// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/top/model.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "model/enums.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl::top {

namespace {

using Number = std::optional<std::uint64_t>;
using Json = nlohmann::ordered_json;

/// Thousandths of `time` (microseconds) that a counter of microseconds grew by.
Number growth(const Number& before, const Number& after, std::int64_t time) {
  if (!before || !after || *after < *before || time <= 0) return std::nullopt;
  return (*after - *before) * 1000 / static_cast<std::uint64_t>(time);
}

std::string cpus(const Number& milli) { return milli ? hundredths_text(*milli) : ""; }

/// "12.3%"
std::string percent(const Number& permille) {
  return permille ? fmt::format("{}.{}%", *permille / 10, *permille % 10) : "";
}

std::string memory(const Rates& row) {
  if (!row.memory_used) return "";
  return row.memory_limit ? sizes_text(*row.memory_used, *row.memory_limit)
                          : size_text(*row.memory_used);
}

std::string overhead(const Rates& row) {
  return row.overhead_used ? sizes_text(*row.overhead_used, row.overhead_declared) : "";
}

Number of(const Rates& row, Order order) {
  switch (order) {
    case Order::cpu:
      return row.cpu_milli;
    case Order::memory:
      return row.memory_used;
    case Order::throttled:
      return row.throttled_permille;
    case Order::pressure:
      return std::max(row.memory_stall_permille, row.cpu_stall_permille);
    case Order::name:
      break;
  }
  return std::nullopt;
}

std::vector<Column> columns() {
  std::vector<Column> out = {
      {"POD"}, {"CPU", Align::right}, {"MEMORY"}, {"OVERHEAD"}, {"THROTTLED", Align::right}};
  for (const auto* name : {"VCPU", "IO", "VMM", "SHIM"}) out.push_back({name, Align::right});
  out.push_back({"MEM WAIT", Align::right});
  out.push_back({"CPU WAIT", Align::right});
  out.push_back({"ID", Align::left, Shown::in_a_pipe});
  return out;
}

/// What a terminal shows of what is not known, too.
Cell cell(const Style& style, const std::string& text) {
  return {text.empty() && style.width ? "-" : text};
}

Row row_of(const Style& style, const Rates& row) {
  const bool short_of_cpu = row.throttled_permille.value_or(0) >= 100;
  Row out{{{row.title},
           cell(style, cpus(row.cpu_milli)),
           cell(style, memory(row)),
           cell(style, overhead(row)),
           cell(style, percent(row.throttled_permille))}};
  if (short_of_cpu) out.cells.back().paint = Paint::warning;
  if (row.overhead_used.value_or(0) > row.overhead_declared) out.cells[3].paint = Paint::warning;
  for (const auto& one : row.class_milli) out.cells.push_back(cell(style, cpus(one)));
  out.cells.push_back(cell(style, percent(row.memory_stall_permille)));
  out.cells.push_back(cell(style, percent(row.cpu_stall_permille)));
  out.cells.push_back({row.id});
  return out;
}

std::string sums(const std::vector<Rates>& rows) {
  std::uint64_t cpu = 0, used = 0;
  for (const auto& row : rows) {
    cpu += row.cpu_milli.value_or(0);
    used += row.memory_used.value_or(0);
  }
  return fmt::format("{} sandbox{}: {}, {}", rows.size(), rows.size() == 1 ? "" : "es",
                     cpus_text(cpu), size_text(used));
}

void put(Json& object, const char* key, const Number& number) {
  if (number) object[key] = *number;
}

}  // namespace

std::vector<Rates> rates(const Sample& before, const Sample& after) {
  std::vector<Rates> rows;
  const auto time = (after.at - before.at).count();
  for (const auto& [id, now] : after.sandboxes) {
    const auto old = before.sandboxes.find(id);
    const Usage then = old == before.sandboxes.end() ? Usage() : old->second;
    Rates row;
    row.id = id;
    row.title = now.title;
    row.cpu_milli = growth(then.cpu_usec, now.cpu_usec, time);
    for (std::size_t i = 0; i < row.class_milli.size(); ++i)
      row.class_milli[i] = growth(then.class_usec[i], now.class_usec[i], time);
    row.throttled_permille = growth(then.throttled_usec, now.throttled_usec, time);
    row.memory_stall_permille = growth(then.memory_stall_usec, now.memory_stall_usec, time);
    row.cpu_stall_permille = growth(then.cpu_stall_usec, now.cpu_stall_usec, time);
    row.memory_used = now.memory_used;
    row.memory_limit = now.memory_limit;
    row.overhead_used = now.overhead_used;
    row.overhead_declared = now.overhead_declared;
    rows.push_back(std::move(row));
  }
  return rows;
}

void sort_rates(std::vector<Rates>& rows, Order order) {
  std::stable_sort(rows.begin(), rows.end(), [order](const Rates& a, const Rates& b) {
    const auto x = of(a, order), y = of(b, order);
    return x != y ? x > y : a.title < b.title;
  });
}

std::string render(const Style& style, const std::vector<Rates>& rows) {
  if (rows.empty() && style.width) return "No sandbox runs here.\n";
  std::vector<Row> lines;
  for (const auto& row : rows) lines.push_back(row_of(style, row));
  auto out = table(style, columns(), lines);
  if (style.width) out += paragraph(style, 0, {sums(rows), Paint::none, ""});
  return out;
}

std::string document(const std::vector<Rates>& rows, std::chrono::milliseconds over) {
  Json top;
  top["version"] = 1;
  top["over_msec"] = over.count();
  top["sandboxes"] = Json::array();
  for (const auto& row : rows) {
    Json entry;
    entry["sandbox"] = valid_utf8(row.id);
    entry["title"] = valid_utf8(row.title);
    put(entry, "cpu_milli", row.cpu_milli);
    for (std::size_t i = 0; i < row.class_milli.size(); ++i)
      if (row.class_milli[i])
        entry["class_cpu_milli"][std::string(name(static_cast<ThreadClass>(i)))] =
            *row.class_milli[i];
    put(entry, "throttled_permille", row.throttled_permille);
    put(entry, "memory_used_bytes", row.memory_used);
    put(entry, "memory_limit_bytes", row.memory_limit);
    put(entry, "overhead_used_bytes", row.overhead_used);
    entry["overhead_declared_bytes"] = row.overhead_declared;
    put(entry, "memory_stall_permille", row.memory_stall_permille);
    put(entry, "cpu_stall_permille", row.cpu_stall_permille);
    top["sandboxes"].push_back(std::move(entry));
  }
  return top.dump(2) + "\n";
}

}  // namespace kcg::cgctl::top
