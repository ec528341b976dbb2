// A server and a browser for the tests of a file.

import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { browse, open } from "./page.js";
import { serve } from "./server.js";

/**
 * suite starts a server with arguments, fills it with prepare, and starts a browser, for the tests of a file. After each test the page
 * must have done nothing forbidden.
 */
export function suite(args = [], prepare = async () => {}) {
  const s = {
    server: undefined,
    browser: undefined,
    tab: undefined,
    /** visit opens the console and returns its page. */
    visit: async (hash, options) => (s.tab = await open(s.browser, s.server, hash, options)).page,
    /** refused drops the browser's messages about refused requests, which a test has caused. */
    refused: () => { s.tab.wrong = s.tab.wrong.filter((text) => !/status of [45]\d\d/.test(text)); },
    clipboard: () => s.tab.page.evaluate(() => navigator.clipboard.readText()),
  };
  before(async () => {
    s.server = await serve(...args);
    await prepare(s.server);
    s.browser = await browse();
  });
  after(async () => {
    await s.browser?.close();
    await s.server?.stop();
  });
  afterEach(async () => {
    const wrong = s.tab?.wrong ?? [];
    await s.tab?.context.close();
    s.tab = undefined;
    assert.deepEqual(wrong, [], "forbidden actions of the page");
  });
  return s;
}
