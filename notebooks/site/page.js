"use strict";
// What every page does: the scheme, folds, copying, and the outline that marks where one is.

const root = document.documentElement;

function remembered() {
  try { return localStorage.getItem("scheme"); } catch { return null; }
}

if (remembered()) root.dataset.scheme = remembered();

function changeScheme() {
  const dark = root.dataset.scheme
    ? root.dataset.scheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.scheme = dark ? "light" : "dark";
  try { localStorage.setItem("scheme", root.dataset.scheme); } catch { /* not remembered */ }
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target && target.closest("details:not([open])");
  if (!folded) return;
  folded.open = true;
  target.scrollIntoView();
}

// What scrolls inside itself can be scrolled with the keyboard.
function reachScrolled() {
  for (const each of document.querySelectorAll(".wide:has(> math.aligned)")) { // reasons below their lines
    each.classList.remove("stack");
    each.classList.toggle("stack", each.scrollWidth > each.clientWidth);
  }
  for (const each of document.querySelectorAll(".wide, .long, pre, .outline ul")) {
    const scrolls = each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight;
    if (scrolls) each.tabIndex = 0;
    else each.removeAttribute("tabindex");
    each.onscroll = () => each.classList.toggle("more", each.scrollLeft + each.clientWidth < each.scrollWidth - 4);
    each.onscroll();
  }
}

// A copied formula is its TeX.
function copyTex(event) {
  const selection = getSelection();
  if (!selection.rangeCount) return;
  const part = selection.getRangeAt(0).cloneContents();
  const formulas = [...part.querySelectorAll("math")];
  if (!formulas.length) return;
  for (const each of formulas) {
    const mark = each.getAttribute("display") === "block" ? "$$" : "$";
    each.replaceWith(mark + (each.getAttribute("alttext") || each.textContent) + mark);
  }
  event.clipboardData.setData("text/plain", part.textContent);
  event.preventDefault();
}

function addCopyButtons() {
  for (const code of document.querySelectorAll("pre.code")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.onclick = () => {
      navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    };
    const around = document.createElement("div");
    around.className = "copied";
    code.before(around);
    around.append(code, button);
  }
}

// The heading that was passed last is marked in the outline.
function followOutline() {
  const links = [...document.querySelectorAll(".outline a")];
  const places = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  let marked = null;
  function mark() {
    let here = 0;
    places.forEach((place, k) => { if (place && place.getBoundingClientRect().top < 120) here = k; });
    if (marked === links[here] || !links.length) return;
    if (marked) marked.removeAttribute("aria-current");
    marked = links[here];
    marked.setAttribute("aria-current", "true");
    const list = marked.closest("ul"), at = marked.offsetTop - list.offsetTop;
    if (at < list.scrollTop || at > list.scrollTop + list.clientHeight - 40) list.scrollTop = at - list.clientHeight / 2;
  }
  let waiting = false;
  function soon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }
  addEventListener("scroll", soon, { passive: true });
  new ResizeObserver(soon).observe(document.querySelector("main")); // pictures that come late
}

addEventListener("DOMContentLoaded", () => {
  const wide = matchMedia("(min-width: 1100px)");
  const folds = document.querySelectorAll(".outline details, .menu");
  const unfold = () => { for (const each of folds) each.open = wide.matches; };
  unfold();
  wide.onchange = unfold;
  document.getElementById("scheme").onclick = changeScheme;
  for (const link of document.querySelectorAll(".outline a")) link.addEventListener("click", unfold);
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("main details:not(.solution)")) each.open = true;
  });
  addEventListener("copy", copyTex);
  addEventListener("hashchange", openTarget);
  addEventListener("resize", reachScrolled);
  const map = document.querySelector(".wide:has(> .map)");
  if (map) map.scrollLeft = (map.scrollWidth - map.clientWidth) / 2; // where it begins
  addEventListener("load", reachScrolled);
  document.addEventListener("toggle", reachScrolled, true);
  addCopyButtons();
  followOutline();
  openTarget();
});
