import { readFileSync } from "node:fs";
import type { Operation } from "#lib/contract/operation";

const folder = (name: string) => new URL(`../${name}/`, import.meta.url);
const TYPESCRIPT = readFileSync(new URL("client.ts", folder("client")), "utf8");
const PYTHON = readFileSync(new URL("spotwire_client/_client.py", folder("client-python")), "utf8");
const PYTHON_SYNC = readFileSync(new URL("spotwire_client/_sync.py", folder("client-python")), "utf8");

const snake = (id: string) => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * What the clients lack of the given operations, one sentence each. Clients read: operations of feeders are called by programs of
 * their own (server/feeders).
 */
export function lackingMethods(operations: readonly Operation[]): string[] {
  return operations
    .filter(({ scope }) => scope !== "market:ingest")
    .flatMap(({ id }) => {
      const name = snake(id);
      const wanted: readonly (readonly [has: boolean, what: string])[] = [
        [new RegExp(`^  ${id}\\(`, "m").test(TYPESCRIPT), `lib/client/client.ts: Client has no method ${id}`],
        [
          new RegExp(`^    async def ${name}\\(`, "m").test(PYTHON),
          `lib/client-python/spotwire_client/_client.py: no method ${name}`,
        ],
        [
          new RegExp(`^    ${name} = _blocking`, "m").test(PYTHON_SYNC),
          `lib/client-python/spotwire_client/_sync.py: no method ${name}`,
        ],
      ];
      return wanted.filter(([has]) => !has).map(([, what]) => what);
    });
}
