// SPDX-License-Identifier: Apache-2.0
//
// Prints one of our JSON documents, or a text of cgctl, made of the samples: what the schemas and
// the golden files are held against. usage: print-documents NAME
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "daemon/manager.hpp"
#include "plan/documents.hpp"
#include "support/sample_views.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/render.hpp"

namespace {

using namespace kcg;
using samples::degraded;
using samples::ignored;
using samples::legacy;
using samples::planned_v1;
using samples::planned_v2;

const Error kError{static_cast<int>(ManagerError::no_such_sandbox), "no sandbox 'xyz1'"};

cgctl::Style terminal() {
  cgctl::Style style;
  style.width = 80;
  style.now = 1'700'011'520;  // 3 h 12 min after the samples' start
  return style;
}

cgctl::Style pipe() {
  cgctl::Style style = terminal();
  style.width.reset();
  return style;
}

cgctl::Style ascii() {
  cgctl::Style style = terminal();
  style.utf8 = false;
  return style;
}

const std::map<std::string, std::function<std::string()>> kDocuments = {
    {"list.json", [] { return list_document({degraded(), legacy(), ignored()}); }},
    {"list-empty.json", [] { return list_document({}); }},
    {"show.json", [] { return show_document(degraded()); }},
    {"show-legacy.json", [] { return show_document(legacy()); }},
    {"tree.json", [] { return tree_document({degraded(), legacy()}, false); }},
    {"tree-one.json", [] { return tree_document({degraded()}, true); }},
    {"threads.json", [] { return threads_document(degraded()); }},
    {"plan.json", [] { return plan_document({planned_v2(), planned_v1()}, false); }},
    {"plan-one.json", [] { return plan_document({planned_v2()}, true); }},
    {"explain.json", [] { return explain_document({planned_v2(), planned_v1()}, false); }},
    {"explain-one.json", [] { return explain_document({planned_v2()}, true); }},
    {"error.json", [] { return cgctl::failure_text(kError, true, ""); }},
    {"error-note.json", [] { return cgctl::failure_text(kError, true, "no daemon"); }},
    {"list.pipe", [] { return cgctl::render_list(pipe(), {degraded(), legacy()}); }},
    {"list.tty", [] { return cgctl::render_list(terminal(), {degraded(), legacy()}); }},
    {"ignored.pipe", [] { return cgctl::render_ignored(pipe(), {ignored()}); }},
    {"threads.pipe", [] { return cgctl::render_threads(pipe(), degraded()); }},
    {"threads.tty", [] { return cgctl::render_threads(terminal(), degraded()); }},
    {"show.tty", [] { return cgctl::render_show(terminal(), degraded()); }},
    {"show-legacy.tty", [] { return cgctl::render_show(terminal(), legacy()); }},
    {"tree.tty", [] { return cgctl::render_tree(terminal(), {degraded(), legacy()}); }},
    {"tree.ascii", [] { return cgctl::render_tree(ascii(), {degraded()}); }},
    {"plan.tty",
     [] {
       return cgctl::render_plan(terminal(), plan_document({planned_v2(), planned_v1()}, false))
           .value();
     }},
    {"explain.tty",
     [] {
       return cgctl::render_explain(terminal(), explain_document({planned_v2()}, true)).value();
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1)
    for (const auto& [name, make] : kDocuments) std::puts(name.c_str());
  if (argc != 2) return argc == 1 ? 0 : 2;
  const auto found = kDocuments.find(argv[1]);
  if (found == kDocuments.end()) return 2;
  const auto text = found->second();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
