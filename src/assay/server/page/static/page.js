// @ts-check
// Keys, and questions before something is lost. Every page works without it.
/** @param {EventTarget | null} target */
const isWriting = (target) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button|submit)$/.test(target.type));

const places = /** @type {Record<string, string>} */ ({ h: "/", r: "/runs", l: "/library", v: "/verify" });
const keys = /** @type {HTMLDialogElement | null} */ (document.getElementById("keys"));
let waiting = false;

/** Moves the focus to the next or previous citation or verdict of the report. @param {number} step */
function move(step) {
  const stops = /** @type {HTMLElement[]} */ ([
    ...document.querySelectorAll("#report a[data-show], .draft article a[data-show]"),
  ]).filter((each) => each.offsetParent !== null);
  if (!stops.length) return;
  const at = stops.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const next = at < 0 ? (step > 0 ? 0 : stops.length - 1) : (at + step + stops.length) % stops.length;
  stops[next].focus();
}

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && target instanceof HTMLElement) {
    const form = target.closest("form");
    if (form && isWriting(target)) {
      event.preventDefault();
      form.requestSubmit();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isWriting(target)) return;
  if (waiting) {
    waiting = false;
    if (places[event.key]) location.assign(places[event.key]);
    return;
  }
  if (event.key === "g") {
    waiting = true;
    setTimeout(() => (waiting = false), 1500);
  } else if (event.key === "?" && keys) keys.open ? keys.close() : keys.showModal();
  else if (event.key === "/") {
    const field = /** @type {HTMLElement | null} */ (document.querySelector("[data-focus]"));
    if (field) {
      event.preventDefault();
      field.focus();
    }
  } else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
});

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.dataset.confirm || confirm(form.dataset.confirm)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);

// A form is sent once, however often one presses: what it begins may cost money. After a while it may be sent again.
const AGAIN = 10_000;
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || event.defaultPrevented || form.method !== "post") return;
  if (form.hasAttribute("aria-busy")) return event.preventDefault();
  form.setAttribute("aria-busy", "true");
  setTimeout(() => form.removeAttribute("aria-busy"), AGAIN);
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.removeAttribute("aria-busy");
});

// A menu closes when the focus or a press goes elsewhere.
for (const kind of ["click", "focusin"])
  document.addEventListener(kind, (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]"))
      if (event.target instanceof Node && !menu.contains(event.target)) menu.removeAttribute("open");
  });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.removeAttribute("open");
    menu.querySelector("summary")?.focus();
  }
});

// A moment is shown by the reader's clock, with the name of its time zone; without a script, in UTC. English dates are
// those of ISO 8601, which are Swedish ones.
const tongue = document.documentElement.lang;
const clock = new Intl.DateTimeFormat(tongue === "en" ? "sv" : tongue, {
  ...{ year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" },
  timeZoneName: "short",
});
for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-moment]"))) {
  const text = one.textContent ?? "";
  one.textContent = clock.format(new Date(one.dataset.moment ?? "")) + text.slice(text.indexOf("UTC") + 3);
}

// The contents say where in the text one is.
const entries = new Map(
  [...document.querySelectorAll(".toc a[href^='#']")].map((link) => [link.getAttribute("href")?.slice(1) ?? "", link]),
);
if (entries.size) {
  const heads = [...entries.keys()].map((id) => document.getElementById(id)).filter((each) => each !== null);
  const mark = () => {
    const passed = heads.filter((each) => each.getBoundingClientRect().top < innerHeight * 0.3);
    const here = passed.at(-1)?.id;
    for (const [id, link] of entries) link.toggleAttribute("data-here", id === here);
  };
  let asked = 0;
  addEventListener("scroll", () => (asked ||= requestAnimationFrame(() => ((asked = 0), mark()))), { passive: true });
  mark();
}

// Files may be let go anywhere on a form: beside a question they are sent with it, a draft is read into its field.
const drops = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-drop]"));
const takes = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
for (const kind of ["dragover", "dragleave", "drop"])
  drops?.addEventListener(kind, (event) => {
    if (!takes(/** @type {DragEvent} */ (event))) return;
    event.preventDefault();
    drops.classList.toggle("over", kind === "dragover");
  });
drops?.addEventListener("drop", async (event) => {
  const given = event.dataTransfer?.files;
  if (!given?.length) return;
  const field = /** @type {HTMLInputElement | null} */ (drops.querySelector("input[type=file]"));
  const draft = /** @type {HTMLTextAreaElement | null} */ (drops.querySelector("textarea[name=text]"));
  if (draft) draft.value = await given[0].text();
  if (draft || !field) return;
  field.files = given;
  field.dispatchEvent(new Event("change", { bubbles: true }));
});

const file = /** @type {HTMLInputElement | null} */ (document.querySelector(".chip.file input"));
// Who brings files of his own asks them, and not the web, unless he says so.
const web = /** @type {HTMLInputElement | null} */ (document.querySelector(".ask input[name=web]"));
let webChosen = false;
web?.addEventListener("change", () => (webChosen = true));
file?.addEventListener("change", () => {
  if (web && !webChosen) web.checked = web.defaultChecked && !file.files?.length;
  const label = file.parentElement?.querySelector("span");
  const names = [...(file.files ?? [])].map((each) => each.name);
  const several = (file.dataset.several ?? "").replace("{count}", String(names.length));
  if (label) label.textContent = names.length > 2 ? several : names.join(", ") || (file.dataset.none ?? "");
  file.parentElement?.classList.toggle("filled", names.length > 0);
});
