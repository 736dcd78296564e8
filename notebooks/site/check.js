"use strict";
// The checks of the exercises, as `mlnotes.reading.check` does them: the page knows an answer by its
// fingerprint and does not hold the answer itself.

const NOT_YET = "Not right yet.";

// The answer that was typed, as nested lists of numbers or of words. Throws if it is neither.
function read(text, kind, many) {
  const roots = text.trim().replace(/(?:sqrt|√) *\(? *([\d.]+) *\)?/g, (_, each) => Math.sqrt(each)).replace(/\bpi\b|π/g, Math.PI);
  const list = (kind === "words" ? text.trim() : roots).replace(/([\p{L}_]\w*)?\s*=\s*/gu, "").replace(/;|(?<=\d)\s+(and|to)\s+(?=[-\d.])/g, ",").replace(/^\{(.*)\}$/, "[$1]").replace(/[({]/g, "[").replace(/[)}]/g, "]");
  const words = kind === "words" || kind === "labels", gap = /(?<=[\w.\]])\s+(?=[-+\w.[])/g;
  const several = kind === "words" && many && !list.includes(",");
  const spaced = kind === "words" && !several ? list : list.replace(gap, ", ");
  const whole = spaced.startsWith("[") && !/\]\s*,\s*\[/.test(spaced.replace(/^\[\[.*\]\]$/, "")) ? spaced : `[${spaced}]`;
  const item = /[^[\],\s][^[\],]*/g;
  return JSON.parse(whole.replace(/,\s*\]/g, "]").replace(item, (each) => {
    const plain = each.trim().replace(/^(["'])(.*)\1$/, "$2");
    const named = { true: 1, false: 0 }[plain.toLowerCase()];
    if (named !== undefined && kind !== "words") return named;
    const [top, bottom = "1", ...more] = plain.replace("−", "-").split("/");
    const product = (side) => side.split("*").reduce((value, each) => value * (each.trim() ? Number(each) : NaN), 1);
    const number = product(top) / product(bottom);
    if (!more.length && Number.isFinite(number) && kind !== "words") return number;
    if (words) return JSON.stringify(plain);
    throw new TypeError("text");
  }));
}

// The shape of nested lists, and their entries in a row; axes of length 1 are dropped.
function unpacked(value) {
  const shape = [];
  for (let each = value; Array.isArray(each); each = each[0]) shape.push(each.length);
  const flat = [value].flat(Infinity);
  if (flat.length !== shape.reduce((product, side) => product * side, 1)) throw new TypeError("ragged");
  return { shape: shape.filter((side) => side !== 1), flat };
}

function crc32(text) {
  let crc = -1;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ -1) >>> 0;
}

// The forms of an answer that mean the same, each a list of numbers.
function equivalents(flat, kind) {
  if (kind === "words") return [flat.map((word) => crc32(String(word).trim().toLowerCase()))];
  if (kind === "labels") return [flat.map((label) => flat.indexOf(label))];
  if (kind === "order") return [[...flat].sort((a, b) => a - b)];
  const length = kind === "scale" ? Math.hypot(...flat) || 1 : 1, numbers = flat.map((each) => each / length);
  return kind === "sign" || kind === "scale" ? [numbers, numbers.map((each) => -each)] : [numbers];
}

function toEven(x) {
  const low = Math.floor(x), rest = x - low;
  return rest < 0.5 || (rest === 0.5 && low % 2 === 0) ? low : low + 1;
}

async function fingerprint(exercise, numbers, tol, phases) {
  const cells = numbers.map((each, k) => toEven(each / (3 * tol) - phases[k] / 4) + 0);
  const text = [exercise, ...cells.map((cell) => BigInt(cell).toString())].join(",");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, 32);
}

function inWords(shape, noun) {
  if (shape.length > 1) return `an array of shape (${shape.join(", ")})`;
  return shape.length ? `${shape[0]} ${noun}s` : `one ${noun}`;
}

function transposed(flat, [rows, columns]) {
  return flat.map((_, k) => flat[(k % rows) * columns + Math.floor(k / rows)]);
}

async function verdict(text, entry) {
  if (!text.trim()) return `No answer yet: enter ${entry.words}.`;
  const noun = entry.kind === "words" ? "word" : "number", expected = `Not right yet: expected ${inWords(entry.shape, noun)}, got`;
  let answer;
  try { answer = unpacked(read(text, entry.kind, entry.shape.length > 0)); } catch (error) { return `${expected} ${error.message === "text" ? "text" : "something else"}.`; }
  if (entry.kind === "order" && answer.flat.length > 1) answer.shape = [answer.flat.length];
  if (`${answer.shape}` !== `${entry.shape}`) return `${expected} ${inWords(answer.shape, noun)}.`;
  const forms = equivalents(answer.flat, entry.kind);
  const agrees = async (numbers, tol, [phases, digest]) => (await fingerprint(entry.id, numbers, tol, phases)) === digest;
  for (const [phases, digest, said] of entry.known) {
    for (const form of forms) if (await agrees(form, entry.tol, [phases, digest])) return said;
  }
  const right = entry.known[0];
  for (const form of forms) {
    const [rows, columns] = entry.shape;
    if (entry.shape.length === 1 && await agrees([...form].reverse(), entry.tol, right)) return `Not right yet: the numbers are right, and their order is reversed.`;
    if (entry.shape.length === 2 && rows === columns && await agrees(transposed(form, entry.shape), entry.tol, right)) return "Not right yet: rows and columns are exchanged.";
    if (entry.coarse && await agrees(form, 10 * entry.tol, entry.coarse)) return "Not right yet: this is close, and a digit is missing or wrong.";
  }
  return NOT_YET;
}

addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form.check")) {
    form.onsubmit = async (event) => {
      event.preventDefault();
      const typed = form.querySelector("input").value, said = await verdict(typed, JSON.parse(form.dataset.check));
      const hint = said.endsWith("got text.") ? " Enter digits, as in 1.5, 2/3 or 1, 2, 3."
        : said.includes("expected one number, got 2") ? " A decimal point is a dot."
        : said.includes("expected an array") ? " Enter rows as [1, 2], [3, 4]." : "";
      form.querySelector("output").textContent = said + hint;
      form.dataset.right = said === "Right.";
    };
  }
});
