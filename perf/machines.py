#!/usr/bin/env python3
"""Processor time of one check alone and on several processes that talk over loopback: what machines with a core each would gain.

Times are user and system time of each process as the kernel counts them. Runs alternate, and the least of each is taken. Other work on the
machine still changes them, through caches and memory: at a load of 5 and more a gain says little. `--count` therefore counts instructions and
the misses of a simulated cache of 2 MB (`valgrind --tool=callgrind`), which no other work changes. What a process needs before it searches
(its start, the model, the constants) is measured with `--max-states 1` and taken off. The gain is what one machine takes divided by what the
rank takes that has most to do.

    perf/machines.py --bombus target/release/bombus --model bench-models/papers/scheduler_queue.mch --rounds 5 -- --no-deadlock
    perf/machines.py --count --bombus target/checked/bombus --model bench-models/papers/scheduler_queue.mch -- --set PROC=6 --no-deadlock
"""

import argparse
import json
import os
import subprocess
import tempfile
import threading

from loopback import ports

# A miss is taken to cost as much as so many instructions.
MISS = 100


def timed(command):
    """Output of a process, and its processor seconds."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return out, (used.ru_utime + used.ru_stime,)


def counted(command):
    """Output of a process, and its instructions and misses of the last cache."""
    with tempfile.TemporaryDirectory() as folder:
        counts = os.path.join(folder, "counts")
        valgrind = ["valgrind", "--tool=callgrind", "--cache-sim=yes", "--LL=2097152,16,64", "--callgrind-out-file=" + counts]
        out = subprocess.run(valgrind + command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        with open(counts) as file:
            lines = dict(line.strip().split(": ", 1) for line in file if line.startswith(("events: ", "totals: ")))
    of = dict(zip(lines["events"].split(), map(int, lines["totals"].split())))
    return out, (of["Ir"], of["ILmr"] + of["DLmr"] + of["DLmw"])


def on_machines(run, command, machines):
    with tempfile.TemporaryDirectory() as folder:
        hosts = os.path.join(folder, "hosts.txt")
        with open(hosts, "w") as file:
            file.write("\n".join(ports(machines)))
        ended = [None] * machines

        def one(rank):
            ended[rank] = run(command + ["--cluster", hosts, "--rank", str(rank)])

        threads = [threading.Thread(target=one, args=(rank,)) for rank in range(machines)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    return ended


def less(used, start):
    return tuple(a - b for a, b in zip(used, start))


def cost(used):
    """What is compared: seconds, or instructions with the misses among them."""
    return used[0] if len(used) == 1 else used[0] + MISS * used[1]


def shown(used):
    if len(used) == 1:
        return "%.3f s of processor time" % used
    return "%.3f·10^9 instructions, %.2f·10^6 misses" % (used[0] / 1e9, used[1] / 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bombus", default="target/release/bombus")
    parser.add_argument("--model", required=True)
    parser.add_argument("--machines", type=int, default=2)
    parser.add_argument("--rounds", type=int, help="5, or 1 with --count")
    parser.add_argument("--count", action="store_true", help="instructions and misses instead of time")
    parser.add_argument("options", nargs="*")
    args = parser.parse_args()
    run = counted if args.count else timed
    rounds = args.rounds or (1 if args.count else 5)
    command = [args.bombus, "check", args.model, "--json", "--workers", "1", *args.options]
    start = min(run(command + ["--max-states", "1"])[1] for _ in range(rounds))
    alone, together, told = [], [], None
    for _ in range(rounds):
        out, used = run(command)
        told = json.loads(out)
        alone.append(less(used, start))
        ended = on_machines(run, command, args.machines)
        there = json.loads(ended[0][0])
        if any(there[key] != told[key] for key in ["states", "transitions", "digest", "verdict"]):
            raise SystemExit("the runs found different things")
        together.append([less(used, start) for _, used in ended])
    slowest = lambda ranks: max(map(cost, ranks))
    best, least = min(together, key=slowest), min(alone, key=cost)
    transitions = told["transitions"]
    print("%s: %d states, %d transitions, %s" % (args.model, told["states"], transitions, told["verdict"]))
    print("start of a process  %s, taken off below" % shown(start))
    print("alone               %s" % shown(least))
    if not args.count:
        print("                    %.0f ns a transition" % (least[0] / transitions * 1e9))
    for rank, used in enumerate(best):
        print("rank %-2d             %s" % (rank, shown(used)))
    if args.count:
        print("gain                %.2f in instructions, %.2f with %d instructions for a miss" % (least[0] / max(used[0] for used in best), cost(least) / slowest(best), MISS))
    else:
        print("gain                %.2f with a core each" % (cost(least) / slowest(best)))


main()
