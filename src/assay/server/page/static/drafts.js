// @ts-check
// Keeps what is written in a form until it has arrived: through a reload, a login that ended, a server that was away.
// It stays in this tab, and only for whoever wrote it. Without it the browser may lose the text.
const KEY = "assay-draft:";
const SENT = "assay-draft-sent";
const user = document.querySelector(".top .user")?.textContent ?? "";
const forms = /** @type {HTMLFormElement[]} */ ([...document.querySelectorAll("form[data-draft]")]);
/** Pages on which nobody can tell yet whether a form has arrived. */
const undecided = document.body.matches(".login, .problem");

/** @typedef {{user: string, fields: Record<string, string[]>}} Draft */

/** A browser may refuse to keep anything. @template T @param {() => T} act @returns {T | null} */
function attempt(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

/** @param {HTMLFormElement} form */
const keyOf = (form) => KEY + form.dataset.draft;

/** @param {HTMLFormElement} form */
const textOf = (form) => /** @type {HTMLTextAreaElement} */ (form.querySelector("textarea"));

/** @param {HTMLFormElement} form */
function keep(form) {
  if (!textOf(form).value.trim()) return sessionStorage.removeItem(keyOf(form));
  /** @type {Record<string, string[]>} */
  const fields = {};
  for (const [name, value] of new FormData(form)) if (typeof value === "string") (fields[name] ??= []).push(value);
  sessionStorage.setItem(keyOf(form), JSON.stringify({ user, fields }));
}

/** @param {HTMLFormElement} form */
function restore(form) {
  const found = /** @type {Draft | null} */ (JSON.parse(sessionStorage.getItem(keyOf(form)) ?? "null"));
  if (!found || textOf(form).value) return; // what the server sent is newer
  if (found.user !== user) return sessionStorage.removeItem(keyOf(form));
  for (const field of form.elements) {
    if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement))
      continue;
    const values = found.fields[field.name] ?? [];
    if (field instanceof HTMLInputElement && /^(checkbox|radio)$/.test(field.type)) {
      const ticked = values.includes(field.value);
      if (field.checked !== ticked) reveal(field);
      field.checked = ticked;
    } else if (!/^(file|hidden|password|submit)$/.test(field.type) && values.length) {
      if (field.value !== values[0]) reveal(field);
      field.value = values[0];
    }
  }
}

/** What differs from the usual is not hidden. @param {Element} field */
function reveal(field) {
  field.closest("details")?.setAttribute("open", "");
}

attempt(() => {
  const sent = sessionStorage.getItem(SENT);
  if (!sent || undecided) return;
  sessionStorage.removeItem(SENT);
  const visit = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"))[0];
  const led = visit.redirectCount > 0; // from a form that arrived; a page one goes to oneself says nothing
  if (led && !forms.some((form) => keyOf(form) === sent)) sessionStorage.removeItem(sent);
});

for (const form of forms) {
  attempt(() => restore(form));
  for (const kind of ["input", "change"]) form.addEventListener(kind, () => attempt(() => keep(form)));
}

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (event.defaultPrevented) return;
  if (form.dataset.draft) attempt(() => (keep(form), sessionStorage.setItem(SENT, keyOf(form))));
  if (!form.matches(".leave")) return;
  attempt(() => {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(KEY)) sessionStorage.removeItem(key);
  });
});
