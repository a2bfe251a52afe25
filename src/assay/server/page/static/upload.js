// @ts-check
// Tells how far files are sent. Without it the browser does.
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-upload]"));
const bar = /** @type {HTMLProgressElement | null} */ (form?.querySelector("progress") ?? null);

form?.addEventListener("submit", (event) => {
  if (!bar) return;
  event.preventDefault();
  const sending = new XMLHttpRequest();
  const send = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  sending.upload.addEventListener("progress", (told) => {
    bar.value = told.lengthComputable ? Math.round((100 * told.loaded) / told.total) : 0;
  });
  sending.addEventListener("load", () => {
    if (sending.status < 400) location.assign(sending.responseURL);
    else fail(sending.responseText);
  });
  sending.addEventListener("error", () => fail(form.dataset.away ?? ""));
  /** @param {string} why */
  function fail(why) {
    bar?.setAttribute("hidden", "");
    send.disabled = false;
    const note = form?.querySelector(".fault") ?? form?.appendChild(document.createElement("p"));
    if (!note) return;
    note.className = "fault";
    note.setAttribute("role", "alert");
    note.textContent = why.slice(0, 500);
  }
  bar.hidden = false;
  send.disabled = true;
  sending.open("POST", form.action);
  sending.setRequestHeader("HX-Request", "true");
  sending.setRequestHeader("Accept", "text/plain");
  sending.send(new FormData(form));
});
