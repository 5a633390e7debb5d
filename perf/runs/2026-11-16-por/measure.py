"""Instructions of whole commands, full against reduced, where states fall below 60 %.

python3 measure.py BOMBUS OUT.tsv FOLDER...   every .mch, .eventb and .ref below the folders; needs valgrind
"""
import json, os, re, subprocess, sys

bombus, out, folders = sys.argv[1], open(sys.argv[2], "w"), sys.argv[3:]


def models():
    for folder in folders:
        for root, _, files in sorted(os.walk(folder)):
            for name in sorted(files):
                if name.endswith((".mch", ".eventb", ".ref")):
                    path = os.path.join(root, name)
                    yield os.path.relpath(path, os.path.dirname(folder.rstrip("/"))), path


def result(path, options):
    command = [bombus, "check", path, "--workers", "1", "--json", "--time-limit", "20", "--progress", "off"]
    told = subprocess.run(command + options, capture_output=True, text=True).stdout
    return json.loads(told) if told.startswith("{") else None


def instructions(path, options):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += [bombus, "check", path, "--workers", "1", "--quiet", "--progress", "off"]
    told = subprocess.run(command + options, capture_output=True, text=True).stderr
    return int(re.search(r"refs:\s+([\d,]+)", told).group(1).replace(",", "")) / 1e6


heads = ["model", "checked", "verdict full", "reduced", "states full", "reduced", "transitions full", "reduced"]
print(*heads, "million instructions full", "reduced", sep="\t", file=out)
for name, path in models():
    size = ["--set-size", "1"] if "BPEL" in path else []
    for checked, options in (("all", size), ("deadlock", size + ["--only-deadlock"])):
        full, reduced = result(path, options), result(path, options + ["--por", "on"])
        if full is None or reduced is None:
            print(name, checked, "rejected", sep="\t", file=out, flush=True)
            continue
        cost = ["-", "-"]
        falls = reduced["states"] * 100 < 60 * full["states"]
        if falls and full["verdict"] != "incomplete" and full["transitions"] < 1_500_000:
            cost = [f"{instructions(path, o):.1f}" for o in (options, options + ["--por", "on"])]
        row = [j[key] for key in ("verdict", "states", "transitions") for j in (full, reduced)]
        print(name, checked, *row, *cost, sep="\t", file=out, flush=True)
