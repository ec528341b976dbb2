// Purchases the documents of a shipment once, whatever happens: careless.mjs, fixed. It writes the request down before
// the purchase, and reads it after any error. Started again, it continues with the request that it has written down.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const base = process.env.SHIPPING_BASE_URL + "/v1/regulatory-documents/";
const headers = { Authorization: "Bearer " + process.env.SHIPPING_SECRET_KEY, "Content-Type": "application/json" };

async function call(method, path, body) {
  const response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(5000) });
  if (!response.ok) {
    await sleep(1000 * Number(response.headers.get("Retry-After") ?? 0));
    throw new Error(response.statusText);
  }
  const envelope = await response.json();
  if (envelope.status !== true) throw new Error(envelope.message);
  return envelope.data;
}

async function purchase(request) {
  const types = request.available_documents.filter((d) => d.mode !== "manual").map((d) => d.document_type);
  await call("POST", "purchase", { request_id: request.request_id, document_types: types });
}

async function buy(shipment, notes) {
  const note = join(notes, shipment);
  let request;
  if (existsSync(note)) {
    request = await call("GET", "request/" + readFileSync(note, "utf8"));
  } else {
    request = await call("POST", "analyze", { shipment_id: shipment });
    writeFileSync(note + ".new", request.request_id, { flush: true });
    renameSync(note + ".new", note);
  }
  if (request.status !== "draft") return;
  try {
    await purchase(request);
  } catch (error) {
    console.error(error.message);
    if ((await call("GET", "request/" + request.request_id)).status === "draft") throw error;
  }
}

try {
  await buy(process.argv[2], process.argv[3]);
} catch (error) {
  console.error("start again to find out whether it was purchased:", error.message);
  process.exitCode = 1;
}
