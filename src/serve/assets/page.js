// The page of a model: asks the program behind it, shows what it says. The address holds the token.
"use strict";
(() => {
  const { el } = Bombus;
  const $ = (id) => document.getElementById(id);
  const rowHeight = 28;
  let view = null;
  let chosen = 0;
  let shownTab = "state";
  let watches = [];
  let relationOf = null;

  // ---- Questions, one at a time ----
  let last = Promise.resolve();
  let waiting = 0;
  const say = (lines, kind) => lines.map((line) => el("div", { class: kind }, line));
  const complain = (message) => $("messages").replaceChildren(...say([message], "bad"));
  const ask = (name, body) => {
    waiting += 1;
    const slow = setTimeout(() => { $("busy").hidden = false; }, 300);
    const run = async () => {
      try {
        const response = await fetch(`api/${name}`, { method: "POST", body: JSON.stringify(body || {}), headers: { "Content-Type": "application/json" } });
        if (!response.ok) return { error: `the program refused: ${response.status}` };
        return await response.json();
      } catch (problem) {
        return { error: "the program behind this page has ended" };
      } finally {
        clearTimeout(slow);
        waiting -= 1;
        if (waiting === 0) $("busy").hidden = true;
      }
    };
    last = last.then(run, run);
    return last;
  };
  // A question whose answer is what the page shows from now on.
  const act = async (name, body) => {
    const answer = await ask(name, body);
    if (answer.error) complain(answer.error);
    else show(answer);
    return !answer.error;
  };

  // ---- The whole page ----
  const show = (answer) => {
    view = answer;
    chosen = 0;
    document.title = `${view.machine} · ${view.position} – Bombus`;
    $("machine").textContent = view.machine;
    $("scope").textContent = `${view.file} · ${view.scope}`;
    const wrong = view.conjuncts.filter((c) => c.truth === "false").length;
    const unknown = view.conjuncts.filter((c) => c.truth === "unknown").length;
    const badge = $("verdict");
    badge.className = `badge ${wrong ? "bad" : unknown ? "doubt" : "good"}`;
    badge.textContent = view.conjuncts.length === 0 ? "" : wrong ? `${wrong} of ${view.conjuncts.length} conjuncts false here` : unknown ? `${unknown} conjuncts without a value` : "invariant holds here";
    badge.hidden = badge.textContent === "";
    const finding = view.finding ? [`${view.finding.kind}: ${view.finding.property}`] : [];
    // What the finding says already is not said again.
    const remarks = view.remarks.filter((remark) => !view.finding || !remark.endsWith(view.finding.property));
    const why = view.finding && view.finding.why.length ? [el("details", { class: "bad", open: view.finding.why.length <= 12 }, el("summary", {}, "why"), el("pre", {}, view.finding.why.join("\n")))] : [];
    $("messages").replaceChildren(...say(finding, "bad"), ...why, ...say(view.said, "doubt"), ...say(remarks, wrong ? "bad" : "doubt"));
    $("undo").disabled = view.position === 0;
    $("redo").disabled = view.position >= view.length;
    $("random").disabled = view.operations.total === 0;
    showOperations(view.operations);
    showState();
    showDrawing();
    showHistory();
    if (shownTab === "invariant") showInvariant();
    if (shownTab === "evaluate") showWatches();
    if (shownTab === "space") markHere();
    if (relationOf) showRelation(relationOf);
  };

  // ---- The drawing beside the model: an image, in which no script runs ----
  const showDrawing = async () => {
    $("drawing").hidden = !view.drawing;
    if (!view.drawing) return;
    const answer = await ask("drawing");
    if (answer.error) return complain(answer.error);
    $("drawing").hidden = answer.svg === "";
    $("drawing-image").src = `data:image/svg+xml,${encodeURIComponent(answer.svg)}`;
    $("drawing-said").textContent = answer.said.join("; ");
  };

  // ---- Operations ----
  const showOperations = (operations, append) => {
    const list = $("operation-list");
    if (!append) list.replaceChildren();
    list.querySelector(".more")?.remove();
    operations.rows.forEach((row) => {
      const n = list.children.length;
      list.append(el("li", { role: "option", id: `op${n}`, "data-n": row.n, onclick: () => act("step", { n: row.n }) }, el("span", { class: "n" }, String(n + 1)), el("span", {}, row.label)));
    });
    const next = operations.from + operations.rows.length;
    if (next < operations.fitting) {
      list.append(el("li", { class: "more", onclick: () => moreOperations(next) }, el("span", { class: "muted" }, `${Bombus.count(operations.fitting - next)} more`)));
    }
    const note = operations.total === 0 ? "nothing can be done here" : operations.fitting < operations.total ? `${Bombus.count(operations.fitting)} of ${Bombus.count(operations.total)}` : Bombus.count(operations.total);
    $("operation-count").textContent = note;
    const names = operations.disabled.map((event) => el("button", { class: "plain", type: "button", title: `Why is ${event} not enabled?`, onclick: () => whyNot(event) }, event));
    $("disabled").replaceChildren(...(names.length ? ["not enabled: ", ...names, el("ul", { class: "tree", id: "why" })] : []));
    choose(Math.min(chosen, Math.max(list.children.length - 1, 0)));
  };
  const whyNot = async (event) => {
    const answer = await ask("why", { event });
    if (answer.error && !answer.text) complain(answer.error);
    else $("why").replaceChildren(Bombus.tree(answer, true));
  };
  const moreOperations = async (from) => {
    const answer = await ask("operations", { from, filter: $("filter").value });
    if (!answer.error) showOperations(answer, true);
  };
  const choose = (n) => {
    const list = $("operation-list");
    list.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
    chosen = n;
    const item = list.children[n];
    if (!item) return;
    item.setAttribute("aria-selected", "true");
    list.setAttribute("aria-activedescendant", item.id);
    if (list.scrollHeight > list.clientHeight) item.scrollIntoView({ block: "nearest" });
  };

  // ---- State ----
  const showState = () => {
    const words = $("state-filter").value.toLowerCase();
    const changedOnly = $("changed-only").checked;
    const rows = view.values.filter((v) => v.name.toLowerCase().includes(words) && (!changedOnly || v.change));
    if (view.values.length === 0) {
      $("state-table").replaceChildren(el("p", { class: "muted" }, "Nothing has a value yet: choose an operation."));
      return;
    }
    const line = (v) => el("tr", { class: v.change ? "changed" : null },
      el("td", { class: "name" }, v.name, el("span", { class: "type" }, v.constant ? `constant, ${v.type}` : v.type)),
      el("td", { class: "value" }, Bombus.value(v, ask, { name: v.name }), " ",
        v.relation && v.size > 0 ? el("button", { class: "plain small", type: "button", onclick: () => showRelation(v.name) }, "picture") : null,
        Bombus.change(v.change)));
    const head = el("tr", {}, el("th", {}, "name"), el("th", {}, "value"));
    $("state-table").replaceChildren(el("table", {}, head, ...rows.map(line)));
  };
  const showRelation = async (name) => {
    relationOf = name;
    const answer = await ask("relation", { name });
    const close = el("button", { class: "plain", type: "button", onclick: () => { relationOf = null; $("relation").replaceChildren(); } }, "close");
    const head = el("h3", {}, `${name} as a graph `, close);
    if (answer.error) {
      $("relation").replaceChildren(head, el("p", { class: "muted" }, answer.error));
      return;
    }
    const note = answer.left_out ? el("p", { class: "small doubt" }, `${Bombus.count(answer.left_out)} pairs are left out`) : null;
    $("relation").replaceChildren(...[head, note, el("div", { class: "picture" }, Bombus.picture(answer))].filter(Boolean));
    $("relation").scrollIntoView({ block: "nearest" });
  };

  // ---- Invariant ----
  const showInvariant = async () => {
    const answer = await ask("conjuncts");
    const box = $("view-invariant");
    if (answer.error) return complain(answer.error);
    if (answer.length === 0) return box.replaceChildren(el("p", { class: "muted" }, "There is no state yet, or the model has no invariant."));
    const order = { false: 0, unknown: 1, true: 2 };
    const sorted = answer.map((c, i) => [c, i]).sort((a, b) => order[a[0].truth] - order[b[0].truth] || a[1] - b[1]).map((x) => x[0]);
    const item = (c) => {
      const words = [Bombus.truth(c), c.assertion ? el("span", { class: "muted" }, "assertion ") : null, c.label ? el("b", {}, `${c.label}: `) : null, el("code", {}, c.text)];
      if (c.why) words.push(" ", el("span", { class: "small doubt" }, c.why));
      const parts = c.tree && c.tree.parts ? c.tree.parts : [];
      if (parts.length === 0) return el("li", {}, el("div", { class: "leaf" }, ...words.filter(Boolean)));
      return el("li", {}, el("details", { open: c.truth !== "true" }, el("summary", {}, ...words.filter(Boolean)), el("ul", { class: "tree" }, ...parts.map((part) => Bombus.tree(part, true)))));
    };
    box.replaceChildren(el("ul", { class: "tree" }, ...sorted.map(item)));
  };

  // ---- Formulas ----
  const answerBox = (formula, answer, close) => {
    const box = el("div", { class: "answer" }, close, el("code", {}, formula), " = ");
    if (answer.error) {
      box.append(el("pre", { class: "bad" }, answer.error));
      return box;
    }
    if (answer.predicate) box.append(el("b", { class: answer.text === "TRUE" ? "good" : "bad" }, answer.text));
    else box.append(Bombus.value(answer, ask, { formula }), el("span", { class: "muted small" }, ` : ${answer.type}`));
    if (answer.tree && answer.tree.parts && answer.tree.parts.length) box.append(el("ul", { class: "tree" }, Bombus.tree(answer.tree, true)));
    if (answer.relation && answer.size > 0 && answer.size <= 400) box.append(" ");
    return box;
  };
  const evaluate = async () => {
    const formula = $("formula").value.trim();
    if (formula) $("answer").replaceChildren(answerBox(formula, await ask("evaluate", { formula })));
  };
  const showWatches = async () => {
    $("watches-head").hidden = watches.length === 0;
    const boxes = [];
    for (const formula of watches) {
      const close = el("button", { class: "plain close", type: "button", "aria-label": `Watch ${formula} no longer`, onclick: () => { watches = watches.filter((w) => w !== formula); showWatches(); } }, "✕");
      boxes.push(answerBox(formula, await ask("evaluate", { formula }), close));
    }
    $("watches").replaceChildren(...boxes);
  };
  const find = async (here) => {
    const predicate = $("formula").value.trim();
    if (predicate && await act("find", { predicate, here })) open("state");
  };

  // ---- State space ----
  const draw = async () => {
    const answer = await ask("graph", { project: $("project").value, states: Number($("space-states").value) || 200 });
    if (answer.error) return complain(answer.error);
    const whole = answer.complete ? "all states" : "a part of the states";
    $("space-note").textContent = `${whole}: ${Bombus.count(answer.states)} states, ${Bombus.count(answer.transitions)} transitions, ${Bombus.count(answer.nodes.length)} nodes. Thick: initial; filled: here; dashed: not all steps are shown; red: breaks an invariant or assertion; dotted: deadlock. Click a node to go there.${answer.missing.length ? ` Missing: ${answer.missing.join("; ")}` : ""}`;
    $("space").replaceChildren(Bombus.picture(answer, async (node) => { if (await act("visit", { state: node.first })) draw(); }));
  };
  const markHere = () => { if ($("space").childElementCount) draw(); };

  // ---- History: only the rows that can be seen are there ----
  let historyVersion = 0;
  const showHistory = () => {
    historyVersion += 1;
    const list = $("history-list");
    const spacer = el("div");
    spacer.style.height = `${view.length * rowHeight}px`;
    list.replaceChildren(spacer);
    $("history-count").textContent = `${Bombus.count(view.position)} of ${Bombus.count(view.length)}`;
    const top = (view.position - 1) * rowHeight;
    if (top < list.scrollTop || top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 2;
    fillHistory();
    const branches = view.branches.map((b) => el("button", { class: "plain", type: "button", onclick: () => act("branch", { leaf: b.leaf }) }, `${b.length} steps, leaves after ${b.leaves_at}`));
    $("branches").replaceChildren(...(branches.length ? ["other branches: ", ...branches] : []));
  };
  const fillHistory = async () => {
    const list = $("history-list");
    const version = historyVersion;
    const from = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 20);
    const count = Math.ceil(list.clientHeight / rowHeight) + 40;
    if (view.length === 0) return;
    const answer = await ask("history", { from, count: Math.min(count, 500) });
    if (answer.error || version !== historyVersion) return;
    const rows = answer.rows.map((row) => {
      const mark = view.loop_start === row.n - 1 ? "↺ " : "";
      const step = el("button", { class: `step${row.n === view.position ? " here" : row.n > view.position ? " undone" : ""}`, type: "button", tabindex: "-1", title: row.label, onclick: () => act("goto", { position: row.n }) }, el("span", { class: "n" }, String(row.n)), mark + row.label);
      step.style.top = `${(row.n - 1) * rowHeight}px`;
      return step;
    });
    list.replaceChildren(list.firstElementChild, ...rows);
  };
  let scrolled = null;
  $("history-list").addEventListener("scroll", () => { clearTimeout(scrolled); scrolled = setTimeout(fillHistory, 60); });
  $("history-list").addEventListener("keydown", (event) => {
    if (event.key === "ArrowUp" && view.position > 0) act("undo");
    else if (event.key === "ArrowDown" && view.position < view.length) act("redo");
    else if (event.key === "Home") act("goto", { position: 0 });
    else if (event.key === "End") act("goto", { position: view.length });
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  // ---- Source ----
  let sourceShown = false;
  const showSource = async () => {
    if (sourceShown) return;
    const answer = await ask("source");
    if (answer.error) return complain(answer.error);
    sourceShown = true;
    const file = (f) => {
      const lines = f.text.split("\n").slice(0, 20000);
      const pre = el("pre", {});
      lines.forEach((text, i) => pre.append(el("div", {}, el("span", { class: "line" }, String(i + 1)), text)));
      return el("div", {}, el("h3", {}, f.name), pre);
    };
    $("view-source").replaceChildren(...answer.files.map(file));
  };

  // ---- Tabs ----
  const tabs = [["state", "State"], ["invariant", "Invariant"], ["evaluate", "Evaluate"], ["space", "State space"], ["source", "Source"]];
  const open = (name) => {
    shownTab = name;
    for (const [tab] of tabs) {
      $(`view-${tab}`).classList.toggle("shown", tab === name);
      $(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
    }
    if (name === "invariant") showInvariant();
    if (name === "evaluate") showWatches();
    if (name === "space" && !$("space").childElementCount) draw();
    if (name === "source") showSource();
  };
  for (const [name, title] of tabs) $("tabs").append(el("button", { id: `tab-${name}`, role: "tab", type: "button", "aria-controls": `view-${name}`, onclick: () => open(name) }, title));

  // ---- Commands ----
  const random = () => act("random", { steps: Math.max(1, Number($("random-steps").value) || 1) });
  const save = async () => {
    const answer = await ask("save", { kind: $("save-kind").value });
    if (answer.error) return complain(answer.error);
    const address = URL.createObjectURL(new Blob([answer.content]));
    const link = el("a", { href: address, download: answer.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };
  const theme = () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", document.documentElement.dataset.theme); } catch (problem) { /* a browser may forbid it */ }
  };
  try { const kept = localStorage.getItem("theme"); if (kept) document.documentElement.dataset.theme = kept; } catch (problem) { /* a browser may forbid it */ }
  const on = (id, work) => $(id).addEventListener("click", work);
  on("undo", () => act("undo"));
  on("redo", () => act("redo"));
  on("random", random);
  on("check", () => act("check"));
  on("load", () => $("file").click());
  on("save", save);
  on("theme", theme);
  on("help", () => $("keys").showModal());
  on("watch", () => { const formula = $("formula").value.trim(); if (formula && !watches.includes(formula)) { watches.push(formula); showWatches(); } });
  on("find-here", () => find(true));
  on("find-all", () => find(false));
  const cancel = () => fetch("api/cancel", { method: "POST", body: "{}" });
  on("cancel", cancel);
  $("file").addEventListener("change", async () => {
    const file = $("file").files[0];
    if (file) await act("load", { content: await file.text() });
    $("file").value = "";
  });
  $("formula-form").addEventListener("submit", (event) => { event.preventDefault(); evaluate(); });
  $("space-form").addEventListener("submit", (event) => { event.preventDefault(); draw(); });
  $("goto-form").addEventListener("submit", (event) => { event.preventDefault(); act("goto", { position: Number($("goto").value) }); $("goto").value = ""; $("goto").blur(); });
  $("filter").addEventListener("input", async () => { chosen = 0; const answer = await ask("operations", { filter: $("filter").value }); if (!answer.error) showOperations(answer); });
  $("filter").addEventListener("keydown", (event) => { if (event.key === "Enter") { $("filter").blur(); event.preventDefault(); } });
  $("state-filter").addEventListener("input", showState);
  $("changed-only").addEventListener("change", showState);

  // ---- Keys ----
  const perform = (n) => { const item = $("operation-list").children[n]; if (item) item.click(); };
  const move = (by) => choose(Math.min(Math.max(chosen + by, 0), $("operation-list").children.length - 1));
  const turn = (by) => { const at = tabs.findIndex((t) => t[0] === shownTab); open(tabs[(at + by + tabs.length) % tabs.length][0]); };
  const keys = {
    j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: () => perform(chosen),
    u: () => act("undo"), r: () => act("redo"), n: random, c: () => act("check"), o: () => $("file").click(), s: save, t: theme,
    "?": () => $("keys").showModal(), "/": () => $("filter").focus(), g: () => $("goto").focus(),
    e: () => { open("evaluate"); $("formula").focus(); }, "[": () => turn(-1), "]": () => turn(1),
  };
  for (let n = 1; n <= 9; n += 1) keys[String(n)] = () => perform(n - 1);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if ($("keys").open) $("keys").close();
      if (waiting > 0) cancel();
      document.activeElement?.blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    const target = event.target;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
    // A button or a fold that has the focus keeps its own Enter.
    if (event.key === "Enter" && /^(BUTTON|SUMMARY|A)$/.test(target.tagName)) return;
    const work = keys[event.key];
    if (!work) return;
    event.preventDefault();
    work();
  });

  open("state");
  act("view");
})();
