// @ts-check
// What a live screen does beside the fragments it gets: clocks, the title, the loss of its connection, the end.
const stream = document.getElementById("stream");
const lost = document.getElementById("lost");
const loggedOut = document.getElementById("logged-out");
const question = document.title;
let touched = 0;

for (const kind of ["keydown", "pointerdown", "wheel", "touchmove"])
  addEventListener(kind, () => (touched = Date.now()), { passive: true });

/** @param {number} seconds */
function said(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return minutes < 10 && whole % 60 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** When each clock had which seconds. @type {WeakMap<Element, {text: string, at: number}>} */
const begun = new WeakMap();

function tick() {
  for (const clock of document.querySelectorAll(".clock[data-going]")) {
    const text = clock.getAttribute("data-clock") ?? "0";
    const known = begun.get(clock);
    const since = known?.text === text ? known : { text, at: performance.now() };
    begun.set(clock, since);
    clock.textContent = said(Number(text) + (performance.now() - since.at) / 1000);
  }
}
tick();
setInterval(tick, 1000);

function titled() {
  const state = document.querySelector("#r-status .state strong")?.textContent ?? "";
  document.title = `${state}: ${question.replace(/^[^:]*: /, "")}`;
}
titled();

/** Says that nothing comes any more, and why. @param {"" | "lost" | "logged out"} why */
function say(why) {
  if (lost) lost.hidden = why !== "lost";
  if (loggedOut) loggedOut.hidden = why !== "logged out";
}

/** @param {number | undefined} status */
const reasonOf = (status) => (status === 401 ? "logged out" : "lost");

document.addEventListener("htmx:sse:after:connection", () => say(""));
/** The button of the run that has the focus, or had it when it went away. @type {Element | null} */
let pressed = null;
for (const kind of ["focusin", "pointerdown"])
  document.addEventListener(kind, ({ target }) => {
    pressed = target instanceof Element && target.closest("#r-status .controls") ? target : null;
  });

document.addEventListener("htmx:sse:after:message", () => {
  if (pressed && !pressed.isConnected && document.activeElement === document.body)
    document.getElementById("r-status")?.focus({ preventScroll: true });
  say("");
  titled();
  tick();
});
document.addEventListener("htmx:sse:error", (event) => say(reasonOf(/** @type {any} */ (event).detail.status)));
addEventListener("offline", () => say("lost"));

// Where the first connection fails nobody tries again but this.
let tries = 0;
stream?.addEventListener("htmx:finally:request", (event) => {
  if (/** @type {any} */ (stream)._htmx?.sse || stream.dataset.over) return;
  say(reasonOf(/** @type {any} */ (event).detail.ctx.response?.status));
  tries += 1;
  const again = () =>
    /** @type {any} */ (window).htmx.ajax("GET", stream.getAttribute("hx-sse:connect"), { source: stream });
  setTimeout(again, Math.min(30_000, 1000 * 2 ** tries));
});

// What came of a form is read out in the one line which reads milestones.
const noted = document.getElementById("noted");
const announced = document.getElementById("announced");
if (noted && announced)
  new MutationObserver(() => (announced.textContent = noted.textContent?.trim() ?? "")).observe(noted, { childList: true });

/** Tells who looks elsewhere, where this browser was asked to (`notify.js`). @param {string} text */
function tell(text) {
  if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
  if (localStorage.getItem("assay-notify") === "on") new Notification(text, { body: question, tag: location.pathname });
}

let asked = false;
new MutationObserver(() => {
  const needs = document.querySelector(".needs");
  if (needs && !asked) tell(needs.querySelector("h2")?.textContent ?? "Assay");
  asked = Boolean(needs);
}).observe(document.body, { childList: true, subtree: true });

// Who only watches is led to the report; who does something is not disturbed: the link to it is there.
stream?.addEventListener("ended", () => {
  stream.dataset.over = "true";
  titled();
  tell(document.querySelector("#r-status .state strong")?.textContent ?? "Assay");
  if (steer && !message?.value) steer.hidden = true; // nobody listens any more
  const link = /** @type {HTMLAnchorElement | null} */ (document.querySelector("#r-status a#read"));
  if (link && Date.now() - touched > 3000 && !location.pathname.endsWith("/activity")) location.replace(link.href);
});

// A message is answered when the run follows it. Its field is empty for the next at once, and has it again if it failed.
const steer = /** @type {HTMLFormElement | null} */ (document.querySelector("form.steer"));
const message = steer?.querySelector("input");
let sent = "";
steer?.addEventListener("htmx:before:request", () => {
  if (message) [sent, message.value] = [message.value, ""];
});
steer?.addEventListener("htmx:finally:request", (event) => {
  const answered = /** @type {any} */ (event).detail.ctx.response?.status < 400;
  if (message && !message.value && !answered) message.value = sent;
});
