// Writes the vectors beside it: `node make.mjs`. A second implementation, of another language and
// without a line of ours, so that the vectors can disagree with us. Node is not needed to test.

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const write = (name, value) =>
  writeFileSync(join(here, name), JSON.stringify(value, null, 1).replace(/[\u007f-\uffff]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")) + "\n");

// RFC 8785 is defined by ECMAScript: JSON.stringify for scalars, sort() by UTF-16 units for keys.
const canonical = (value) =>
  Array.isArray(value) ? "[" + value.map(canonical).join(",") + "]"
  : value !== null && typeof value === "object"
    ? "{" + Object.keys(value).sort().map((k) => JSON.stringify(k) + ":" + canonical(value[k])).join(",") + "}"
  : JSON.stringify(value);

// ---------------------------------------------------------------- documents

const documents = {
  "an empty object": "{}",
  "an empty array": " [ ] ",
  "a record": `{"tags":["email","preference"],"id":"m-1","data":{"text":"prefers email","turn":17,
    "verified":true,"ref":null},"createdAt":1763245394123}`,
  "integral floats": "[1.0, -1.0, 0.0, -0.0, 100.0, 1e2, 1E15, 4.50, 2e-3]",
  "large floats": "[1e15, 1e16, 1.2345678901234568e20, 1e20, 1e21, 1.5e300, 9007199254740992.0]",
  "small floats": "[1e-5, 9.99e-6, 1e-6, 1.5e-6, 9.9e-7, 1e-7, 5e-324, -0.0000033333]",
  "the largest integers": "[9007199254740991, -9007199254740991, 0, -1]",
  "keys that sort by UTF-16 units": '{"\\ufb33":1,"\\ud83d\\ude00":2,"\\u20ac":3,"z":4,"Z":5,"10":6,"9":7,"":8,"\\ue000":9}',
  "an astral key deep inside": '[{"a":[{"\\uffee":1,"\\ud800\\udc00":2}]}]',
  "astral text under plain keys": '{"b":"\\ud83d\\ude00 \\ud55c\\uad6d\\uc5b4","a":"\\uffff"}',
  "Korean keys and text": '{"\\uc774\\ub984":"\\uae40","\\ub098\\uc774":30,"\\uac00":[]}',
  "control characters": '"\\u0001\\u0008\\u0009\\u000a\\u000b\\u000c\\u000d\\u001f\\u0020\\u007f\\u0080\\u2028\\u2029"',
  "quotes, slashes and backslashes": '{"\\"":"\\\\","\\/":"\\\\u0000","\\\\u0000":"</script>"}',
  "no normalisation": '["\\u00e9","e\\u0301","\\u212b","\\u00c5"]',
  "a text": '"only a text"',
  "null": "null",
  "nested": '[[[[[{"b":[],"a":{}}]]]],false,true]',
};
write("documents.json", Object.entries(documents).map(([name, json]) =>
  ({ name, json, canonical: canonical(JSON.parse(json)) })));

// ------------------------------------------------------------------ numbers
// Bits of a double, and what ECMAScript writes. The first ones are those of RFC 8785, appendix B.

const bits = `0000000000000000 8000000000000000 0000000000000001 8000000000000001 7fefffffffffffff
 ffefffffffffffff 4340000000000000 c340000000000000 4430000000000000 44b52d02c7e14af5
 44b52d02c7e14af6 44b52d02c7e14af7 444b1ae4d6e2ef4e 444b1ae4d6e2ef4f 444b1ae4d6e2ef50
 3eb0c6f7a0b5ed8c 3eb0c6f7a0b5ed8d 41b3de4355555553 41b3de4355555554 41b3de4355555555
 41b3de4355555556 41b3de4355555557 becbf647612f3696 43143ff3c1cb0959`.split(/\s+/);
const view = new DataView(new ArrayBuffer(8));
const hex = (number) => (view.setFloat64(0, number), view.getBigUint64(0).toString(16).padStart(16, "0"));
const double = (text) => (view.setBigUint64(0, BigInt("0x" + text)), view.getFloat64(0));
for (let power = -323; power <= 308; power += power >= -9 && power < 24 ? 1 : 37) {
  const at = BigInt("0x" + hex(Number("1e" + power)));
  for (const step of [-1n, 0n, 1n]) bits.push((at + step).toString(16).padStart(16, "0"));
}
for (let power = 50; power < 72; power++) bits.push(hex(2 ** power), hex(-(2 ** power) * 1.1));
write("numbers.json", [...new Set(bits)].map((text) => [text, JSON.stringify(double(text))]));

// -------------------------------------------------------------- Merkle tree
// RFC 6962 section 2.1, word for word: MTH, PATH and PROOF as recursions over the leaves.

const sha256 = (...parts) => parts.reduce((h, p) => h.update(p), createHash("sha256")).digest();
const split = (n) => { let k = 1; while (k * 2 < n) k *= 2; return k; };
const mth = (d) => d.length === 0 ? sha256()
  : d.length === 1 ? sha256(Buffer.from([0]), d[0])
  : sha256(Buffer.from([1]), mth(d.slice(0, split(d.length))), mth(d.slice(split(d.length))));
const path = (m, d) => {
  if (d.length === 1) return [];
  const k = split(d.length);
  return m < k ? [...path(m, d.slice(0, k)), mth(d.slice(k))]
               : [...path(m - k, d.slice(k)), mth(d.slice(0, k))];
};
const subproof = (m, d, whole) => {
  if (m === d.length) return whole ? [] : [mth(d)];
  const k = split(d.length);
  return m <= k ? [...subproof(m, d.slice(0, k), whole), mth(d.slice(k))]
                : [...subproof(m - k, d.slice(k), false), mth(d.slice(0, k))];
};
const leaves = Array.from({ length: 13 }, (_, i) => Buffer.from(i === 0 ? "" : `memoranda leaf ${i}`.repeat(i)));
const hexes = (hashes) => hashes.map((h) => h.toString("hex"));
const pairs = [[0, 1], [0, 2], [1, 2], [2, 3], [0, 7], [6, 7], [4, 8], [8, 9], [5, 11], [12, 13]];
write("merkle.json", {
  leaves: hexes(leaves),
  roots: hexes(Array.from({ length: 14 }, (_, n) => mth(leaves.slice(0, n)))),
  inclusion: pairs.map(([index, size]) =>
    ({ index, size, proof: hexes(path(index, leaves.slice(0, size))) })),
  consistency: [[1, 1], [1, 2], [1, 13], [2, 3], [3, 7], [4, 7], [6, 8], [7, 13], [8, 13], [12, 13]].map(
    ([old_size, new_size]) => ({ old_size, new_size, proof: hexes(subproof(old_size, leaves.slice(0, new_size), true)) })),
});

// -------------------------------------------------------------------- chain

let previous = "0".repeat(64);
write("chain.json", ["first", "second", "세 번째"].map((text, seq) => {
  const fields = { seq, kind: "create", text };
  const entry = canonical({ ...fields, previous_entry_hash: previous });
  previous = sha256(entry).toString("hex");
  return { fields, entry, entry_hash: previous };
}));
