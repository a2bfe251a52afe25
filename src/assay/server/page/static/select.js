// @ts-check
// What is selected in a report can be verified, held against counter-evidence, or asked about.
const report = document.getElementById("report");
const bar = document.getElementById("picked");
const next = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("next"));
const LONGEST = 2000;
let text = "";
/** Where the focus was. @type {HTMLElement | null} */
let back = null;

function hide() {
  if (bar) bar.hidden = true;
}

/** The words of a selection, without citations and verdicts. @param {Selection} selection */
function words(selection) {
  const copy = selection.getRangeAt(0).cloneContents();
  for (const sign of copy.querySelectorAll("sup, .verdict")) sign.remove();
  return (copy.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, LONGEST);
}

function offer() {
  const selection = getSelection();
  if (!bar || !report || !selection || selection.isCollapsed || !selection.rangeCount) return hide();
  const range = selection.getRangeAt(0);
  if (!report.contains(range.commonAncestorContainer)) return hide();
  text = words(selection);
  if (text.length < 3) return hide();
  const box = range.getBoundingClientRect();
  bar.hidden = false;
  bar.style.top = `${scrollY + box.bottom + 8}px`;
  bar.style.left = `${Math.max(8, Math.min(box.left, innerWidth - bar.offsetWidth - 16)) + scrollX}px`;
}

/** The claim a citation or a verdict belongs to is the last which begins before it. @param {Element} sign */
function claimOf(sign) {
  const before = [...(report?.querySelectorAll(".claim[id]") ?? [])].filter(
    (claim) => claim.compareDocumentPosition(sign) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  return before.at(-1) ?? null;
}

// By keyboard: j and k go to a citation or a verdict, s selects its sentence and leads to what can be done with it.
document.addEventListener("keydown", (event) => {
  const sign = document.activeElement;
  if (event.key !== "s" || event.ctrlKey || event.metaKey || event.altKey || !bar) return;
  if (!(sign instanceof HTMLElement) || !sign.matches("#report a[data-show]")) return;
  const claim = claimOf(sign);
  if (!claim) return;
  event.preventDefault();
  sign.blur(); // its quote goes
  getSelection()?.selectAllChildren(claim);
  offer();
  back = sign;
  bar.querySelector("button")?.focus();
});

const copier = /** @type {HTMLButtonElement | null} */ (document.getElementById("copy"));
if (copier && navigator.clipboard) copier.hidden = false;
copier?.addEventListener("click", async () => {
  const answer = await fetch(copier.dataset.address ?? "");
  if (!answer.ok) return;
  await navigator.clipboard.writeText(await answer.text());
  copier.textContent = copier.dataset.copied ?? "";
});

report?.addEventListener("pointerup", () => setTimeout(offer));
report?.addEventListener("keyup", (event) => event.shiftKey && offer());
document.addEventListener("selectionchange", () => getSelection()?.isCollapsed && hide());
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !bar || bar.hidden) return;
  const inside = bar.contains(document.activeElement);
  hide();
  if (inside) back?.focus();
});

bar?.addEventListener("pointerdown", (event) => event.preventDefault()); // the selection stays
bar?.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("button");
  if (!button || !next) return;
  const field = /** @type {HTMLInputElement | null} */ (bar.querySelector("input[name=text]"));
  if (button.name === "verify" && field) {
    field.value = text;
    return; // the form is sent
  }
  next.value = (button.dataset.question ?? "").replace("{text}", () => text);
  hide();
  next.scrollIntoView({ block: "center" });
  next.focus();
});
