// What the console does beyond forms and links; every page works without it.
"use strict";

// ---------------------------------------------------------------- the proof, checked here

const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hex = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
const sha256 = async (...parts) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer()));

/* The canonical bytes of an entry (docs/format.md): its members by name, without spaces. What is
   shown is what is hashed, so a changed digit leads to another root. */
function entryBytes(shown) {
  const members = {
    actor: shown.actor,
    at: Number(shown.at),
    body_digest: shown.body,
    kind: shown.kind,
    previous_entry_hash: shown.previous,
    seq: Number(shown.seq),
    v: 1,
  };
  return new TextEncoder().encode(JSON.stringify(members));
}

/* RFC 9162, 2.1.3.2: from a leaf to the root over `size` leaves. */
async function climb(leaf, index, size, path) {
  let [number, last, node] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return null;
    if (number % 2 === 1 || number === last) {
      node = await sha256(new Uint8Array([1]), sibling, node);
      while (number % 2 === 0 && number !== 0) {
        number = Math.floor(number / 2);
        last = Math.floor(last / 2);
      }
    } else {
      node = await sha256(new Uint8Array([1]), node, sibling);
    }
    number = Math.floor(number / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? node : null;
}

async function checkProof() {
  const shown = document.getElementById("proof")?.dataset;
  const checked = document.getElementById("checked");
  if (!shown || !checked) return;
  const say = (tone, sign, text) => {
    checked.className = `verdict ${tone}`;
    checked.querySelector("use").setAttribute("href", `#s-${sign}`);
    checked.querySelector("span").textContent = text;
  };
  if (!window.crypto?.subtle) {
    say("plain", "circle", checked.dataset.not);
    return;
  }
  const entry = entryBytes(shown);
  const path = shown.hashes.split(" ").filter(Boolean).map(bytes);
  const leaf = await sha256(new Uint8Array([0]), entry);
  const root = await climb(leaf, Number(shown.seq), Number(shown.size), path);
  const holds =
    hex(await sha256(entry)) === shown.hash && root !== null && hex(root) === shown.root;
  say(holds ? "good" : "bad", holds ? "shield" : "broken", checked.dataset[holds ? "good" : "bad"]);
}

// ------------------------------------------------------------------------ following live

function followJournal() {
  const button = document.getElementById("follow");
  const rows = document.getElementById("entries");
  if (!button || !rows || !window.EventSource) return;
  button.hidden = false;
  const label = button.querySelector("span");
  const start = label.textContent;
  let [source, last] = [null, button.dataset.after];
  button.addEventListener("click", () => {
    if (source) {
      source.close();
      source = null;
    } else {
      source = new EventSource(`${button.dataset.tail}?after=${last}`);
      source.addEventListener("entry", (event) => {
        last = event.lastEventId;
        const made = document.createElement("template");
        made.innerHTML = event.data; // made by the server's templates, which escape
        const row = made.content.querySelector("tr");
        row.classList.add("fresh");
        rows.prepend(row);
      });
    }
    label.textContent = source ? button.dataset.stop : start;
    button.setAttribute("aria-pressed", source ? "true" : "false");
  });
}

// ------------------------------------------------------------------------------- the rest

function slide() {
  document.addEventListener("input", (event) => {
    if (event.target.type !== "range") return;
    const output = event.target.form?.querySelector("output");
    if (output) output.textContent = event.target.value;
  });
}

function foldMenu() {
  const menu = document.querySelector("details.menu");
  if (!menu) return;
  const narrow = window.matchMedia("(max-width: 760px)");
  const fold = () => { menu.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
}

document.documentElement.classList.add("js");
foldMenu();
slide();
followJournal();
checkProof();
