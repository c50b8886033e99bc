import { randomUUID } from "node:crypto";
import { Agent, get } from "node:http";

const LOOPS_OF_ADDRESS_COUNT = 64;
/** Nine addresses of one /24, which count as nine clients. */
const ADDRESSES = Array.from({ length: 9 }, (_, index) => `127.0.9.${index + 1}`);

/** Loops over pages, from several addresses of one network. */
interface PageFlood {
  /** Ends the loops; resolves to how often each status was answered. */
  stop(): Promise<ReadonlyMap<number, number>>;
}

/**
 * Starts 576 loops over connections that stay open, each of which asks for another page as soon as it has an answer.
 * @param pathOf the next path
 */
export function startPageFlood(baseUrl: string, pathOf: () => string = () => `/docs/${randomUUID()}`): PageFlood {
  const { hostname, port } = new URL(baseUrl);
  const statuses = new Map<number, number>();
  let stopping = false;

  function ask(agent: Agent, localAddress: string): Promise<void> {
    return new Promise((resolve) => {
      const asked = get({ hostname, port, path: pathOf(), agent, localAddress, headers: { host: "flood.example" } }, (answer) => {
        const { statusCode = 0 } = answer;
        statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
        answer.resume().on("close", resolve);
      });
      asked.on("error", () => setTimeout(resolve, 10));
    });
  }
  const agents = ADDRESSES.map(() => new Agent({ keepAlive: true, maxSockets: LOOPS_OF_ADDRESS_COUNT }));
  const loops = ADDRESSES.flatMap((address, index) =>
    Array.from({ length: LOOPS_OF_ADDRESS_COUNT }, async () => {
      while (!stopping) await ask(agents[index] as Agent, address);
    }),
  );
  return {
    async stop() {
      stopping = true;
      await Promise.all(loops);
      for (const agent of agents) agent.destroy();
      return statuses;
    },
  };
}
