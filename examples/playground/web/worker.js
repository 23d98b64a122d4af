// Runs the command in WebAssembly: each question is a run of its own, with the question as standard input.
"use strict";
importScripts("wasm_exec.js");

const compiled = (async () => {
  const answer = await fetch("apportion.wasm.gz");
  if (!answer.ok) throw new Error("apportion.wasm.gz: " + answer.status);
  const bytes = await new Response(answer.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  return WebAssembly.compile(bytes);
})();

let input, taken, out;
fs.read = (fd, buffer, offset, length, position, callback) => {
  const n = Math.min(length, input.length - taken);
  buffer.set(input.subarray(taken, taken + n), offset);
  taken += n;
  callback(null, n);
};
fs.writeSync = (fd, bytes) => {
  out[fd].push(bytes.slice());
  return bytes.length;
};

const text = (parts) => new TextDecoder().decode(new Uint8Array(parts.flatMap((p) => [...p])));

async function run(args, question) {
  const go = new Go();
  let code = 0;
  go.argv = ["apportion", ...args];
  go.exit = (c) => { code = c; };
  input = new TextEncoder().encode(question);
  taken = 0;
  out = { 1: [], 2: [] };
  await go.run(await WebAssembly.instantiate(await compiled, go.importObject));
  return { code, out: text(out[1]), errors: text(out[2]) };
}

// Questions are answered one after the other.
let last = compiled;
onmessage = ({ data: { id, args, question } }) => {
  last = last.then(async () => {
    const began = performance.now();
    postMessage({ id, ...(await run(args, question)), ms: performance.now() - began });
  }).catch((error) => postMessage({ id, code: 1, out: "", errors: JSON.stringify({ error: String(error) }), ms: 0 }));
};
