// Types of mockserver.mjs.
type Query = Record<string, string | number | boolean>;

export class Server {
  static start(): Promise<Server>;
  url: string;
  token: string;
  /** The ChildProcess of Node, if the server was started here. */
  process?: any;
  close(): Promise<void>;
  control(method: string, path: string, body?: unknown, query?: Query): Promise<any>;
}

/** A fault, such as { kind: "drop" }: GET /_mock/faults lists the kinds. */
export interface Fault {
  kind: string;
  [member: string]: unknown;
}

/** When a fault applies: the members of a rule in the OpenAPI document. */
export interface Rule {
  first?: number;
  nth?: number;
  each_request?: boolean;
  probability?: number;
  committed?: boolean;
  point?: string;
  event?: string;
  from?: string;
  until?: string;
  name?: string;
}

export class World {
  static open(server: Server, scenario?: string): Promise<World>;
  server: Server;
  name: string;
  key: string;
  wallets: string[];
  shipments: string[];
  get(path: string, query?: Query): Promise<any>;
  post(path: string, body?: unknown): Promise<any>;
  patch(path: string, body?: unknown): Promise<any>;
  inject(operation: string, fault: Fault, rule?: Rule): Promise<any>;
  /** A duration such as "90s", or a number of seconds. */
  advance(duration: string | number): Promise<{ now: string; fired: any[] }>;
  waitFor(operation: string, timeout?: string): Promise<any>;
  journal(operation: string): Promise<any[]>;
  purchases(): Promise<any[]>;
  lint(...allowed: string[]): Promise<void>;
  balance(wallet: string): Promise<number>;
  close(): Promise<void>;
}
