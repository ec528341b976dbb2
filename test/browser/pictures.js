// Makes the pictures that README and the guides show, from a server with a morning's work in it.
//
//   MOCKSERVER=path/to/mockserver node pictures.js

import { mkdirSync } from "node:fs";
import { browse, open } from "./page.js";
import { serve } from "./server.js";

const folder = new URL("../../docs/pictures/", import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
const server = await serve("-clock", "virtual");
const browser = await browse();
try {
  const refused = await morning();
  await picture("console-light", `#/journal/${refused}`, { colorScheme: "light" });
} finally {
  await browser.close();
  await server.stop();
}

async function picture(name, hash, options) {
  const { page, context } = await open(browser, server, hash, options);
  await page.locator(".detail h2").waitFor();
  await page.waitForLoadState("networkidle").catch(() => {});
  await page.screenshot({ path: `${folder}${name}.png` });
  await context.close();
}

/** morning is what a developer may have done, and returns the id of the call that was refused. */
async function morning() {
  const { call, shipments, wallets } = server;
  const documents = "/v1/regulatory-documents";
  const later = (duration) => call("POST", "/_mock/clock/advance", { duration });
  await call("GET", "/v1/countries");
  await later("40s");
  for (const page of [1, 2, 3]) await call("GET", `/v1/rates?perPage=50&page=${page}`);
  await later("2m");
  await call("GET", `/v1/transactions?wallet=${wallets[0]}&perPage=100`);
  await call("GET", "/v1/webhooks");
  await later("1m");
  await call("POST", `${documents}/analyze`, { shipment_id: "SH-MAGICFAILONCE" }).then(({ data }) => buy(data, ["CUSTOMS"]));
  await later("30s");
  const { data } = await call("POST", `${documents}/analyze`, { shipment_id: shipments[0] });
  await buy(data, ["CUSTOMS", "FDA", "TEXTILE", "WATCH"]);
  for (let i = 0; i < 3; i++) {
    await later("6s");
    await call("GET", `${documents}/request/${data.request_id}`);
  }
  await call("POST", "/_mock/faults", { rules: [{ operation: "rates.list", first: 1, fault: { kind: "status", status: 503 } }] });
  await call("GET", "/v1/rates?perPage=50");
  await later("1s");
  await call("GET", "/v1/rates?perPage=50");
  await later("15s");
  const { id } = await call("POST", "/v1/webhooks/replay", { shipment_id: shipments[0] });
  await later("4s");
  await call("POST", "/v1/webhooks/replay", { shipment_id: shipments[0], event: "shipment.created" });
  return id;
}

async function buy(draft, types) {
  await server.call("POST", "/v1/regulatory-documents/purchase", { request_id: draft.request_id, document_types: types });
}
