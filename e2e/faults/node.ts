import { API_ONLY, type Product, residentBytesOf, startProduct } from "../server";

export type Role = "ingest" | "edge";

/** One node of the cluster: the product in a separate process, always at the same address. */
export interface Node {
  readonly name: string;
  readonly role: Role;
  readonly url: string;
  pid(): number;
  running(): boolean;
  /** Its output since the last start. */
  output(): string;
  /** Starts it, with these variables changed from now on. */
  start(changes?: Readonly<Record<string, string>>): Promise<void>;
  /** Asks it to stop; resolves to its exit code. */
  stop(): Promise<number | null>;
  kill9(): Promise<void>;
  /** Suspends the process, like a machine that swaps or a virtual machine that is migrated. */
  pause(): void;
  resume(): void;
  /** Resident memory, bytes. */
  residentBytes(): Promise<number>;
  dispose(): Promise<void>;
}

interface NodeOptions {
  name: string;
  role: Role;
  port: number;
  variables: Readonly<Record<string, string>>;
}

/** Creates a node without starting it. */
export function createNode({ name, role, port, variables }: NodeOptions): Node {
  const url = `http://127.0.0.1:${port}`;
  let product: Product | undefined;
  let running = false;
  let changed: Readonly<Record<string, string>> = {};
  const made = (): Product => {
    if (product === undefined) throw new Error(`${name} was not started`);
    return product;
  };
  return {
    name,
    role,
    url,
    pid: () => made().pid,
    running: () => running,
    output: () => made().output(),
    async start(changes = {}) {
      changed = { ...changed, ...changes };
      const all = { ...API_ONLY, ...variables, ROLE: role, PORT: `${port}`, NODE_URL: url, LIVE_FEED: "push", ...changed };
      product = product === undefined ? await startProduct(all) : await product.restart(changed);
      running = true;
    },
    async stop() {
      const code = await made().stop();
      running = false;
      return code;
    },
    async kill9() {
      await made().kill9();
      running = false;
    },
    pause: () => process.kill(made().pid, "SIGSTOP"),
    resume: () => process.kill(made().pid, "SIGCONT"),
    residentBytes: () => residentBytesOf(made().pid),
    dispose: async () => product?.dispose(),
  };
}
