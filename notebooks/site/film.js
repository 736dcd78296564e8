"use strict";
// The players of the films. A recording is a script of its own that calls `addFilm`; it is loaded
// when its player comes into view. The pictures are drawn from the recording, never computed here.

const SVG = "http://www.w3.org/2000/svg";
const MARKERS = { // paths of half width 1
  o: "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z", ".": "M.5 0A.5 .5 0 1 1-.5 0A.5 .5 0 1 1 .5 0Z",
  s: "M-1-1H1V1H-1Z", D: "M0-1.4L1.4 0L0 1.4L-1.4 0Z", d: "M0-1.4L.8 0L0 1.4L-.8 0Z",
  "^": "M0-1L1 1H-1Z", v: "M0 1L1-1H-1Z", x: "M-1-1L1 1M-1 1L1-1", "+": "M-1 0H1M0-1V1",
  P: "M-.35-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z",
  X: "M-.5-1L0-.5L.5-1L1-.5L.5 0L1 .5L.5 1L0 .5L-.5 1L-1 .5L-.5 0L-1-.5Z",
  "*": "M0-1L.23-.31L.95-.31L.36 .12L.59 .81L0 .38L-.59 .81L-.36 .12L-.95-.31L-.23-.31Z",
  "|": "M0-1V1", _: "M-1 0H1", "<": "M-1 0L1-1V1Z", ">": "M1 0L-1-1V1Z",
};

function element(name, attributes, words) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (words !== undefined) made.textContent = String(words).replace(/(?<!\w)-(?=\d)/g, "−");
  return made;
}

function drawn(mark, places, clip) {
  const [kind, ...rest] = mark;
  if (kind === "frame") {
    const [left, top, right, bottom] = rest;
    return element("path", { d: `M${left} ${top}V${bottom}H${right}`, fill: "none", stroke: "#1a1a1a", "stroke-width": 7 });
  }
  if (kind === "path") {
    const [d, stroke, width, dashes, fill, opacity] = rest;
    const look = { d, stroke: stroke || "none", "stroke-width": width, fill: fill || "none", opacity, "fill-rule": "evenodd" };
    if (dashes) look["stroke-dasharray"] = dashes;
    if (width !== 7) look["clip-path"] = clip;
    return element("path", look);
  }
  if (kind === "points") {
    const [marker, size, fill, edge, width, which] = rest;
    const half = size / 2, group = element("g", { fill: fill || "none", stroke: edge || "none", "stroke-width": width / half });
    const d = MARKERS[marker] || MARKERS.o;
    for (const k of which) {
      const [x, y] = places[k];
      group.append(element("path", { d, transform: `translate(${x} ${y}) scale(${half})` }));
    }
    return group;
  }
  if (kind === "text") {
    const [x, y, words, size, anchor, fill, turn] = rest;
    const look = { x, y, "font-size": size, "text-anchor": anchor, fill };
    if (turn) look.transform = `rotate(${turn} ${x} ${y})`;
    return element("text", look, words);
  }
  const [x, y, width, height, href] = rest;
  return element("image", { x, y, width, height, href, preserveAspectRatio: "none", style: "image-rendering:pixelated" });
}

const players = {};

function short(value) {
  return Number(value.toPrecision(4)).toString();
}

// The curve of the measure, on a logarithmic axis where it falls by a factor of 100 or more.
function curveMarks(run, at, measure) {
  const values = run.map((each) => each[1]), finite = values.filter(Number.isFinite), numbers = run.map((each) => each[4]);
  if (!finite.length) return [];
  const low = Math.min(...finite), high = Math.max(...finite), log = low > 0 && high > 100 * low;
  const scale = log ? Math.log : Number, span = scale(high) - scale(low) || 1;
  const first = numbers[0], wide = numbers[numbers.length - 1] - first || 1;
  const x = (k) => 490 + ((numbers[k] - first) / wide) * 1730, y = (v) => 590 - ((scale(v) - scale(low)) / span) * 400;
  const d = values.map((v, k) => (Number.isFinite(v) ? `${k && Number.isFinite(values[k - 1]) ? "L" : "M"}${x(k)} ${y(v)}` : "")).join("");
  const text = (x, y, anchor, words) => element("text", { x, y, "font-size": 84, fill: "#1a1a1a", "text-anchor": anchor }, words);
  const marks = [
    element("path", { d: "M420 150V630H2240", fill: "none", stroke: "#1a1a1a", "stroke-width": 7 }),
    element("path", { d, fill: "none", stroke: "#1f5a99", "stroke-width": 14 }),
    text(60, 80, "start", measure + (log ? ", logarithmic" : "")),
    text(390, y(high) + 28, "end", short(high)), text(490, 730, "middle", first), text(1355, 730, "middle", "step"), text(2220, 730, "middle", numbers[numbers.length - 1]),
  ];
  if (high > low) marks.push(text(390, y(low) + 28, "end", short(low)));
  if (Number.isFinite(values[at])) {
    marks.push(element("circle", { cx: x(at), cy: y(values[at]), r: 40, fill: "#d97a1f" }));
    marks.push(text(2240, 80, "end", short(values[at])));
  }
  return marks;
}

function addFilm(name, recording) {
  const player = players[name], find = (part) => player.querySelector(part);
  const picture = find(".film-picture"), curve = find(".film-curve"), words = find(".film-words");
  const slider = find(".film-step"), lines = player.querySelectorAll(".film-source span.line");
  const settings = [...player.querySelectorAll(".film-setting")], speed = find(".film-speed");
  const [width, height] = recording.view, clip = `clip-${name.replace("/", "-")}`;
  const back = find("button.back"), step = find("button.step"), play = find("button.play");
  let run, at = 0, timer = null;

  function frame(k) {
    at = Math.max(0, Math.min(run.length - 1, k));
    const [marks, , said, line] = run[at], last = at === run.length - 1;
    const box = recording.marks.find((mark) => mark[0] === "frame") || [0, 0, 0, width, height];
    const area = element("clipPath", { id: clip });
    area.append(element("rect", { x: box[1], y: box[2], width: box[3] - box[1], height: box[4] - box[2] }));
    picture.replaceChildren(area, ...marks.map((k) => drawn(recording.marks[k], recording.places, `url(#${clip})`)));
    slider.max = run.length - 1;
    slider.value = at;
    const number = run[at][4], end = run[run.length - 1][4];
    slider.setAttribute("aria-valuetext", `step ${number} of ${end}`);
    slider.nextElementSibling.textContent = `${number} / ${end}`;
    words.textContent = last ? `${said} ${run.end}` : said;
    picture.setAttribute("aria-label", said);
    lines.forEach((each, i) => each.classList.toggle("here", i === line));
    back.setAttribute("aria-disabled", at === 0); // not disabled: the focus would be lost
    step.setAttribute("aria-disabled", last);
    if (curve) curve.replaceChildren(...curveMarks(run, at, recording.measure));
    if (last && timer) stop();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }

  function toggle() {
    if (timer) return stop();
    if (at === run.length - 1) frame(0);
    play.textContent = "Stop";
    timer = setInterval(() => frame(at + 1), Number(speed.value));
  }

  function move(by) {
    stop();
    frame(at + by);
  }

  function choose() {
    let index = 0;
    settings.forEach((setting, i) => {
      const values = recording.settings[i][1], k = setting.selectedIndex ?? Number(setting.value);
      index = index * values.length + k;
      if (setting.type !== "range") return;
      setting.setAttribute("aria-valuetext", values[k]);
      setting.nextElementSibling.textContent = values[k];
    });
    stop();
    run = recording.runs[index];
    run.end = recording.ends[index];
    frame(0);
  }

  back.onclick = () => move(-1);
  step.onclick = () => move(1);
  slider.oninput = () => { stop(); frame(Number(slider.value)); };
  play.onclick = toggle;
  speed.onchange = () => { if (timer) { stop(); toggle(); } };
  settings.forEach((setting) => { setting.oninput = choose; });
  player.addEventListener("keydown", (event) => {
    if (event.target.matches("select, a, summary, pre") || (event.target.matches("input") && event.key !== " ")) return;
    const act = { ArrowRight: () => move(1), ArrowLeft: () => move(-1), " ": toggle }[event.key];
    if (!act || (event.key === " " && event.target.matches("button"))) return;
    event.preventDefault();
    act();
  });
  player.addEventListener("click", (event) => { if (event.target.closest(".film-picture")) player.focus(); });
  for (const each of [back, step, play, slider, speed, ...settings]) each.disabled = false;
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.style.aspectRatio = `${width} / ${height}`;
  choose();
  player.dataset.ready = "yes";
}

function loadFilms() {
  const watcher = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      watcher.unobserve(target);
      const script = document.createElement("script");
      script.src = `films/${target.dataset.film.replace("/", ".")}.js`;
      document.head.append(script);
    }
  }, { rootMargin: "300px" });
  for (const player of document.querySelectorAll("[data-film]")) {
    players[player.dataset.film] = player;
    watcher.observe(player);
  }
}

loadFilms();
