// @ts-check
// Shows the document behind a citation beside the report, at the passage: its text, or the page of a PDF as it is printed.
// Without it the link leads to the document's own page.
const pane = document.getElementById("source");
const column = document.querySelector(".text-column");
const rail = document.getElementById("claims-rail");
const NARROWEST = 340;
const AROUND = 6000;
const SVG = "http://www.w3.org/2000/svg";
/** What the pane was opened from, and the address of what it shows. */
let opener = /** @type {HTMLElement | null} */ (null);
let shown = "";

/** @template {Element} T @param {string} selector @returns {T} */
const part = (selector) => /** @type {T} */ (pane?.querySelector(selector));
const behind = () => document.querySelectorAll("body > :is(header, main)");

/** @param {string} address */
async function read(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

/** Beside the text where there is room, else over it. */
function place() {
  if (!pane || !column || pane.hidden) return;
  const { left, right } = column.getBoundingClientRect();
  const free = (document.dir === "rtl" ? left : document.documentElement.clientWidth - right) - 24;
  const over = free < NARROWEST;
  pane.classList.toggle("over", over);
  pane.style.width = over ? "" : `${free}px`;
  pane.setAttribute("role", over ? "dialog" : "complementary");
  over ? pane.setAttribute("aria-modal", "true") : pane.removeAttribute("aria-modal");
  for (const each of behind()) each.toggleAttribute("inert", over);
  rail?.toggleAttribute("inert", true);
}

/** The quote of a citation would stand where the source is now: it stands below its citation instead. */
function clear() {
  const note = /** @type {HTMLElement | null} */ (document.querySelector(".note:not([hidden])"));
  const box = document.querySelector("a[data-show][aria-expanded=true]")?.getClientRects()[0];
  if (!pane || pane.hidden || pane.classList.contains("over") || !note || !box) return;
  const side = pane.getBoundingClientRect();
  const beside = note.getBoundingClientRect();
  if (beside.right <= side.left || beside.left >= side.right) return;
  const left =
    document.dir === "rtl"
      ? Math.max(box.left - 24, side.right + 16)
      : Math.max(16, Math.min(box.left - 24, side.left - note.offsetWidth - 16));
  note.style.left = `${left + scrollX}px`;
  note.style.top = `${box.bottom + 8 + scrollY}px`;
  note.style.maxHeight = `${Math.max(160, innerHeight - box.bottom - 20)}px`;
}

function close() {
  if (!pane || pane.hidden) return;
  const inside = pane.contains(document.activeElement);
  pane.hidden = true;
  shown = "";
  rail?.removeAttribute("inert");
  for (const each of behind()) each.removeAttribute("inert");
  if (inside) opener?.focus();
}

/** @param {"page" | "text"} view */
function show(view) {
  /** @type {HTMLInputElement} */ (part(`input[value=${view}]`)).checked = true;
  part(".printed").toggleAttribute("hidden", view !== "page");
  part(".document-text").toggleAttribute("hidden", view !== "text");
  part(view === "page" ? ".printed rect" : "#passage")?.scrollIntoView({ block: "center" });
}

/** @param {{before: string, text: string, after: string}} excerpt */
function write(excerpt) {
  const mark = document.createElement("mark");
  mark.id = "passage";
  mark.textContent = excerpt.text;
  part(".document-text").replaceChildren(excerpt.before, mark, excerpt.after);
}

/** @param {string} sha256 @param {{number: number, width: number, height: number, boxes: Record<string, number>[]}} found */
function draw(sha256, found) {
  const make = (/** @type {string} */ name, /** @type {Record<string, unknown>} */ values) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(values)) made.setAttribute(key, String(value));
    return made;
  };
  const { width, height } = found;
  const dots = Math.min(2000, Math.ceil((part(".body").clientWidth * devicePixelRatio) / 200) * 200);
  const name = (pane?.dataset.page ?? "").replace("{number}", String(found.number));
  const page = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name });
  const href = `/api/v1/documents/${sha256}/pages/${found.number}/picture?width=${dots}`;
  page.append(make("image", { href, width, height }));
  for (const box of found.boxes)
    page.append(
      make("rect", {
        x: box.left * width - 1,
        y: box.top * height - 1,
        width: box.width * width + 2,
        height: box.height * height + 2,
      }),
    );
  part(".printed").replaceChildren(page);
  part(".printed-name").textContent = name;
}

/** @param {HTMLAnchorElement} link @param {boolean} enters whether the focus goes there */
async function open(link, enters) {
  if (!pane) return;
  opener = link;
  const wasOpen = !pane.hidden;
  pane.hidden = false;
  place();
  clear();
  if (enters || pane.classList.contains("over")) pane.focus();
  if (wasOpen && shown === link.href) return;
  shown = link.href;
  const address = new URL(link.href);
  const sha256 = address.pathname.split("/").pop() ?? "";
  const [start, end] = ["start", "end"].map((name) => address.searchParams.get(name));
  part(".document-text").replaceChildren();
  part(".printed").replaceChildren();
  part(".views").toggleAttribute("hidden", true);
  part(".fault").toggleAttribute("hidden", true);
  /** @type {HTMLAnchorElement} */ (part("a.whole")).href = link.href;
  const api = `/api/v1/documents/${sha256}`;
  try {
    const excerpt = await read(`${api}/text?start=${start}&end=${end}&around=${AROUND}`);
    if (shown !== link.href) return;
    part("#source-title").textContent = excerpt.document.title || excerpt.document.name || excerpt.document.url;
    write(excerpt);
    show("text");
    if (excerpt.document.media_type !== "application/pdf") return;
    const found = await read(`${api}/places?start=${start}&end=${end}`).catch(() => null);
    if (!found || shown !== link.href) return;
    draw(sha256, found);
    part(".views").toggleAttribute("hidden", false);
    if (found.boxes.length) show("page");
  } catch {
    if (shown === link.href) part(".fault").toggleAttribute("hidden", false);
  }
}

/** The link to the document behind a citation. @param {HTMLElement} cite @returns {HTMLAnchorElement | null} */
function behindCite(cite) {
  const quote = (cite.dataset.show ?? "").split(" ").find((id) => id.startsWith("quote-"));
  return document.querySelector(`#${CSS.escape(quote ?? "none")} .opens a`);
}

const isPlain = (/** @type {MouseEvent} */ event) => !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;

document.addEventListener("click", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const link = /** @type {HTMLAnchorElement | null} */ (target.closest(".opens a"));
  if (!link || !isPlain(event)) return;
  event.preventDefault();
  const cite = /** @type {HTMLElement | null} */ (document.querySelector("a[data-show][aria-expanded=true]"));
  open(link, true).then(() => link.isConnected || (opener = cite ?? opener));
  if (cite && link.closest(".note")) opener = cite; // the note goes when the focus does
});

// A click on a citation opens its source beside the report, where there is room, instead of the quote, which opens when
// one points there. Enter and a tap open the quote, whose link leads into the source. The script for quotes sees that the
// click is taken.
document.addEventListener(
  "click",
  (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const cite = /** @type {HTMLElement | null} */ (target.closest("#report a.cite[data-show]"));
    const points = event.detail > 0 && /** @type {PointerEvent} */ (event).pointerType !== "touch";
    const takes = points && isPlain(event) && matchMedia("(min-width: 62rem)").matches;
    const there = cite && takes ? behindCite(cite) : null;
    if (!there) return;
    event.preventDefault();
    open(there, false).finally(() => (opener = cite));
  },
  true,
);

// Esc closes the quote first, then the source. While the event goes down the quote is still there.
document.addEventListener(
  "keydown",
  (event) => {
    const note = /** @type {HTMLElement | null} */ (document.querySelector(".note"));
    if (event.key === "Escape" && (!note || note.hidden)) close();
  },
  true,
);
pane?.addEventListener("click", (event) => {
  if (/** @type {HTMLElement} */ (event.target).closest("button.leave")) close();
});
pane?.addEventListener("change", (event) => {
  const value = /** @type {HTMLInputElement} */ (event.target).value;
  show(value === "page" ? "page" : "text");
});
addEventListener("resize", place);
const notes = document.querySelector("body > .note");
if (notes) new MutationObserver(clear).observe(notes, { attributeFilter: ["hidden", "style"] });
