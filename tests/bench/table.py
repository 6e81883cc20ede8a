#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kcg-bench says on stdin, as a table."""
import json
import os
import sys

ROWS = [
    ("looks per life", "life.looks_per_life"),
    ("CPU per life, ms", "life.cpu_ms_per_life"),
    ("bare kernel operations of a life, CPU, ms", "life.bare_cpu_ms_per_life"),
    ("ratio", "life.ratio_to_bare"),
    ("CPU per life of a real QEMU, ms", "qemu_life.cpu_ms_per_life"),
    ("its looks", "qemu_life.looks_per_life"),
    ("its ratio to the same bare operations", "qemu_life.ratio_to_bare"),
    ("starts per second", "life.per_second"),
    ("lives", "life.lives"),
    ("not in place", "life.misplaced"),
    ("an engine's call through NRI, p99, before the storm, us", "life.nri_answer_us.idle.p99"),
    ("an engine's call through NRI, p99, in the storm, us", "life.nri_answer_us.storm.p99"),
    ("a call to who has nothing else to do, p99, in the storm, us", "life.nri_answer_us.echo.p99"),
    ("an engine's call through NRI, p50, in the storm, us", "life.nri_answer_us.storm.p50"),
    ("a call to who has nothing else to do, p50, in the storm, us", "life.nri_answer_us.echo.p50"),
    ("20 pods that start at once, until the last has started, p50, without our plugin, us",
     "chain.all_without_us.p50"),
    ("the same with our plugin in the chain, p50, us", "chain.all_with_us.p50"),
    ("how much longer that is, p50 of the pairs, us", "chain.all_longer_us.p50"),
    ("a call of the other plugin meanwhile, p99, us", "chain.neighbour_call_us.p99"),
    ("a call of ours, p99, us", "chain.our_call_us.p99"),
    ("sandboxes that just stand there", "standing.sandboxes"),
    ("their price, nothing measured, % of a CPU", "standing.unmeasured.cpu_percent"),
    ("their price, each measured every 10 s, % of a CPU", "standing.measured.cpu_percent"),
    ("a life where none of them is, CPU, ms", "standing.life_alone_cpu_ms"),
    ("a life beside them, CPU, ms", "standing.life_beside_cpu_ms"),
    ("a bystander's fork and exit, p99, without the daemon, us", "bystander.without.p99"),
    ("a bystander's fork and exit, p99, with it, us", "bystander.with.p99"),
    ("their price with a resync every 30 s, % of a CPU", "standing.resynced.cpu_percent"),
    ("last vCPU to all in place, p50, us", "latency.quiet.last_vcpu_start_to_all_threads_us.p50"),
    ("the same, p99, us", "latency.quiet.last_vcpu_start_to_all_threads_us.p99"),
    ("longest run of a vCPU before it is in place, p99, us", "latency.quiet.vcpu_ran_outside_us.p99"),
    ("VMM's exec to its process in place, p50, us", "latency.quiet.exec_to_whole_process_us.p50"),
    ("the same, p99, us", "latency.quiet.exec_to_whole_process_us.p99"),
    ("last vCPU to all in place, p50, beside busy CPUs, us", "latency.hogs.last_vcpu_start_to_all_threads_us.p50"),
    ("the same, p99, us", "latency.hogs.last_vcpu_start_to_all_threads_us.p99"),
    ("the same without what the unit asks for, p99, us",
     "latency.hogs_as_a_service.last_vcpu_start_to_all_threads_us.p99"),
    ("the groups and moves of a life, bare, CPU, p50, us", "peers.bare_cpu_us_per_life.p50"),
    ("the same through libcgroup, CPU, p50, us", "peers.libcgroup_cpu_us_per_life.p50"),
    ("cgrulesengd: VMM's exec to its process in place, p50, us", "peers.cgrulesengd_exec_to_whole_process_us.p50"),
    ("the same, p99, us", "peers.cgrulesengd_exec_to_whole_process_us.p99"),
    ("2,000 fork+exec/s of strangers, % of a CPU", "cost.busy_node.cpu_percent"),
    ("resident memory without sandboxes, KiB", "cost.resident_kib_empty"),
    ("resident memory with 200, KiB", "cost.resident_kib_many"),
    ("sandboxes that run when the daemon starts", "cold_start.sandboxes"),
    ("until it is ready, ms", "cold_start.ready_ms"),
    ("until it has looked at all of them, ms", "cold_start.all_looked_at_ms"),
    ("threads that a VMM starts and ends, per second", "churn.threads_per_second"),
    ("their price, % of a CPU", "churn.churning.cpu_percent"),
]


def figure(of: dict, key: str) -> str:
    for part in key.split("."):
        of = of.get(part, {})
    return f"{of:.4g}" if of != {} else "-"


def main() -> None:
    document = json.load(sys.stdin)
    machine = document["machine"]
    print(f"Linux {machine['kernel']}, {machine['cpus']} CPUs, load {os.getloadavg()[0]:.1f}\n")
    trees = [tree for tree in ("v1", "v2") if tree in document]
    print("| figure | " + " | ".join(trees) + " |\n|---|" + "---|" * len(trees))
    for title, key in ROWS:
        print(f"| {title} | " + " | ".join(figure(document[tree], key) for tree in trees) + " |")


if __name__ == "__main__":
    main()
