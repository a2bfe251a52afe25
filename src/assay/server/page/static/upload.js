// @ts-check
// Sends files, also those of a folder, and tells how far they are sent. Without it the browser sends what is chosen.
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-upload]"));
const bar = /** @type {HTMLProgressElement | null} */ (form?.querySelector("progress") ?? null);
const single = /** @type {HTMLInputElement | null} */ (document.getElementById("files"));
const folder = /** @type {HTMLInputElement | null} */ (document.getElementById("folder"));
/** Files of one request: a server takes no more than 100, and progress is told by request. */
const MOST = 50;

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

/** Files as a server takes them at once: so many, and so many bytes. @param {[string, File][]} files @param {number} most */
function parts(files, most) {
  let [part, size] = [/** @type {[string, File][]} */ ([]), 0];
  const parts = [part];
  for (const one of files) {
    if (part.length && (part.length === MOST || size + one[1].size > most)) {
      [part, size] = [[], 0];
      parts.push(part);
    }
    part.push(one);
    size += one[1].size;
  }
  return parts;
}

form?.addEventListener("submit", (event) => {
  if (!bar) return;
  event.preventDefault();
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  const files = chosen();
  const size = files.reduce((sum, [, file]) => sum + file.size, 0) || 1;
  const requests = parts(files, Number(form.dataset.most));
  let [added, unread] = [false, ""];
  bar.hidden = false;
  button.disabled = true;
  form.querySelector(".fault")?.remove();
  send(0, 0);

  /** Sends a part, and then the next. @param {number} number @param {number} before bytes that are sent */
  function send(number, before) {
    const part = requests[number];
    const sending = new XMLHttpRequest();
    sending.upload.addEventListener("progress", (told) => {
      if (bar) bar.value = Math.min(100, Math.round((100 * (before + told.loaded)) / size));
    });
    sending.addEventListener("load", () => {
      const sent = part.reduce((sum, [, file]) => sum + file.size, before);
      if (sending.status === 422) unread = sending.responseText; // nothing of these could be read: there are others
      else if (sending.status >= 400) return fail(sending.responseText);
      else added = true;
      if (number + 1 < requests.length) send(number + 1, sent);
      else if (added) location.assign(location.pathname);
      else fail(unread);
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
