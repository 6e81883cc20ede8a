// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/node_calls.hpp"

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "daemon/bus/convert.hpp"
#include "daemon/bus/errors.hpp"
#include "daemon/bus/names.hpp"
#include "show/documents.hpp"
#include "show/view_documents.hpp"

namespace kcg::bus {

namespace {

/// The bus drops a connection that sends it more than 32 MiB at once.
constexpr std::size_t kLargestAnswer = std::size_t{16} << 20;

/// Puts a call on the desk. What a step throws is the caller's answer.
void put_on_desk(Context& context, const Call& call, std::function<bool()> step) {
  const auto caller = call.caller();
  auto ticket = or_throw(context.callers->enter(caller));
  auto guarded = [call, step = std::move(step)] {
    try {
      try {
        return step();
      } catch (const sdbus::Error& error) {
        call.refuse(error);
      } catch (const std::exception& error) {  // one answer's trouble, not the desk's
        call.refuse(make_error("org.freedesktop.DBus.Error.Failed", valid_utf8(error.what())));
      }
    } catch (const sdbus::Error&) {
      // The connection is lost, and with it the caller: the pump finds out and says so.
    }
    return false;
  };
  or_throw(context.desk->take(caller, std::move(ticket), std::move(guarded)));
}

/// Value: what an answer says of one sandbox, ready to be copied.
struct Part {
  std::uint64_t revision = 0;  ///< of the object that it was made from
  sdbus::Signal properties;    ///< never sent
};

/// Resource: an answer over all sandboxes. The parts are made one by one; those of sandboxes that
/// have changed or come since are made again when all are put together.
class AllSandboxes final {
 public:
  using Tell = Properties (*)(Context&, const SandboxView&);
  using Write = void (*)(sdbus::MethodReply&, const std::string& id, sdbus::Signal&);

  AllSandboxes(Context& context, const SandboxObjects& sandboxes, Call call, const char* row,
               Tell tell, Write write)
      : context_(context),
        sandboxes_(sandboxes),
        call_(std::move(call)),
        row_(row),
        tell_(tell),
        write_(write),
        ids_(ids_of(sandboxes)) {}

  bool step() {
    if (next_ == ids_.size()) return answer();
    const auto it = sandboxes_.find(ids_[next_++]);
    if (it != sandboxes_.end()) parts_.insert_or_assign(it->first, make(*it->second));
    return true;
  }

 private:
  [[nodiscard]] Part make(SandboxObject& object) const {
    Part part{object.revision(), object.scratch()};
    part.properties << tell_(context_, object.view());
    part.properties.seal();
    return part;
  }

  bool answer() {
    auto reply = call_.createReply();
    reply.openContainer(row_);
    for (const auto& [id, object] : sandboxes_) {
      auto known = parts_.find(id);
      if (known == parts_.end() || known->second.revision != object->revision())
        known = parts_.insert_or_assign(id, make(*object)).first;
      known->second.properties.rewind(true);
      write_(reply, id, known->second.properties);
    }
    reply.closeContainer();
    reply.send();
    return false;
  }

  Context& context_;
  const SandboxObjects& sandboxes_;
  Call call_;
  const char* row_;
  Tell tell_;
  Write write_;
  std::vector<std::string> ids_;
  std::size_t next_ = 0;
  std::map<std::string, Part> parts_;
};

void put_on_desk(Context& context, const Call& call, AllSandboxes work) {
  const auto kept = std::make_shared<AllSandboxes>(std::move(work));
  put_on_desk(context, call, [kept] { return kept->step(); });
}

/// Memory is read now, or was measured since: it changes without a pass.
Properties current_overview(Context& context, const SandboxView& view) {
  auto out = overview(view);
  if (const auto used = context.manager.memory_used(view.id))
    out["MemoryCurrent"] = sdbus::Variant(*used);
  const auto measured = context.manager.measured(view.id);
  if (measured.overhead.used) out["MemoryOverheadUsed"] = sdbus::Variant(*measured.overhead.used);
  if (measured.overhead.peak) out["MemoryOverheadPeak"] = sdbus::Variant(*measured.overhead.peak);
  if (measured.cpu_milli) out["CpuUsedMilli"] = sdbus::Variant(*measured.cpu_milli);
  return out;
}

Properties object_properties(Context&, const SandboxView& view) {
  Properties out;
  for (const auto& name : property_names()) out.emplace(name, property(view, name));
  for (const auto* name : {"Threads", "Groups"}) out[name] = sdbus::Variant(PropertiesList());
  return out;
}

void write_listed(sdbus::MethodReply& reply, const std::string& id, sdbus::Signal& part) {
  reply.openStruct("soa{sv}");
  reply << id << sdbus::ObjectPath(sandbox_path(id));
  part.copyTo(reply, true);
  reply.closeStruct();
}

void write_object(sdbus::MethodReply& reply, const std::string& id, sdbus::Signal& part) {
  reply.openDictEntry("oa{sa{sv}}");
  reply << sdbus::ObjectPath(sandbox_path(id));
  reply.openContainer("{sa{sv}}");
  for (const auto* name : {"org.freedesktop.DBus.Peer", "org.freedesktop.DBus.Introspectable",
                           "org.freedesktop.DBus.Properties"}) {
    reply.openDictEntry("sa{sv}");
    reply << name << Properties();
    reply.closeDictEntry();
  }
  reply.openDictEntry("sa{sv}");
  reply << kSandboxInterface;
  part.copyTo(reply, true);
  reply.closeDictEntry();
  reply.closeContainer();
  reply.closeDictEntry();
}

/// Resource: the bundles that are left alone, one per step. No signal speaks of them, so the answer
/// can be written as they come.
class AllIgnored final {
 public:
  AllIgnored(Manager& manager, const Call& call) : manager_(manager), reply_(call.createReply()) {}

  bool step() {
    if (!views_) {
      views_ = manager_.list(true);
      reply_.openContainer("(sa{sv})");
    }
    if (next_ == views_->size()) {
      reply_.closeContainer();
      reply_.send();
      return false;
    }
    const auto& view = (*views_)[next_++];
    if (view.ignored.empty()) return true;
    reply_.openStruct("sa{sv}");
    reply_ << valid_utf8(view.id) << ignored_overview(view);
    reply_.closeStruct();
    return true;
  }

 private:
  Manager& manager_;
  sdbus::MethodReply reply_;
  std::optional<std::vector<SandboxView>> views_;
  std::size_t next_ = 0;
};

/// Resource: the registrations, one per step.
class AllRegistrations final {
 public:
  AllRegistrations(Manager& manager, const Call& call)
      : manager_(manager), reply_(call.createReply()) {}

  bool step() {
    if (!all_) {
      all_ = manager_.registered();
      reply_.openContainer("(sa{sv})");
    }
    if (next_ == all_->size()) {
      reply_.closeContainer();
      reply_.send();
      return false;
    }
    const auto& one = (*all_)[next_++];
    reply_.openStruct("sa{sv}");
    reply_ << one.id << registered_properties(one);
    reply_.closeStruct();
    return true;
  }

 private:
  Manager& manager_;
  sdbus::MethodReply reply_;
  std::optional<std::vector<RegisteredView>> all_;
  std::size_t next_ = 0;
};

/// Resource: what is measured of the sandboxes, one per step.
class AllStats final {
 public:
  AllStats(Manager& manager, const SandboxObjects& sandboxes, const Call& call)
      : manager_(manager), ids_(ids_of(sandboxes)), reply_(call.createReply()) {
    reply_.openContainer("(sa{sv})");
  }

  bool step() {
    if (next_ == ids_.size()) {
      reply_.closeContainer();
      reply_.send();
      return false;
    }
    const auto& id = ids_[next_++];
    const auto usage = manager_.usage(id);
    if (!usage) return true;
    reply_.openStruct("sa{sv}");
    reply_ << id << usage_properties(*usage);
    reply_.closeStruct();
    return true;
  }

 private:
  Manager& manager_;
  std::vector<std::string> ids_;
  sdbus::MethodReply reply_;
  std::size_t next_ = 0;
};

/// Resource: the document of all sandboxes, one look per step.
struct AllDocuments {
  Manager& manager;
  Call call;
  ReadDocument read;
  std::vector<std::string> ids;
  std::size_t next = 0;
  std::size_t bytes = 0;
  std::vector<std::string> entries;

  bool step() {
    if (next == ids.size()) {
      auto reply = call.createReply();
      reply << document_of_entries(entries);
      reply.send();
      return false;
    }
    auto one = (manager.*read)(ids[next++]);
    // It may have ended meanwhile.
    if (!one && one.error().code == static_cast<int>(ManagerError::no_such_sandbox)) return true;
    entries.push_back(entry_of_document(or_throw(std::move(one))));
    bytes += entries.back().size();
    if (bytes > kLargestAnswer)
      throw bus_error({static_cast<int>(ManagerError::limit_reached),
                       fmt::format("the document of all {} sandboxes is larger than {} bytes: ask "
                                   "for single ones",
                                   ids.size(), kLargestAnswer)});
    return true;
  }
};

}  // namespace

std::vector<std::string> ids_of(const SandboxObjects& sandboxes) {
  std::vector<std::string> ids;
  for (const auto& [id, object] : sandboxes) ids.push_back(id);
  return ids;
}

void list_sandboxes(Context& context, const SandboxObjects& sandboxes, const Call& call) {
  put_on_desk(context, call,
              AllSandboxes(context, sandboxes, call, "(soa{sv})", current_overview, write_listed));
}

void get_managed_objects(Context& context, const SandboxObjects& sandboxes, const Call& call) {
  put_on_desk(
      context, call,
      AllSandboxes(context, sandboxes, call, "{oa{sa{sv}}}", object_properties, write_object));
}

void list_ignored(Context& context, const Call& call) {
  const auto work = std::make_shared<AllIgnored>(context.manager, call);
  put_on_desk(context, call, [work] { return work->step(); });
}

void get_stats(Context& context, const SandboxObjects& sandboxes, const Call& call) {
  const auto work = std::make_shared<AllStats>(context.manager, sandboxes, call);
  put_on_desk(context, call, [work] { return work->step(); });
}

void list_registrations(Context& context, const Call& call) {
  const auto work = std::make_shared<AllRegistrations>(context.manager, call);
  put_on_desk(context, call, [work] { return work->step(); });
}

void send_document(Context& context, const Call& call, const std::string& id, ReadDocument read) {
  put_on_desk(context, call, [&context, call, id, read] {
    const auto text = or_throw((context.manager.*read)(id));
    auto reply = call.createReply();
    reply << text;
    reply.send();
    return false;
  });
}

void read_document(Context& context, std::vector<std::string> all, const Call& call,
                   const std::string& id, ReadDocument read) {
  if (!id.empty()) return send_document(context, call, id, read);
  const auto work = std::make_shared<AllDocuments>(
      AllDocuments{context.manager, call, read, std::move(all), 0, 0, {}});
  put_on_desk(context, call, [work] { return work->step(); });
}

}  // namespace kcg::bus
