// Pieces that pages are made of: elements, values, trees of formulas. Texts are never read as markup.
"use strict";
const Bombus = {};

// An element with attributes, listeners (on…) and children.
Bombus.el = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

Bombus.count = (n) => n.toLocaleString("en");

// A text of a value, with a way to see the rest where it is cut. `query` tells the server which value is meant.
Bombus.value = (value, ask, query) => {
  const { el } = Bombus;
  const box = el("span", {}, el("span", {}, value.text));
  if (value.cut && ask) {
    const size = value.size ? `all ${Bombus.count(value.size)} elements` : "all of it";
    const more = el("button", { class: "plain", type: "button" }, size);
    more.addEventListener("click", () => {
      more.remove();
      box.append(Bombus.parts(ask, query, []));
    });
    box.append(" ", more);
  }
  return box;
};

// The parts of a value, page by page; a part that is long opens in the same way.
Bombus.parts = (ask, query, path) => {
  const { el } = Bombus;
  const box = el("div", { class: "parts" });
  const load = async (from) => {
    const answer = await ask("value", { ...query, path, from, count: 100 });
    if (!answer || answer.error) return;
    answer.parts.forEach((part, i) => {
      const line = el("div", { class: "part" }, el("span", { class: "n" }, part.name || String(from + i + 1)), part.text);
      if (part.cut && part.parts > 0) {
        const open = el("button", { class: "plain", type: "button" }, `open ${Bombus.count(part.parts)} parts`);
        open.addEventListener("click", () => {
          open.remove();
          line.append(Bombus.parts(ask, query, [...path, from + i]));
        });
        line.append(" ", open);
      }
      box.append(line);
    });
    const next = from + answer.parts.length;
    if (answer.parts.length > 0 && next < answer.total) {
      const more = el("button", { class: "plain", type: "button" }, `${Bombus.count(answer.total - next)} more`);
      more.addEventListener("click", () => {
        more.remove();
        load(next);
      });
      box.append(more);
    }
  };
  load(0);
  return box;
};

// What a step changed in a value: elements that came and went, or the value before.
Bombus.change = (change) => {
  const { el } = Bombus;
  if (!change) return null;
  if (change.before !== undefined) return el("span", { class: "before small" }, `before: ${change.before}`);
  const chips = el("span", { class: "chips" });
  const list = (texts, count, sign, kind) => {
    texts.forEach((text) => chips.append(el("span", { class: `chip ${kind}` }, `${sign} ${text}`)));
    if (count > texts.length) chips.append(el("span", { class: "muted small" }, `${sign} ${Bombus.count(count - texts.length)} more`));
  };
  list(change.added, change.added_count, "+", "good");
  list(change.removed, change.removed_count, "−", "bad");
  return chips;
};

Bombus.truth = (node) => {
  const { el } = Bombus;
  if (node.error || node.truth === "unknown") return el("span", { class: "truth doubt", title: "no truth value" }, "?");
  if (node.truth === undefined) return null;
  const holds = node.truth === true || node.truth === "true";
  return el("span", { class: `truth ${holds ? "good" : "bad"}`, title: holds ? "true" : "false" }, holds ? "⊤" : "⊥");
};

// A formula with its parts, as the server takes it apart. False parts stand open.
Bombus.tree = (node, open) => {
  const { el } = Bombus;
  const words = [Bombus.truth(node), el("code", {}, node.text)];
  if (node.value !== undefined) words.push(" = ", el("code", {}, node.value));
  if (node.witness) words.push(" ", el("span", { class: "small muted" }, `for ${node.witness}`));
  if (node.error) words.push(" ", el("span", { class: "small doubt" }, node.error));
  (node.notes || []).forEach((note) => words.push(el("div", { class: "small muted" }, note)));
  if (!node.parts || node.parts.length === 0) return el("li", {}, el("div", { class: "leaf" }, ...words));
  const list = el("ul", { class: "tree" }, ...node.parts.map((part) => Bombus.tree(part, part.truth === false)));
  return el("li", {}, el("details", { open: open }, el("summary", {}, ...words), list));
};
