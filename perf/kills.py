#!/usr/bin/env python3
"""Kills one process of a search on several machines at random moments, and goes on with fewer, as many and more of them.

For each rank the search is started and saved again and again, the process of that rank is killed (SIGKILL) at a moment drawn from the time
that the search takes, or while a file of a save is being written, and then
  - all others must end within the time-out with status 3, or with the result if they had it already;
  - the saved search is resumed on one machine fewer, as many, and one more: each must give the result of one machine.
A run that was killed before anything was saved has nothing to resume, and counts by itself.

    perf/kills.py --bombus target/release/bombus --model bench-models/families/tiles.mch --kills 20 -- --no-deadlock

Exit status 0 if everything is equal, 1 otherwise. Nothing is asserted about time but the time-out.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from loopback import ports

VARIES = ["seconds", "time_shares", "peak_memory_bytes", "machines", "warnings"]


class Search:
    """The processes of one search, one for each machine."""

    def __init__(self, args, folder, machines, more):
        self.hosts = os.path.join(folder, "hosts-%d.txt" % random.getrandbits(60))
        with open(self.hosts, "w") as file:
            file.write("\n".join(ports(machines)))
        base = [args.bombus, "check", args.model, "--json", "--workers", "1", *args.options, *more]
        each = ["--cluster", self.hosts, "--cluster-timeout", str(args.timeout)]
        self.all = [
            subprocess.Popen(base + each + ["--rank", str(rank)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for rank in range(machines)
        ]

    def kill(self, rank):
        self.all[rank].send_signal(signal.SIGKILL)

    def is_over(self):
        return all(one.poll() is not None for one in self.all)

    def end(self, patience):
        """Status, output and errors of each machine; None for one that did not end in time."""
        ended = []
        until = time.monotonic() + patience
        for one in self.all:
            try:
                out, err = one.communicate(timeout=max(1, until - time.monotonic()))
                ended.append((one.returncode, out, err.decode(errors="replace")))
            except subprocess.TimeoutExpired:
                one.kill()
                one.communicate()
                ended.append(None)
        return ended


def essence(out):
    told = json.loads(out)
    return {key: value for key, value in told.items() if key not in VARIES}


def result(args, folder, machines, more):
    """What a search that nobody disturbs tells, and its status. A port that somebody took meanwhile is tried again."""
    for _ in range(5):
        ended = Search(args, folder, machines, more).end(args.patience)
        if not any(one is not None and "cannot listen" in one[2] for one in ended):
            break
    if any(one is None for one in ended):
        return "did not end", None
    told = essence(ended[0][1]) if ended[0][1] else ended[0][2]
    return told, [one[0] for one in ended]


def is_being_saved(saved):
    """Whether a file of a save has been begun and is not in its place yet."""
    try:
        return any(name.startswith("search.bombus.new") for name in os.listdir(saved))
    except FileNotFoundError:
        return False


def disturbed(args, folder, saved, rank, seconds, inside):
    """Starts a search, kills a rank, and tells how the others ended, or nothing if the search was over before."""
    search = Search(args, folder, args.machines, ["--checkpoint", saved, "--checkpoint-every", str(args.every)])
    if inside:
        skip = random.randrange(4)
        before = False
        while not search.is_over():
            now = is_being_saved(saved)
            if now and not before:
                if skip == 0:
                    break
                skip -= 1
            before = now
    else:
        time.sleep(random.uniform(0, seconds))
    over = search.is_over()
    search.kill(rank)
    return over, search.end(args.timeout + args.patience)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bombus", default="target/release/bombus")
    parser.add_argument("--model", required=True)
    parser.add_argument("--machines", type=int, default=3)
    parser.add_argument("--ranks", default="0,1,2")
    parser.add_argument("--kills", type=int, default=20, help="for each rank")
    parser.add_argument("--inside", type=int, default=5, help="so many of them inside a save")
    parser.add_argument("--every", type=float, default=0.05, help="seconds between saves")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--patience", type=float, default=600)
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("options", nargs="*")
    args = parser.parse_args()
    random.seed(args.seed)
    one = subprocess.run(
        [args.bombus, "check", args.model, "--json", "--workers", "1", *args.options], capture_output=True
    )
    expected, status = essence(one.stdout), one.returncode
    tally = {"kills": 0, "inside a save": 0, "over before": 0, "nothing saved": 0, "resumed": 0, "wrong": 0}
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        result(args, folder, args.machines, ["--checkpoint", os.path.join(folder, "first"), "--checkpoint-every", str(args.every)])
        seconds = time.monotonic() - start
        for rank in map(int, args.ranks.split(",")):
            for n in range(args.kills):
                saved = os.path.join(folder, "saved")
                shutil.rmtree(saved, ignore_errors=True)
                inside = n < args.inside
                over, ended = disturbed(args, folder, saved, rank, seconds, inside)
                if over:
                    tally["over before"] += 1
                tally["kills"] += 1
                tally["inside a save"] += inside and not over
                for other, end in enumerate(ended):
                    if other != rank and (end is None or end[0] not in (3, status)):
                        tally["wrong"] += 1
                        print("rank %d killed: rank %d ended with %s" % (rank, other, end), flush=True)
                if not os.path.exists(os.path.join(saved, "search.bombus")):
                    tally["nothing saved"] += not over
                    continue
                for machines in (args.machines - 1, args.machines, args.machines + 1):
                    # A search that has come to its end removes what was saved of it.
                    copy = os.path.join(folder, "copy")
                    shutil.rmtree(copy, ignore_errors=True)
                    shutil.copytree(saved, copy)
                    told, statuses = result(args, folder, machines, ["--resume", copy])
                    tally["resumed"] += 1
                    if told != expected or statuses != [status] * machines:
                        tally["wrong"] += 1
                        print("rank %d killed, resumed on %d machines: %s %s" % (rank, machines, statuses, told), flush=True)
            print("rank %d: %s" % (rank, tally), flush=True)
    print(json.dumps(tally))
    sys.exit(1 if tally["wrong"] else 0)


main()
