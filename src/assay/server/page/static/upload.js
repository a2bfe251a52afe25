// @ts-check
// Sends files, also those of a folder, and tells how far they are sent. Without it the browser sends what is chosen.
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-upload]"));
const bar = /** @type {HTMLProgressElement | null} */ (form?.querySelector("progress") ?? null);
const single = /** @type {HTMLInputElement | null} */ (document.getElementById("files"));
const folder = /** @type {HTMLInputElement | null} */ (document.getElementById("folder"));
/** Files of one request: a server takes no more than 1,000. */
const MOST = 200;

if (single && folder && "webkitdirectory" in folder) {
  folder.closest("label")?.removeAttribute("hidden");
  folder.addEventListener("change", () => (single.required = !folder.files?.length));
}

/**
 * What is chosen, by name. Files of a folder keep those of the folders inside, so that equal names stay apart;
 * hidden ones are left out. @returns {[string, File][]}
 */
function chosen() {
  const inside = [...(folder?.files ?? [])].map((file) => /** @type {[string[], File]} */ ([
    file.webkitRelativePath.split("/").slice(1),
    file,
  ]));
  return [
    ...[...(single?.files ?? [])].map((file) => /** @type {[string, File]} */ ([file.name, file])),
    ...inside
      .filter(([path]) => !path.some((part) => part.startsWith(".")))
      .map(([path, file]) => /** @type {[string, File]} */ ([path.join(" - "), file])),
  ];
}

form?.addEventListener("submit", (event) => {
  if (!bar) return;
  event.preventDefault();
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  const files = chosen();
  const size = files.reduce((sum, [, file]) => sum + file.size, 0) || 1;
  bar.hidden = false;
  button.disabled = true;
  form.querySelector(".fault")?.remove();
  send(0, 0);

  /** Sends the files from one on, and then the next. @param {number} from @param {number} before bytes that are sent */
  function send(from, before) {
    const part = files.slice(from, from + MOST);
    const sending = new XMLHttpRequest();
    sending.upload.addEventListener("progress", (told) => {
      if (bar) bar.value = Math.min(100, Math.round((100 * (before + told.loaded)) / size));
    });
    sending.addEventListener("load", () => {
      const sent = part.reduce((sum, [, file]) => sum + file.size, before);
      if (sending.status >= 400) fail(sending.responseText);
      else if (from + MOST < files.length) send(from + MOST, sent);
      else location.assign(sending.responseURL);
    });
    sending.addEventListener("error", () => fail(form?.dataset.away ?? ""));
    sending.open("POST", form?.action ?? "");
    sending.setRequestHeader("HX-Request", "true");
    sending.setRequestHeader("Accept", "text/plain");
    const data = new FormData();
    for (const [name, file] of part) data.append("files", file, name);
    sending.send(data);
  }

  /** @param {string} why */
  function fail(why) {
    bar?.setAttribute("hidden", "");
    button.disabled = false;
    const note = form?.appendChild(document.createElement("p"));
    if (!note) return;
    note.className = "fault";
    note.setAttribute("role", "alert");
    note.textContent = why.slice(0, 500);
  }
});
