// @ts-check
// On a narrow screen the agents of a run are tabs: one is shown, all are announced. Without it they stand below each other.
const narrow = matchMedia("(max-width: 47.99rem)");
const place = document.querySelector(".work");
let chosen = "";

/** @param {Element} one @param {string} name @param {string | null} value */
function set(one, name, value) {
  if (one.getAttribute(name) === value) return; // what is told of a change would come again and again
  value === null ? one.removeAttribute(name) : one.setAttribute(name, value);
}

/** @param {Element} list @param {Element} lane */
function tabOf(list, lane) {
  const id = `${lane.id}-tab`;
  const known = document.getElementById(id);
  if (known) return known;
  const made = document.createElement("button");
  made.type = "button";
  made.id = id;
  made.dataset.lane = lane.id;
  made.setAttribute("role", "tab");
  made.setAttribute("aria-controls", lane.id);
  list.append(made);
  return made;
}

function draw() {
  const list = document.querySelector(".lane-tabs");
  const lanes = [...document.querySelectorAll(".lanes > .lane")];
  if (!list) return;
  const tabbed = narrow.matches && lanes.length > 1;
  set(list, "hidden", tabbed ? null : "");
  if (!lanes.some((lane) => lane.id === chosen)) chosen = lanes[0]?.id ?? "";
  for (const lane of lanes) {
    const here = lane.id === chosen;
    const tab = tabOf(list, lane);
    const [name, state] = (lane.querySelector("h3")?.textContent ?? "").trim().split(/\s{2,}|\n/, 2);
    const said = `${name.trim()}${state ? `, ${state.trim()}` : ""}`;
    if (tab.getAttribute("aria-label") !== said) {
      tab.textContent = name.trim();
      tab.setAttribute("aria-label", said);
    }
    set(tab, "class", lane.className.replace("lane", "").trim());
    set(tab, "aria-selected", String(here));
    set(tab, "tabindex", here ? "0" : "-1");
    set(lane, "hidden", tabbed && !here ? "" : null);
    set(lane, "role", tabbed ? "tabpanel" : null);
    set(lane, "tabindex", tabbed ? "0" : null);
  }
}

/** @param {HTMLElement} tab */
function choose(tab) {
  chosen = tab.dataset.lane ?? "";
  draw();
  tab.focus();
  tab.scrollIntoView({ block: "nearest", inline: "nearest" });
}

place?.addEventListener("click", (event) => {
  const tab = /** @type {HTMLElement} */ (event.target).closest?.(".lane-tabs button");
  if (tab instanceof HTMLElement) choose(tab);
});
place?.addEventListener("keydown", (event) => {
  const key = /** @type {KeyboardEvent} */ (event).key;
  const tab = /** @type {HTMLElement} */ (event.target).closest?.(".lane-tabs button");
  if (!tab || !tab.parentElement) return;
  const tabs = /** @type {HTMLElement[]} */ ([...tab.parentElement.children]);
  const at = tabs.indexOf(/** @type {HTMLElement} */ (tab));
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[key];
  if (next === undefined) return;
  event.preventDefault();
  choose(tabs[(next + tabs.length) % tabs.length]);
});

narrow.addEventListener("change", draw);
if (place) {
  draw();
  new MutationObserver(draw).observe(place, { childList: true, subtree: true, attributeFilter: ["class", "hidden"] });
}
