"use strict";
// Opens the quote behind a citation, or what is said of a claim, beside the text. All it shows is in the page already.
(() => {
  const root = document.documentElement;
  const main = document.querySelector("main");
  const words = document.body.dataset;
  const note = document.createElement("div");
  note.className = "note";
  note.hidden = true;
  note.tabIndex = -1;
  note.setAttribute("role", "dialog");
  document.body.append(note);
  let trigger = null;
  let pinned = false;
  let timer = 0;
  let returning = false;

  const at = (id) => document.getElementById(id);

  function bare(node) {
    const copy = node.cloneNode(true);
    for (const one of [copy, ...copy.querySelectorAll("[id]")]) one.removeAttribute("id");
    for (const one of copy.querySelectorAll(".checks, p.quoted, .versions")) one.remove();
    for (const one of copy.querySelectorAll(".compare")) one.replaceWith(...one.querySelectorAll(".compared"));
    for (const link of copy.querySelectorAll("a.to-text")) link.replaceWith(...link.childNodes);
    return copy;
  }

  function element(name, className, ...children) {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  function button(label, act) {
    const made = element("button", "", label);
    made.type = "button";
    made.addEventListener("click", () => act(made));
    return made;
  }

  // A quote with the text that the quotes above and below it share with it, if these are not shown too.
  function inContext(node, ids) {
    const copy = bare(node);
    const text = copy.querySelector("blockquote");
    const [above, below] = [node.previousElementSibling, node.nextElementSibling];
    const around = (quote) => element("span", "around", quote.querySelector("blockquote").textContent);
    if (node.matches(".joined") && !ids.includes(above.id)) text.prepend(around(above));
    if (below?.matches(".joined") && !ids.includes(below.id)) text.append(around(below));
    return copy;
  }

  // The parts of a note: the claim, then the quotes grouped under their source.
  function parts(ids) {
    const made = [];
    let source = "";
    for (const id of ids) {
      const node = at(id);
      if (!node) continue;
      if (node.dataset.source && node.dataset.source === source) {
        made.at(-1).append(inContext(node, ids));
        continue;
      }
      source = node.dataset.source || "";
      const part = element("div", "part");
      if (node.tagName === "LI") part.append(...bare(node).childNodes);
      else if (source) part.append(bare(at(source)), inContext(node, ids));
      else part.append(bare(node));
      const spoken = node.closest("[lang]");
      if (spoken && spoken !== root) [part.lang, part.dir] = [spoken.lang, spoken.dir];
      made.push(part);
    }
    return made;
  }

  function quoted() {
    const lines = [];
    for (const part of note.querySelectorAll(".part")) {
      const head = part.querySelector(".head");
      for (const quote of part.querySelectorAll(".quote")) {
        const where = [...quote.querySelectorAll(".where")].map((line) => line.textContent);
        lines.push("“" + quote.querySelector("mark").textContent + "”", ...where);
      }
      if (head) lines.push(...[...head.querySelectorAll(".title, .facts, .where, .hash")].map((line) => line.textContent), "");
    }
    return lines.join("\n").trim() + "\n";
  }

  async function copy(pressed) {
    try {
      await navigator.clipboard.writeText(quoted());
      pressed.textContent = words.copied;
    } catch {
      const quote = note.querySelector("mark");
      if (quote) getSelection().selectAllChildren(quote);
      pressed.textContent = words.selected;
    }
  }

  function place() {
    if (innerWidth <= 704) {
      note.style.left = note.style.top = note.style.maxHeight = "";
      const hidden = trigger.getBoundingClientRect().bottom + 12 - note.getBoundingClientRect().top;
      if (hidden > 0) scrollBy({ top: hidden });
      return;
    }
    note.style.maxHeight = "";
    const box = trigger.getClientRects()[0];
    const column = main.getBoundingClientRect();
    const aside = root.clientWidth - column.right >= note.offsetWidth + 40;
    const rail = at("claims-rail")?.getBoundingClientRect(); // beside the text, if it is wide
    const end = rail && box.right <= rail.left ? rail.left : root.clientWidth;
    const left = aside ? column.right + 24 : Math.max(16, Math.min(box.left - 24, end - note.offsetWidth - 16));
    note.style.left = left + scrollX + "px";
    const below = innerHeight - box.bottom - 20;
    const above = box.top - 20;
    const down = aside || note.offsetHeight <= below || below >= above;
    note.style.maxHeight = (aside ? innerHeight - 24 : Math.max(down ? below : above, 160)) + "px";
    const top = aside ? Math.max(12, Math.min(box.top - 16, innerHeight - note.offsetHeight - 12)) : box.bottom + 8;
    note.style.top = (down ? top : box.top - 8 - note.offsetHeight) + scrollY + "px";
  }

  function open(link, pin) {
    clearTimeout(timer);
    if (trigger !== link) close();
    const ids = link.dataset.show.split(" ");
    if (trigger !== link) {
      const shown = parts(ids);
      if (!shown.length) return;
      const bar = element("div", "bar", button(words.close, leave));
      if (ids.some((id) => id.startsWith("quote-"))) bar.prepend(button(words.copy, copy));
      note.replaceChildren(bar, ...shown);
      note.setAttribute("aria-label", link.classList.contains("cite") ? words.quote : words.verdict);
      note.hidden = false;
      note.scrollTop = 0;
      trigger = link;
      link.setAttribute("aria-expanded", "true");
      light(true);
      place();
      const wrong = link.matches(".badge:not(.quoted, .supported)"); // then why it is wrong comes first
      const mark = wrong ? null : note.querySelector("mark"); // what is cited, not what stands before it
      const beyond = mark ? mark.getBoundingClientRect().bottom - note.getBoundingClientRect().bottom + 16 : 0;
      if (beyond > 0) note.scrollTop = Math.min(beyond, mark.getBoundingClientRect().top - note.getBoundingClientRect().top - 48);
    }
    pinned = pinned || pin;
    if (pin) note.focus({ preventScroll: true });
  }

  function light(on) {
    if (trigger.classList.contains("badge")) at(trigger.hash.replace("#claim", "at"))?.classList.toggle("lit", on);
  }

  function close() {
    clearTimeout(timer);
    if (!trigger) return;
    light(false);
    trigger.setAttribute("aria-expanded", "false");
    note.hidden = true;
    note.replaceChildren();
    trigger = null;
    pinned = false;
  }

  function leave() {
    const link = trigger;
    const inside = note.contains(document.activeElement);
    close();
    returning = true;
    if (inside && link) link.focus();
    returning = false;
  }

  const linkOf = (event) => event.target.closest?.("a[data-show]");

  document.addEventListener("click", (event) => {
    const link = linkOf(event);
    if (link && event.defaultPrevented) close(); // the page shows something else
    else if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      if (pinned && trigger === link) leave();
      else open(link, true);
    } else if (!link && !note.contains(event.target)) close();
  });
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const link = linkOf(event);
    if (link || note.contains(event.target)) clearTimeout(timer);
    if (link && !pinned && link !== trigger) timer = setTimeout(() => open(link, false), 140);
    else if (!link && !pinned && !note.contains(event.target)) {
      clearTimeout(timer);
      timer = setTimeout(close, 260);
    }
  });
  document.addEventListener("focusin", (event) => {
    const link = linkOf(event);
    if (link && !returning && link.matches(":focus-visible")) open(link, false);
    else if (!link && !note.contains(event.target)) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && trigger) leave();
  });
  note.addEventListener("keydown", (event) => {
    if (event.key !== "Tab") return;
    const stops = [...note.querySelectorAll("a[href], button")];
    const ends = event.shiftKey ? [note, stops[0]] : [stops.at(-1)];
    if (!ends.includes(document.activeElement)) return;
    event.preventDefault();
    leave();
  });
  addEventListener("resize", () => trigger && place());

  for (const link of document.querySelectorAll("a[data-show]")) {
    link.setAttribute("aria-haspopup", "dialog");
    link.setAttribute("aria-expanded", "false");
    link.removeAttribute("title");
  }

  const contents = document.querySelector(".contents");
  const wide = matchMedia("(min-width: 64rem)");
  const unfold = () => contents && (contents.open = wide.matches);
  wide.addEventListener("change", unfold);
  unfold();

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
  });
})();
