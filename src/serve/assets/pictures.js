// A graph as SVG: nodes have places already; here they are drawn, moved and picked.
"use strict";
Bombus.picture = (data, pick) => {
  const space = "http://www.w3.org/2000/svg";
  const make = (tag, attributes, text) => {
    const element = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const svg = make("svg", { class: "graph", tabindex: "0", role: "group", "aria-label": "graph" });
  const tip = (i) => `tip${i}-${Math.round(data.width)}-${data.nodes.length}`;
  const defs = make("defs", {});
  const marker = make("marker", { id: tip(0), viewBox: "0 0 10 10", refX: "9", refY: "5", markerWidth: "7", markerHeight: "7", orient: "auto-start-reverse" });
  marker.append(make("path", { d: "M 0 1 L 10 5 L 0 9 z" }));
  defs.append(marker);
  svg.append(defs);
  const line = 14;
  const linesOf = (node) => node.label.split("\n");
  const halfOf = (node) => (linesOf(node).length * line + line) / 2;
  const labelled = data.edges.length <= 150;
  const words = [];
  // What a label must not cover: nodes, and labels that have their place.
  const boxes = data.nodes.map((node) => ({ x: node.x, y: node.y, w: node.w / 2, h: halfOf(node) }));
  const taken = [...boxes];
  const free = (box) => !taken.some((other) => Math.abs(box.x - other.x) < box.w + other.w && Math.abs(box.y - other.y) < box.h + other.h);
  const shares = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82, 0.12, 0.88];
  // A label stands on its edge; where it would cover something all along, it shows under the pointer alone.
  const put = (label, pointAt) => {
    const text = label.length > 28 ? `${label.slice(0, 27)}…` : label;
    for (const share of shares) {
      const [x, y] = pointAt(share);
      const box = { x, y, w: text.length * 3.2 + 2, h: 7 };
      if (free(box)) {
        taken.push(box);
        words.push(make("text", { class: "label", x, y }, text));
        return;
      }
    }
  };
  const routed = data.edges.length * data.nodes.length <= 100000;
  // Whether a curve runs behind no node but its ends.
  const points = Array.from({ length: 15 }, (_, i) => (i + 1) / 16);
  const clear = (curve, edge) => {
    const along = points.map(curve.at);
    const met = (box) => along.some(([x, y]) => Math.abs(x - box.x) < box.w + 2 && Math.abs(y - box.y) < box.h + 2);
    return !boxes.some((box, n) => n !== edge.from && n !== edge.to && met(box));
  };
  let [left, right] = [0, data.width];
  const both = new Set(data.edges.map((e) => `${e.from} ${e.to}`));
  for (const edge of data.edges) {
    const a = data.nodes[edge.from];
    const b = data.nodes[edge.to];
    let d;
    let pointAt;
    if (edge.from === edge.to) {
      const x = a.x + a.w / 2;
      d = `M ${x} ${a.y - 6} C ${x + 34} ${a.y - 26} ${x + 34} ${a.y + 26} ${x + 1} ${a.y + 6}`;
      pointAt = (t) => [x + 30 + Math.max(0, Math.min(edge.label?.length ?? 0, 28) * 3.2 - 24), a.y + (t - 0.5) * 50];
    } else {
      const down = b.y > a.y;
      const level = b.y === a.y;
      // Edges that meet their reverse, and edges upwards or along a row, bend aside.
      const side = down ? 26 : -26;
      const least = level ? 0 : both.has(`${edge.to} ${edge.from}`) ? side : down ? 0 : 26;
      const bent = (bend) => {
        const shift = Math.max(-26, Math.min(26, bend)) / 2;
        const from = level ? [a.x + Math.sign(b.x - a.x) * a.w / 2, a.y] : [a.x + shift, a.y + (down ? halfOf(a) : -halfOf(a))];
        const to = level ? [b.x - Math.sign(b.x - a.x) * b.w / 2, b.y] : [b.x + shift, b.y + (down ? -halfOf(b) : halfOf(b))];
        const rise = level ? -18 - Math.abs(b.x - a.x) / 12 : 0;
        const middle = [(from[0] + to[0]) / 2 + bend * 2, (from[1] + to[1]) / 2 + rise * 2];
        const at = (t) => [0, 1].map((i) => (1 - t) * (1 - t) * from[i] + 2 * t * (1 - t) * middle[i] + t * t * to[i]);
        return { at, d: `M ${from[0]} ${from[1]} Q ${middle[0]} ${middle[1]} ${to[0]} ${to[1]}` };
      };
      // An edge that would run behind a node between its ends bends more, to either side.
      const bends = level || !routed ? [least] : [least, ...[40, 80, 130, 190].flatMap((more) => [least + more, least - more])];
      const curve = (routed ? bends.map(bent).find((c) => clear(c, edge)) : null) ?? bent(least);
      const [widest] = curve.at(0.5);
      [left, right] = [Math.min(left, widest - 30), Math.max(right, widest + 30)];
      d = curve.d;
      pointAt = curve.at;
    }
    const path = make("path", { class: "edge", d, "marker-end": `url(#${tip(0)})` });
    if (edge.label) path.append(make("title", {}, edge.label));
    svg.append(path);
    if (edge.label && labelled) put(edge.label, pointAt);
  }
  data.nodes.forEach((node, n) => {
    const marks = [["initial", node.initial], ["here", node.here], ["broken", node.bad], ["dead", node.deadlock], ["open", node.open]];
    const group = make("g", { class: ["node", ...marks.filter((m) => m[1]).map((m) => m[0])].join(" "), tabindex: "0", role: "button", "aria-label": node.label });
    group.append(make("rect", { x: node.x - node.w / 2, y: node.y - halfOf(node), width: node.w, height: 2 * halfOf(node), rx: 6 }));
    const lines = linesOf(node);
    lines.forEach((text, i) => group.append(make("text", { x: node.x, y: node.y + (i - (lines.length - 1) / 2) * line }, text)));
    const more = [node.title, node.states > 1 ? `${node.states} states` : null, node.bad ? "breaks the invariant or an assertion" : null, node.deadlock ? "deadlock" : null, node.open ? "not all steps are shown" : null];
    group.append(make("title", {}, more.filter(Boolean).join("\n") || node.label));
    if (pick) {
      group.addEventListener("click", () => pick(node, n));
      group.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          event.stopPropagation();
          pick(node, n);
        }
      });
    }
    svg.append(group);
  });
  // Labels come last, so that no node covers one.
  svg.append(...words);
  Bombus.movable(svg, right - left, data.height, left);
  return svg;
};

// Wheel, pinch-free drag and keys move the view box of a drawing.
Bombus.movable = (svg, width, height, left = 0) => {
  const whole = { x: left, y: 0, w: Math.max(width, 60), h: Math.max(height, 60) };
  let view = { ...whole };
  const show = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  const zoom = (factor, x, y) => {
    const w = Math.min(Math.max(view.w * factor, 40), whole.w * 8);
    const scale = w / view.w;
    view = { x: x - (x - view.x) * scale, y: y - (y - view.y) * scale, w, h: view.h * scale };
    show();
  };
  const centre = () => [view.x + view.w / 2, view.y + view.h / 2];
  // A small graph is not blown up, a large one begins where its text can be read.
  requestAnimationFrame(() => {
    const box = svg.getBoundingClientRect();
    if (box.width < 1) return;
    const natural = { w: box.width, h: box.height };
    if (whole.w <= natural.w && whole.h <= natural.h) view = { x: whole.x + (whole.w - natural.w) / 2, y: (whole.h - natural.h) / 2, ...natural };
    else if (whole.w > natural.w * 2.2) {
      const here = svg.querySelector(".here rect") || svg.querySelector(".initial rect") || svg.querySelector("rect");
      const x = here ? Number(here.getAttribute("x")) + Number(here.getAttribute("width")) / 2 : whole.x + whole.w / 2;
      const y = here ? Number(here.getAttribute("y")) : 0;
      const scale = 1.6;
      view = { x: x - natural.w * scale / 2, y: y - natural.h * scale / 4, w: natural.w * scale, h: natural.h * scale };
    }
    show();
  });
  show();
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, view.x + (event.clientX - box.left) / box.width * view.w, view.y + (event.clientY - box.top) / box.height * view.h);
  }, { passive: false });
  let drag = null;
  svg.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, view: { ...view } }; });
  svg.addEventListener("pointermove", (event) => {
    if (!drag || event.buttons === 0) return;
    const box = svg.getBoundingClientRect();
    const scale = Math.max(drag.view.w / box.width, drag.view.h / box.height);
    view = { ...drag.view, x: drag.view.x - (event.clientX - drag.x) * scale, y: drag.view.y - (event.clientY - drag.y) * scale };
    show();
  });
  svg.addEventListener("pointerup", () => { drag = null; });
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) view = { ...view, x: view.x + step[0] * view.w / 10, y: view.y + step[1] * view.h / 10 };
    else if (event.key === "+") zoom(1 / 1.25, ...centre());
    else if (event.key === "-") zoom(1.25, ...centre());
    else if (event.key === "0") view = { ...whole };
    else return;
    event.preventDefault();
    event.stopPropagation();
    show();
  });
};
