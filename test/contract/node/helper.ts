// The types of the helper for tests in Node: what does not fit them does not compile. It is not run.
import { Server, World } from "../../../examples/node/mockserver.mjs";

export async function use(): Promise<number> {
  const server = await Server.start();
  const world = await World.open(server, "lowfunds-virtual");
  const fault = { kind: "status", status: 503, header: { "Retry-After": "7" } };
  await world.inject("rates.list", fault, { first: 1, committed: true });
  await world.advance(90);
  const wallet = world.wallets[0];
  await world.close();
  return wallet === undefined ? 0 : world.balance(wallet);
}
