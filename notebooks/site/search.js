"use strict";
// The search. A document is [kind, title, chapter, address, text]; its script is loaded when the
// search is first used. First come chapters, terms and symbols that have the very name that was typed,
// then the documents by BM25, words of the title counting as many times.

const KINDS = { chapter: 1.5, section: 1.5, summary: 0.8, walk: 1.2, statement: 0.9, code: 0.8, figure: 0.7, exercise: 0.5, slip: 0.4, page: 1.5 };
const NUMBERED = /^((mln|rep|prnn|isml|irhd)\b.*\d|(mln|rep|prnn|isml|irhd)\d|(eqs?\b\.?|equation) *\(?\d+\.\d+)/i;
const TITLE = 6, SHOWN = 15, K1 = 1.2, B = 0.6;
const GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi chi psi omega".split(" ");
const EMPTY = new Set(wordsOf("a an and are as at be by can do does for from how i in is it of on or the to what when where which why with work works between difference vs"));
const SAME = [ // words that mean the same: who types one of a group looks for the others, too
  "smo = sequential minimal optimisation", "svm = support vector machine", "svr = support vector regression",
  "expectation maximisation = em", "expectation maximization = em", "sgd = stochastic gradient descent", "pca = principal component analysis",
  "ica = independent component analysis", "lda = linear discriminant analysis", "qda = quadratic discriminant",
  "cnn = convolution", "convnet = convolution", "mlp = neural network", "neural net = neural network", "mle = maximum likelihood",
  "knn = nearest neighbour", "k nearest = nearest neighbour", "hesse = hessian", "kde = kernel density", "irls = iteratively reweighted least squares",
  "gmm = mixture", "roc = roc curve", "auc = roc curve", "cv = cross validation", "vc = vc dimension",
  "learning rate = step size", "kmeans = lloyd clustering", "l1 = lasso", "l2 = ridge",
  "regularization = ridge penalty", "kkt = kkt conditions", "r 2 = coefficient of determination", "r squared = coefficient of determination",
  "slack variable = soft margin", "ridge regression = ridge", "gaussian = normal distribution", "choose k = many clusters", "bias variance = bias variance decomposition", "elbow method = many clusters", "standardize feature = standardise",
  "ols = least squares", "r2 = coefficient of determination", "rbf = gaussian kernel", "rbf kernel = gaussian kernel", "kl = kullback leibler",
  "hierarchical clustering = agglomerative clustering", "one all = several classes", "one rest = several classes", "explained variance = many axes", "kernelpca = kernel principal component analysis", "multiclass = several classes",
  "principle component = principal component", "blind source separation = independent component analysis", "cocktail party = independent component analysis",
  "kernel matrix = gram matrix", "max likelihood = maximum likelihood", "knn classifier = nearest neighbour",
  "overfit = complexity test error", "bayes theorem = bayes rule", "std = standard deviation", "logit = logistic",
];
let index = null;

// One form for British and American, singular and plural; for a name, that is all.
function spelt(word) {
  const plain = word.replace(/is(e|ed|es|er|ing|ation)s?$/, "iz$1").replace(/our/, "or").replace(/^centre/, "center");
  return plain.length > 3 ? plain.replace(/ies$/, "y").replace(/(ch|sh|x)es$/, "$1").replace(/(?<=[^su])s$/, "") : plain;
}

// One form for a verb and what is made of it: "regularise", "regularised", "regularisation".
function stem(word) {
  const plain = spelt(word);
  return plain.length > 6 ? plain.replace(/(iz)(e|ed|er|ing|ation)$/, "$1").replace(/(ing|ed)$/, "").replace(/([bdgmnprt])\1$/, "$1").replace(/at(e|or|ion)$/, "at") : plain;
}

function wordsOf(text, form = stem) {
  const plain = text.replace(/k-?means\+\+|kmeans_plus_plus/gi, "kmeanspp").replace(/k-means/gi, "kmeans").replace(/²/g, " 2");
  const bare = plain.normalize("NFKD").replace(/\p{M}/gu, "").replace(/ß/g, "ss");
  const inLetters = bare.replace(/[α-ω]/g, (each) => ` ${GREEK[each.charCodeAt(0) - 945]} `).toLowerCase().replace(/[’']s\b/g, "");
  return (inLetters.match(/\d+(?:\.\d+)+|[\p{L}\p{N}]+/gu) || []).map(form);
}

function nameOf(text) { return wordsOf(text, spelt).join(" "); }

// A symbol as a page prints it: "αi" for "alpha_i" or "\\alpha_i", "Σ" for "Sigma".
function symbolOf(text) {
  const letters = text.replace(/ squared$/, "²").split(/(?<=²)|(?=²)|[\s_^{}\\]+/).map((part) => {
    const at = GREEK.lastIndexOf(part.toLowerCase().replace(/^var/, "")), letter = String.fromCharCode(945 + at);
    return at < 0 ? part : part[0] < "a" ? letter.toUpperCase() : letter;
  });
  return letters.join("").replace(/ϵ/g, "ε").replace(/ϕ/g, "φ");
}

async function addDocuments(packed) {
  const bytes = Uint8Array.from(atob(packed), (each) => each.charCodeAt(0));
  const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const documents = await new Response(text).json();
  const postings = new Map(), lengths = [], named = new Map();
  const name = (key, each) => { named.set(key, [...(named.get(key) || []), each]); };
  documents.forEach((each, n) => {
    const [kind, title, chapter, , text] = each;
    if (kind === "chapter") name(nameOf(title.replace(/^\d+\. (The )?/, "")), each);
    if (kind === "term") for (const key of new Set([nameOf(title), nameOf(title).replace(/ /g, "")])) name(key, each);
    if (kind === "code" && /_[^.]*$/.test(title)) name(`code ${title.replace(/.*\.|_/g, "")}`, each);
    if (kind === "symbol") for (const part of title.split(/[,;]/)) name(`symbol ${part.trim()}`, each);
    if (kind === "term" || kind === "symbol") return;
    const counts = new Map();
    const count = (words, weight) => { for (const word of words) counts.set(word, (counts.get(word) || 0) + weight); };
    const body = wordsOf(text);
    count(wordsOf(title.replace(/_/g, " ")), TITLE);
    count(body, 1);
    if (kind === "walk" || kind === "slip") count(wordsOf(chapter), 1);
    lengths[n] = Math.max(body.length, 30);
    for (const [word, times] of counts) {
      if (!postings.has(word)) postings.set(word, []);
      postings.get(word).push([n, times]);
    }
  });
  const mean = lengths.reduce((sum, each) => sum + each, 0) / lengths.filter(Boolean).length;
  const same = SAME.map((line) => line.split(" = ")).map(([name, words]) => [wordsOf(name).join(" "), words]);
  index = { documents, postings, lengths, named, mean, same: new Map(same.map(([name, words]) => [name, wordsOf(words)])), inFull: new Map(same.map(([name, words]) => [name, nameOf(words)])) };
  search();
}

// How near two words are: 3 with two letters exchanged, 1 with one more, less or other, else 0.
function nearness(a, b) {
  if (Math.abs(a.length - b.length) > 1) return 0;
  let i = 0, j = 0;
  while (i < a.length && a[i] === b[i]) i++;
  while (j < a.length - i && j < b.length - i && a[a.length - 1 - j] === b[b.length - 1 - j]) j++;
  const left = a.slice(i, a.length - j), right = b.slice(i, b.length - j);
  if (left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]) return 3;
  return Math.max(left.length, right.length) <= 1 ? 1 : 0;
}

// The words of the index that a word of the query stands for, with their weights.
function meant(word) {
  const exact = index.postings.has(word) ? [[word, 1]] : [];
  const all = [...index.postings.keys()];
  const longer = word.length >= 4 ? all.filter((each) => each !== word && each.startsWith(word)).map((each) => [each, 0.4]) : [];
  return [...exact, ...longer];
}

// The words; in place of one that no page has stands the nearest that most pages have, and two that
// are one word in the pages are joined: "back propagation".
function mended(words) {
  if (index.same.has(words.join(" "))) return words;
  const joined = [];
  for (const word of words) {
    const both = joined.at(-1) + word;
    if (joined.length && !/^\d/.test(word) && index.postings.has(both)) joined.splice(-1, 1, both);
    else joined.push(word);
  }
  return joined.map((word) => {
    if (word.length < 3 || meant(word).length || index.same.has(word) || index.named.has(word)) return word;
    const least = (each) => (word.length > 3 || index.same.has(each) ? 1 : 3); // of three letters: an abbreviation
    const value = ([each, list]) => (each.length < 3 || nearness(word, each) < least(each) ? 0 : nearness(word, each) * Math.log(1 + list.length));
    const best = [...index.postings].reduce((a, b) => (value(b) > value(a) ? b : a));
    return value(best) > 0 ? best[0] : word;
  });
}

function expanded(words) {
  const terms = words.map((word) => meant(word));
  for (let from = 0; from < words.length; from++) {
    for (const size of [1, 2, 3]) {
      const others = index.same.get(words.slice(from, from + size).join(" "));
      if (!others || from + size > words.length) continue;
      for (let k = from; k < from + size; k++) {
        if (size > 1) terms[k] = terms[k].map(([word, weight]) => [word, weight / 4]); // these are one term
        for (const other of others) terms[k].push([other, 0.8 / Math.sqrt(others.length)]);
      }
    }
  }
  return terms;
}

// The chapters, terms and symbols of this very name; of a name in two words, abbreviations spelt out.
function namesakes(query, words) {
  const said = words.join(" "), same = index.inFull.get(said);
  const bare = wordsOf(query, spelt).filter((word) => !EMPTY.has(word)).join(" ");
  const names = [same, nameOf(query), bare, said, `code ${query.trim().toLowerCase()}`, words.map((word) => index.inFull.get(word) || word).join(" ")];
  const symbols = [query, query.toLowerCase(), query.replace(/_\{?\d+\}?$/, "")].map((each) => `symbol ${symbolOf(each.trim())}`);
  let found = [...names, ...symbols].flatMap((each) => (index.named.get(each) || []).slice(0, 5));
  if (!found.length && !same) found = [...index.named].filter(([name]) => name.startsWith(`${nameOf(query)} `)).flatMap(([, each]) => each).slice(0, 5);
  return [...new Set(found)].sort((a, b) => (b[0] === "chapter") - (a[0] === "chapter"));
}

function ranked(query, only = "") {
  const { documents, postings, lengths, mean } = index, scores = new Map(), hits = new Map();
  query = query.replace(/[∇∂]/g, " gradient ").replace(/\bMAP\b/, "maximum a posteriori").replace(/\bbackprop\b/i, "backpropagation");
  const id = query.trim().toLowerCase(), figure = /^fig(?:ure)?\.? *(\d+)\.(\d+)$/.exec(id);
  if (/-[xws]?\d+$/.test(id)) return documents.filter(([, , , address]) => address.endsWith(`#${id}`));
  const parts = /^(walk|exercise) *(\d+)\.(\d+)$/.exec(id), slips = id.replace(/\b(errat(um|a)|slips?)\b/, "");
  if (parts) return ranked(`${parts[1]} ${parts[3]} chapter ${parts[2]}`);
  if (slips !== id && slips.trim()) return ranked(slips, "slip");
  const asked = /\b(walk|exercise) *(\d+)\b/.exec(id) || /\b(chapter) *(\d+)\b/.exec(id);
  if (asked) { // the rest of the query tells the chapter
    const [whole, kind, number] = asked, best = (ranked(id.replace(whole, ""))[0] || [])[2];
    const name = kind === "chapter" ? new RegExp(`^${number}\\.`) : new RegExp(`^${kind} ${number}\\b`, "i");
    const named = documents.filter(([of, title]) => name.test(title) && (kind !== "chapter" || of === kind));
    if (named.length) return named.sort((a, b) => (b[2] === best) - (a[2] === best)).slice(0, SHOWN);
  }
  if (figure) return documents.filter(([, title]) => title === `Figure ${figure[1]}.${figure[2]}`);
  if (NUMBERED.test(query)) {
    const asked = query.toLowerCase().replace(/^(mln|rep|prnn|isml|irhd)(?=\d)/, "$1 ").replace(/[()]/g, "").replace(/\b(eqs?|equation)\b\.?/g, "equation").trim();
    const whole = new RegExp(`\\b${asked.replace(/[^\w ]/g, "\\$&")}(?![\\d.]*\\d)`, "i");
    const there = (wanted) => documents.filter(([kind, , , , text]) => kind === wanted && whole.test(text));
    return [...there("statement"), ...there("slip")].slice(0, SHOWN);
  }
  const all = mended(wordsOf(query)), telling = (word) => !EMPTY.has(word) || all.every((each) => EMPTY.has(each)), words = all.filter(telling);
  const terms = expanded(words), name = query.trim().toLowerCase();
  if (words.some((word) => word.length > 1) && terms.every((term, k) => words[k].length === 1 || !term.length)) return namesakes(query, words);
  terms.forEach((term, k) => {
    for (const [word, weight] of term) {
      const list = postings.get(word) || [], rare = Math.log(1 + (documents.length - list.length + 0.5) / (list.length + 0.5));
      for (const [n, times] of list) {
        const share = (times * (K1 + 1)) / (times + K1 * (1 - B + (B * lengths[n]) / mean));
        scores.set(n, (scores.get(n) || 0) + weight * rare * share);
        if (!hits.has(n)) hits.set(n, new Set());
        hits.get(n).add(k);
      }
    }
  });
  const said = words.join(" "), same = (index.same.get(said) || [said]).join(" ");
  const score = ([n, sum]) => {
    const [kind, title, chapter] = documents[n], inTitle = wordsOf(title.replace(/_/g, " ")).filter(telling);
    const parts = title.split(":").map((part) => wordsOf(part).filter(telling).join(" ").replace(/^(\d+|walk \d+) (the )?/, ""));
    let whole = kind !== "code" && ` ${inTitle.join(" ")} `.includes(` ${said} `) ? 1.4 : 1;
    if (parts.some((part, k) => (k ? part === said : part.startsWith(said) || part.startsWith(same)))) whole = parts[0] === said ? 2 : 1.8;
    if (kind === "chapter") whole *= terms.every((term) => term.some(([word]) => inTitle.includes(word))) ? 2 : 0.5;
    if (kind === "code" && title.toLowerCase().replace(/_/g, " ").endsWith(`.${name.replace(/_/g, " ")}`)) whole = name.includes("_") ? 4 : 1.6;
    const early = 1 + 1 / (1 + Math.max(0, (parseInt(chapter, 10) || 27) - 1) / 9); // where it is taught first
    return sum * early * KINDS[kind] * (hits.get(n).size / terms.length) ** 2 * whole;
  };
  const best = [...scores].filter(([n]) => !only || documents[n][0] === only).map((pair) => [score(pair), documents[pair[0]]]).sort((a, b) => b[0] - a[0]).slice(0, 4 * SHOWN);
  const phrased = best.map(([value, each]) => [value * (words.length > 1 && wordsOf(each[4]).join(" ").includes(said) ? 1.2 : 1), each]);
  const others = phrased.sort((a, b) => b[0] - a[0]).map(([, each]) => each);
  return [...new Set([...(only ? [] : namesakes(query, words)), ...others])].slice(0, SHOWN);
}

// Some words of the text, around the first of the wanted ones or, if `whole`, from its beginning.
function snippet(whole, text, wanted) {
  const words = text.split(" "), at = words.findIndex((each) => wordsOf(each).some((word) => wanted.has(word)));
  const from = whole ? 0 : Math.max(0, at - 8), part = document.createElement("span");
  if (from > 0) part.append("… ");
  for (const each of words.slice(from, from + 26)) {
    const found = wordsOf(each).some((word) => wanted.has(word));
    const piece = found ? document.createElement("b") : document.createElement("span");
    piece.textContent = `${each} `;
    part.append(piece);
  }
  return part;
}

function search() {
  const results = document.getElementById("results"), query = document.getElementById("query").value;
  if (!index || !query.trim()) return results.replaceChildren();
  const list = document.createElement("ul"), found = ranked(query), words = mended(wordsOf(query));
  const wanted = new Set(expanded(words).flat().map(([word]) => word));
  for (const [kind, title, chapter, address, text] of found) {
    const item = document.createElement("li"), link = document.createElement("a"), said = document.createElement("small");
    const stated = kind === "statement" || kind === "slip", part = snippet(stated, text, wanted);
    link.href = address;
    link.append(stated ? part : title);
    said.textContent = kind === "chapter" ? "chapter " : `${kind} · ${stated ? title : chapter} `;
    item.append(said, link, ...(stated ? [] : [document.createElement("br"), part]));
    list.append(item);
  }
  const typed = query.match(/[\p{L}\p{N}+-]+/gu) || [], used = words.join(" ");
  const lost = NUMBERED.test(query) ? [] : typed.filter((each) => wordsOf(each).some((word) => !EMPTY.has(word) && !meant(word).length && !used.includes(word)));
  const missing = found.length && lost.length ? `No page has the word ${lost.join(" or ")}. Pages with a word like it, or without it: ` : "";
  const note = /^(mln|rep|prnn|isml|irhd)(?![a-z])/i.exec(query.trim()), all = document.createElement("a");
  if (note) [all.href, all.textContent] = [`notes_${note[1].toUpperCase()}.html`, ` All numbers of ${note[1].toUpperCase()}.`];
  results.replaceChildren(missing, found.length ? list : "Nothing found.", note ? all : "");
}

function loadDocuments() {
  if (document.querySelector('script[src="documents.js"]')) return;
  const script = document.createElement("script");
  script.src = "documents.js";
  document.head.append(script);
}

addEventListener("DOMContentLoaded", () => {
  const query = document.getElementById("query"), results = document.getElementById("results");
  query.onfocus = loadDocuments;
  query.oninput = search;
  query.form.onsubmit = (event) => {
    event.preventDefault();
    const first = results.querySelector("a");
    if (first) first.click();
  };
  results.onclick = () => results.replaceChildren();
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !document.activeElement.matches("input, select, textarea")) {
      event.preventDefault();
      query.focus();
    }
    if (!results.hasChildNodes()) return;
    if (event.key === "Escape") {
      results.replaceChildren();
      query.focus();
    }
    const links = [query, ...results.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (at < 0 || to === undefined || !links[to]) return;
    event.preventDefault();
    links[to].focus();
  });
});
