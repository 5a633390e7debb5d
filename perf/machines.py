#!/usr/bin/env python3
"""Processor time of one check alone and on several processes that talk over loopback: what machines with a core each would gain.

Times are user and system time of each process as the kernel counts them, so that other work on the machine changes them little (through
caches and memory only). The gain is the time of one machine divided by the time of the rank that worked longest. Runs alternate, and the least
of each is taken. What a process needs before it searches (its start, the model, the constants) is measured with `--max-states 1` and taken off.

    perf/machines.py --bombus target/release/bombus --model bench-models/papers/scheduler_queue.mch --rounds 5 -- --no-deadlock
"""

import argparse
import json
import os
import subprocess
import tempfile
import threading

from loopback import ports


def run(command):
    """Output and processor seconds of a process."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return out, used.ru_utime + used.ru_stime


def on_machines(command, machines):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bombus", default="target/release/bombus")
    parser.add_argument("--model", required=True)
    parser.add_argument("--machines", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("options", nargs="*")
    args = parser.parse_args()
    command = [args.bombus, "check", args.model, "--json", "--workers", "1", *args.options]
    start = min(run(command + ["--max-states", "1"])[1] for _ in range(args.rounds))
    alone, together, told = [], [], None
    for _ in range(args.rounds):
        out, used = run(command)
        told = json.loads(out)
        alone.append(used - start)
        ended = on_machines(command, args.machines)
        there = json.loads(ended[0][0])
        if any(there[key] != told[key] for key in ["states", "transitions", "digest", "verdict"]):
            raise SystemExit("the runs found different things")
        together.append([used - start for _, used in ended])
    best = min(together, key=max)
    transitions = told["transitions"]
    print("%s: %d states, %d transitions, %s" % (args.model, told["states"], transitions, told["verdict"]))
    print("start of a process  %.3f s, taken off below" % start)
    print("alone               %.3f s of processor time, %.0f ns a transition" % (min(alone), min(alone) / transitions * 1e9))
    print("on %d machines       %s" % (args.machines, ", ".join("rank %d %.3f s" % pair for pair in enumerate(best))))
    print("gain                %.2f with a core each" % (min(alone) / max(best)))


main()
