"""Finds the cheapest machines for pods by HiGHS. A model a line comes in, an answer a line goes out.

Up to so many machines stand side by side, each of one type or of none, and each holds whole pods of each kind.
Nothing here knows how Tenon plans.
"""

import json
import sys

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_matrix


def solve(m):
    need, room, cost = np.array(m["need"], float), np.array(m["room"], float), np.array(m["cost"], float)
    count, most, slots = m["count"], m["most"], m["slots"]
    kinds, types, dims = len(count), len(cost), room.shape[1]
    scale = np.maximum(need.max(axis=0), 1)
    need, room = need / scale, room / scale
    y = lambda j, t: j * types + t
    x = lambda j, c: slots * types + j * kinds + c
    n = slots * (types + kinds)
    rows = kinds + slots * (1 + dims) + (slots - 1)
    a, low, high = lil_matrix((rows, n)), np.full(rows, -np.inf), np.zeros(rows)
    r = 0
    for c in range(kinds):  # every pod is somewhere
        for j in range(slots):
            a[r, x(j, c)] = 1
        low[r] = high[r] = count[c]
        r += 1
    for j in range(slots):
        for t in range(types):  # a machine is of one type
            a[r, y(j, t)] = 1
        high[r] = 1
        r += 1
        for d in range(dims):  # and holds no more than it has room for
            for c in range(kinds):
                a[r, x(j, c)] = need[c, d]
            for t in range(types):
                a[r, y(j, t)] = -room[t, d]
            r += 1
    for j in range(slots - 1):  # dear machines come first
        for t in range(types):
            a[r, y(j, t)], a[r, y(j + 1, t)] = -cost[t], cost[t]
        r += 1
    c = np.zeros(n)
    top = np.ones(n)
    for j in range(slots):
        for t in range(types):
            c[y(j, t)] = cost[t]
        for k in range(kinds):
            top[x(j, k)] = min(most[k], count[k])
    res = milp(
        c=c, constraints=LinearConstraint(a.tocsr(), low, high), integrality=np.ones(n), bounds=Bounds(np.zeros(n), top),
        options={"time_limit": m["seconds"], "mip_rel_gap": 1e-7},
    )
    out = {"optimal": res.status == 0, "bound": res.mip_dual_bound if res.mip_dual_bound is not None else 0, "machines": []}
    if res.x is None:
        return out
    for j in range(slots):
        holds = [int(round(res.x[x(j, k)])) for k in range(kinds)]
        if sum(holds) > 0:
            out["machines"].append({"type": int(np.argmax(res.x[y(j, 0) : y(j, 0) + types])), "holds": holds})
    return out


for line in sys.stdin:
    print(json.dumps(solve(json.loads(line))), flush=True)
