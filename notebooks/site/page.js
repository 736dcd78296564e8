"use strict";
// What every page does: the scheme, the search, and what is folded or wider than the page.

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

// The search. An entry is [kind, title, words, address]; the statements come first.

const MOST = { statement: 12, chapter: 8, code: 6, figure: 4 };
const TERM = /(?:mln|rep|prnn|isml|irhd)(?: [a-z]+)? \d[\d.]*|\S+/g;
let entries = null;

function addIndex(all) {
  entries = all;
  search();
}

// A word occurs where a word begins; a number occurs as a whole, so that 8.46 is not in 18.46.
function pattern(term) {
  const plain = term.replace(/[^\p{L}\p{N}_]/gu, "\\$&");
  return new RegExp(/\d$/.test(term) ? `(?<![\\w.])${plain}(?!\\d|\\.\\d)` : `(?<![a-z0-9])${plain}`);
}

function matches(query) {
  const words = query.toLowerCase().replace(/[()"“”,]/g, " ").replace(/\beq\b\.?/g, "equation");
  const terms = (words.replace(/\s+/g, " ").match(TERM) || []).map((term) => term.replace(/\.+$/, ""));
  const patterns = terms.filter(Boolean).map(pattern), left = { ...MOST };
  if (!patterns.length) return [];
  return entries.filter(([kind, , text]) => left[kind] > 0 && patterns.every((each) => each.test(text)) && left[kind]--);
}

function search() {
  const results = document.getElementById("results"), query = document.getElementById("query").value;
  if (!entries || !query.trim()) return results.replaceChildren();
  const list = document.createElement("ul"), found = matches(query);
  for (const [kind, title, , address] of found) {
    const item = document.createElement("li"), link = document.createElement("a"), said = document.createElement("small");
    link.href = address;
    link.textContent = title;
    said.textContent = `${kind} `;
    item.append(said, link);
    list.append(item);
  }
  results.replaceChildren(found.length ? list : "Nothing found.");
}

function loadIndex() {
  if (document.querySelector('script[src="search.js"]')) return;
  const script = document.createElement("script");
  script.src = "search.js";
  document.head.append(script);
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
  for (const each of document.querySelectorAll(".wide, .long, pre, .outline")) {
    const scrolls = each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight;
    if (scrolls) each.tabIndex = 0;
    else each.removeAttribute("tabindex");
  }
}

addEventListener("DOMContentLoaded", () => {
  const query = document.getElementById("query"), results = document.getElementById("results");
  document.getElementById("scheme").onclick = changeScheme;
  query.onfocus = loadIndex;
  query.oninput = search;
  query.form.onsubmit = (event) => {
    event.preventDefault();
    const first = results.querySelector("a");
    if (first) first.click();
  };
  results.onclick = () => results.replaceChildren();
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && results.hasChildNodes()) {
      results.replaceChildren();
      query.focus();
    }
  });
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details")) each.open = true;
  });
  addEventListener("hashchange", openTarget);
  addEventListener("resize", reachScrolled);
  addEventListener("load", reachScrolled);
  document.addEventListener("toggle", reachScrolled, true);
  openTarget();
});
