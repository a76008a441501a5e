"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("map"), paper = canvas.getContext("2d");
const [X, Y, FILE, FIRST, LAST, TITLE, EXCERPT] = [0, 1, 2, 3, 4, 5, 6];
const points = data.points, files = data.files, MOST_LISTED = 60, MOST_RINGED = 400;
const texts = points.map(p => (files[p[FILE]][0] + "\n" + p[TITLE] + "\n" + p[EXCERPT]).toLowerCase());
let by = data.by, hidden = new Set(), words = [], hits = null, view = {x: 0.5, y: 0.5, zoom: 1}, hover = -1;

const element = (name, text, parent) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
};
const groupOf = i => files[points[i][FILE]][by === "folder" ? 1 : 2];
const color = group => data.colors[Math.min(group, data.colors.length - 1)];
const place = i => {
  const p = points[i], p2 = p[FIRST] === p[LAST] ? "" : "-" + p[LAST];
  return files[p[FILE]][0] + ":" + p[FIRST] + p2;
};

function scale() { return Math.min(canvas.clientWidth, canvas.clientHeight) * view.zoom; }
function toScreen(p) {
  const s = scale();
  return [(p[X] - view.x) * s + canvas.clientWidth / 2, (p[Y] - view.y) * s + canvas.clientHeight / 2];
}

let asked = false;
function draw() {
  if (!asked) { asked = true; requestAnimationFrame(paint); }
}
function paint() {
  asked = false;
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== w * ratio || canvas.height !== h * ratio) {
    canvas.width = w * ratio;
    canvas.height = h * ratio;
  }
  paper.setTransform(ratio, 0, 0, ratio, 0, 0);
  paper.clearRect(0, 0, w, h);
  const size = Math.max(1.6, Math.min(6, 60 / Math.sqrt(points.length) + 1)) * Math.sqrt(Math.min(view.zoom, 6));
  for (let i = 0; i < points.length; i++) {
    const group = groupOf(i);
    if (hidden.has(group)) continue;
    const [x, y] = toScreen(points[i]);
    if (x < -9 || y < -9 || x > w + 9 || y > h + 9) continue;
    const lit = hits === null || hits.has(i);
    paper.globalAlpha = lit ? 0.85 : 0.12;
    paper.fillStyle = color(group);
    paper.beginPath();
    paper.arc(x, y, hits !== null && lit ? size * 1.35 : size, 0, 7);
    paper.fill();
  }
  paper.globalAlpha = 1;
  paper.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--mark");
  paper.lineWidth = 2;
  if (hits !== null && hits.size <= MOST_RINGED) for (const i of hits) ring(i, size * 1.6 + 1);
  if (hover >= 0) ring(hover, size * 2 + 2);
}
function ring(i, radius) {
  if (hidden.has(groupOf(i))) return;
  const [x, y] = toScreen(points[i]);
  paper.beginPath();
  paper.arc(x, y, radius, 0, 7);
  paper.stroke();
}

function search(text) {
  words = text.toLowerCase().split(/\s+/).filter(Boolean);
  hits = null;
  const list = document.getElementById("found"), count = document.getElementById("count");
  list.replaceChildren();
  if (words.length) {
    const ranked = [];
    for (let i = 0; i < points.length; i++) {
      if (!words.every(word => texts[i].includes(word))) continue;
      const title = points[i][TITLE].toLowerCase();
      ranked.push([words.every(word => title.includes(word)) ? 0 : 1, i]);
    }
    ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    hits = new Set(ranked.map(pair => pair[1]));
    for (const [, i] of ranked.slice(0, MOST_LISTED)) {
      const button = element("button", undefined, element("li", undefined, list));
      button.type = "button";
      element("span", points[i][TITLE] || points[i][EXCERPT] || place(i), button);
      element("small", place(i), button);
      button.addEventListener("click", () => { show(i); });
      button.addEventListener("mouseenter", () => { hover = i; draw(); });
    }
    const more = ranked.length > MOST_LISTED ? ", the first " + MOST_LISTED + " listed" : "";
    count.textContent = ranked.length + (ranked.length === 1 ? " piece" : " pieces") + more;
  } else {
    count.textContent = "";
  }
  draw();
}

function show(i) {
  hover = i;
  view = {x: points[i][X], y: points[i][Y], zoom: Math.max(view.zoom, 4)};
  const [x, y] = toScreen(points[i]);
  tip(i, x, y);
  draw();
}

function tip(i, x, y) {
  const box = document.getElementById("tip");
  box.hidden = i < 0;
  if (i < 0) return;
  box.replaceChildren();
  element("strong", points[i][TITLE] || place(i), box);
  element("small", place(i) + " \u00b7 " + data.groups.language[files[points[i][FILE]][2]], box);
  element("div", points[i][EXCERPT], box);
  box.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.offsetWidth - 8)) + "px";
  box.style.top = Math.max(4, Math.min(y + 14, innerHeight - box.offsetHeight - 8)) + "px";
}

function nearest(x, y) {
  let best = -1, least = 14 * 14;
  for (let i = 0; i < points.length; i++) {
    if (hidden.has(groupOf(i)) || (hits !== null && !hits.has(i))) continue;
    const [px, py] = toScreen(points[i]), d = (px - x) ** 2 + (py - y) ** 2;
    if (d < least) { least = d; best = i; }
  }
  return best;
}

function legend() {
  const list = document.getElementById("legend"), counts = data.groups[by].map(() => 0);
  for (let i = 0; i < points.length; i++) counts[groupOf(i)]++;
  list.replaceChildren();
  data.groups[by].forEach((name, group) => {
    const button = element("button", undefined, element("li", undefined, list));
    button.type = "button";
    button.setAttribute("aria-pressed", String(!hidden.has(group)));
    element("i", undefined, button).style.background = color(group);
    element("span", name, button).title = name;
    element("b", counts[group].toLocaleString("en"), button);
    button.addEventListener("click", () => {
      if (!hidden.delete(group)) hidden.add(group);
      button.setAttribute("aria-pressed", String(!hidden.has(group)));
      draw();
    });
  });
  const choice = document.getElementById("by");
  choice.replaceChildren();
  for (const name of ["folder", "language"]) {
    const button = element("button", name, choice);
    button.type = "button";
    button.setAttribute("aria-pressed", String(name === by));
    button.addEventListener("click", () => { by = name; hidden = new Set(); legend(); draw(); });
  }
}

const query = document.getElementById("query");
query.addEventListener("input", () => {
  search(query.value);
  history.replaceState(null, "", query.value ? "#q=" + encodeURIComponent(query.value) : "#");
});
let from = null;
canvas.addEventListener("pointerdown", event => {
  from = [event.offsetX, event.offsetY, view.x, view.y];
  canvas.setPointerCapture(event.pointerId);
  canvas.classList.add("moving");
});
canvas.addEventListener("pointerup", () => { from = null; canvas.classList.remove("moving"); });
canvas.addEventListener("pointerleave", () => { if (!from) { hover = -1; tip(-1); draw(); } });
canvas.addEventListener("pointermove", event => {
  if (from) {
    const s = scale();
    view.x = from[2] - (event.offsetX - from[0]) / s;
    view.y = from[3] - (event.offsetY - from[1]) / s;
    tip(-1);
  } else {
    hover = nearest(event.offsetX, event.offsetY);
    tip(hover, event.clientX, event.clientY);
  }
  draw();
});
function zoom(factor, x, y) {
  const s = scale(), px = (x - canvas.clientWidth / 2) / s, py = (y - canvas.clientHeight / 2) / s;
  const next = Math.max(0.6, Math.min(60, view.zoom * factor)), kept = view.zoom / next;
  view = {x: view.x + px * (1 - kept), y: view.y + py * (1 - kept), zoom: next};
  tip(-1);
  draw();
}
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
}, {passive: false});
canvas.addEventListener("keydown", event => {
  const step = 0.1 / view.zoom, w = canvas.clientWidth / 2, h = canvas.clientHeight / 2;
  const moves = {ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step]};
  if (moves[event.key]) { view.x += moves[event.key][0]; view.y += moves[event.key][1]; draw(); }
  else if (event.key === "+" || event.key === "=") zoom(1.4, w, h);
  else if (event.key === "-") zoom(1 / 1.4, w, h);
  else if (event.key === "0") { view = {x: 0.5, y: 0.5, zoom: 1}; draw(); }
  else return;
  event.preventDefault();
});
addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== query) { event.preventDefault(); query.focus(); }
  if (event.key === "Escape") { query.value = ""; search(""); tip(-1); }
});
addEventListener("resize", draw);
function fromAddress() {
  const found = /^#q=(.*)$/.exec(location.hash);
  if (!found) return;
  try { query.value = decodeURIComponent(found[1]); } catch { query.value = found[1]; }
  search(query.value);
}
addEventListener("hashchange", fromAddress);
legend();
fromAddress();
paint();
document.body.dataset.ready = "yes";
