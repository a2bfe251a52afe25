// @ts-check
// Whether this browser tells of runs which have ended while one looks elsewhere. `live.js` does the telling.
const button = document.getElementById("notify");
const state = document.getElementById("notify-state");
const KEY = "assay-notify";

function show() {
  if (!button || !state || !("Notification" in window)) return;
  const denied = Notification.permission === "denied";
  const on = Notification.permission === "granted" && localStorage.getItem(KEY) === "on";
  button.hidden = denied;
  button.textContent = (on ? button.dataset.on : button.dataset.off) ?? "";
  state.textContent = (denied ? state.dataset.denied : on ? state.dataset.on : state.dataset.off) ?? "";
}

button?.addEventListener("click", async () => {
  const on = Notification.permission === "granted" && localStorage.getItem(KEY) === "on";
  if (!on) await Notification.requestPermission();
  localStorage.setItem(KEY, on ? "off" : "on");
  show();
});
show();
