#!/usr/bin/env python3
"""A client of `bombus check --via`: K counters that run from 0 to N-1 and start again.

    bombus check --via 'python3 examples/counters.py 4 5'        625 states, 2500 transitions

The protocol stands in the documentation of the module `via`. A proposition is `I = V`, `I < V` or `I > V`:
counter I compared with the number V.
"""
import struct
import sys

K, N = int(sys.argv[1]), int(sys.argv[2])
PROPS = []


def text(words):
    raw = words.encode()
    return struct.pack("<H", len(raw)) + raw


def pairs(items):
    return struct.pack("<H", len(items)) + b"".join(text(a) + text(b) for a, b in items)


def answer(edges):
    out = [struct.pack("<BI", 0, len(edges))]
    out += [struct.pack("<IQ", event, 0) + state for event, state in edges]
    return b"".join(out) + struct.pack("<HH", 0, 0)


def successors(state):
    steps = []
    for i in range(K):
        after = bytearray(state)
        after[i] = (after[i] + 1) % N
        steps.append((i, bytes(after)))
    return answer(steps)


def holds(prop, state):
    i, sign, value = prop
    return {"=": state[i] == value, "<": state[i] < value, ">": state[i] > value}[sign]


def reply(kind, body):
    if kind == 1:
        return struct.pack("<I", 1) + text("counters") + struct.pack("<II", K, K) + b"".join(text(f"raise{i}") for i in range(K))
    if kind == 2:
        return answer([(0, bytes(K))])
    if kind == 3:
        return b"".join(successors(body[at:at + K]) for at in range(4, len(body), K))
    if kind == 4:
        i, sign, value = body[2:].decode().split() + [""] * (3 - len(body[2:].split()))
        if not (i.isdigit() and int(i) < K and sign in "=<>" and value.isdigit()):
            return b"\0" + text(f"a proposition is I = V, I < V or I > V, with I below {K}")
        PROPS.append((int(i), sign, int(value)))
        return struct.pack("<BI", 1, len(PROPS) - 1)
    if kind == 5:
        prop = PROPS[struct.unpack_from("<I", body)[0]]
        return bytes(holds(prop, body[at:at + K]) for at in range(8, len(body), K))
    if kind == 6:
        return pairs([(f"c{i}", str(n)) for i, n in enumerate(body)])
    return pairs([])


while len(head := sys.stdin.buffer.read(5)) == 5:
    length, kind = struct.unpack("<IB", head)
    out = reply(kind, sys.stdin.buffer.read(length - 1))
    sys.stdout.buffer.write(struct.pack("<IB", len(out) + 1, kind) + out)
    sys.stdout.buffer.flush()
