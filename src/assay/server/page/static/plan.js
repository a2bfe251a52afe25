// @ts-check
// A proposed plan is put in another order by buttons and by dragging. Without it steps are edited, added, and emptied.
const place = document.getElementById("r-needs");
/** @type {HTMLElement | null} */
let dragged = null;

/** @param {string} name @param {string} sign @param {() => void} act */
function button(name, sign, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "plain";
  made.textContent = sign;
  made.setAttribute("aria-label", name);
  made.title = name;
  made.addEventListener("click", act);
  return made;
}

/** @param {HTMLElement} step */
function dress(step) {
  if (step.querySelector(".moves")) return;
  const words = /** @type {HTMLElement | null} */ (step.closest(".plan-steps"))?.dataset ?? {};
  const moves = document.createElement("div");
  moves.className = "moves";
  const title = () => /** @type {HTMLTextAreaElement} */ (step.querySelector("[name=title]"));
  const up = button(words.up ?? "", "↑", () => {
    const before = step.previousElementSibling;
    if (before) before.before(step);
    up.focus();
  });
  const down = button(words.down ?? "", "↓", () => {
    const after = step.nextElementSibling;
    if (after && !after.classList.contains("spare")) after.after(step);
    down.focus();
  });
  const remove = button(words.remove ?? "", "✕", () => {
    const next = /** @type {HTMLElement | null} */ (step.nextElementSibling ?? step.previousElementSibling);
    step.remove();
    next?.querySelector("textarea")?.focus();
  });
  const grip = document.createElement("span");
  grip.className = "grip";
  grip.textContent = "⠿";
  grip.title = words.drag ?? "";
  grip.setAttribute("aria-hidden", "true"); // the buttons do the same
  moves.append(grip, up, down, remove);
  step.append(moves);
  step.draggable = true;
  step.addEventListener("dragstart", (event) => {
    if (document.activeElement === title()) return event.preventDefault();
    dragged = step;
    step.classList.add("dragged");
  });
  step.addEventListener("dragend", () => {
    dragged = null;
    step.classList.remove("dragged");
  });
  step.addEventListener("dragover", (event) => {
    if (!dragged || dragged === step) return;
    event.preventDefault();
    const box = step.getBoundingClientRect();
    if (event.clientY < box.top + box.height / 2) step.before(dragged);
    else step.after(dragged);
  });
}

/** A step which is begun in the spare place becomes one of the others, and there is a new spare one. */
function grow() {
  const spare = /** @type {HTMLElement | null} */ (place?.querySelector(".plan-step.spare") ?? null);
  const title = /** @type {HTMLTextAreaElement | null} */ (spare?.querySelector("[name=title]") ?? null);
  if (!spare || !title || !title.value.trim()) return;
  const next = /** @type {HTMLElement} */ (spare.cloneNode(true));
  for (const field of next.querySelectorAll("textarea")) field.value = "";
  spare.classList.remove("spare");
  spare.after(next);
  dress(spare);
}

function ready() {
  for (const step of place?.querySelectorAll(".plan-step:not(.spare)") ?? []) dress(/** @type {HTMLElement} */ (step));
}

if (place) {
  ready();
  place.addEventListener("change", grow);
  new MutationObserver(ready).observe(place, { childList: true, subtree: true });
}
