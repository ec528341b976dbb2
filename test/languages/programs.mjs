// Programs for sweep, written from its documentation: node programs.mjs NAME SHIPMENT DIR [PORT]. run.sh lists their verdicts.

import { createHmac, timingSafeEqual } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const key = process.env.SHIPPING_SECRET_KEY;
const documents = process.env.SHIPPING_BASE_URL + "/v1/regulatory-documents/";
const [name, shipment, folder, port] = process.argv.slice(2);

const send = (method, path, body) =>
  fetch(documents + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  });

async function call(method, path, body) {
  const response = await send(method, path, body);
  if (!response.ok) {
    await sleep(1000 * Number(response.headers.get("Retry-After") ?? 0));
    throw new Error(`status ${response.status}`);
  }
  const envelope = await response.json();
  if (envelope.status !== true) throw new Error(envelope.message);
  return envelope.data;
}

const automated = (request) => request.available_documents.filter((d) => d.mode === "automated").map((d) => d.document_type);
const purchase = (request) => call("POST", "purchase", { request_id: request.request_id, document_types: automated(request) });

// okIsEnough reads only the status of the response.
async function okIsEnough() {
  const draft = await call("POST", "analyze", { shipment_id: shipment });
  const response = await send("POST", "purchase", { request_id: draft.request_id, document_types: automated(draft) });
  if (response.ok) return;
  await sleep(1000 * Number(response.headers.get("Retry-After") ?? 0));
  const { status } = await call("GET", `request/${draft.request_id}`);
  if (status === "draft") throw new Error("not purchased");
}

const signed = (body, signature = "") => {
  const want = createHmac("sha512", key).update(body).digest();
  const got = Buffer.from(signature, "hex");
  return got.length === want.length && timingSafeEqual(got, want);
};

// listen calls accept with each genuine notification, and responds when it returns.
function listen(accept) {
  createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    if (!signed(body, request.headers["x-webhook-signature"])) return response.writeHead(401).end();
    const { event, data } = JSON.parse(body);
    if (event === "shipment.created") accept(data.shipment_id);
    response.writeHead(200).end();
  }).listen(Number(port), "127.0.0.1");
}

// work writes the id of the request to a file before the purchase, and reads the request until five minutes after it.
async function work(id) {
  const note = join(folder, `${id}.request`);
  const tried = existsSync(note);
  if (!tried) save(note, (await call("POST", "analyze", { shipment_id: id })).request_id);
  const path = `request/${readFileSync(note, "utf8")}`;
  let request = await call("GET", path);
  if (request.status === "draft" && !tried) {
    await purchase(request).catch(console.error);
    request = await call("GET", path);
  }
  for (const end = Date.now() + 300_000; request.status === "draft" && Date.now() < end; request = await call("GET", path)) await sleep(2000);
  if (request.status === "draft") await purchase(request);
}

function save(file, text) {
  const open = openSync(`${file}.part`, "w");
  writeSync(open, text);
  fsyncSync(open);
  closeSync(open);
  renameSync(`${file}.part`, file);
}

const running = new Map();
function start(id) {
  if (!running.has(id)) running.set(id, untilDone(id));
}

async function untilDone(id) {
  for (let tries = 0; tries < 5; tries++) {
    try {
      await work(id);
      return save(join(folder, `${id}.done`), "");
    } catch (error) {
      console.error(id, error.message);
      await sleep(1000);
    }
  }
}

// respondFirst responds at once, and keeps the work in memory only.
function respondFirst() {
  listen(start);
}

// queue responds when a file has the shipment, and continues unfinished work when it starts.
function queue() {
  const files = readdirSync(folder);
  for (const file of files) {
    const id = file.replace(/\.todo$/, "");
    if (id !== file && !files.includes(`${id}.done`)) start(id);
  }
  listen((id) => {
    if (existsSync(join(folder, `${id}.done`))) return;
    save(join(folder, `${id}.todo`), "");
    start(id);
  });
}

const programs = { "ok-is-enough": okIsEnough, "respond-first": respondFirst, queue };
await programs[name]();
