import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** An endpoint of a test run on this machine. */
export interface TestEndpoint {
  readonly url: string;
  close(): void;
}

/** Opens an endpoint that answers each request with the text that `answer` makes, or with 500 and why it cannot. */
export async function openTestEndpoint(answer: (request: IncomingMessage) => Promise<string>): Promise<TestEndpoint> {
  const server = createServer((request, response) => {
    answer(request).then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Opens an endpoint of a test run, through which its worker processes share something that only some of them need: a text that is
 * made at the first request, and tried again at the next one if it cannot be made.
 */
export function openLazyEndpoint(make: () => Promise<string>): Promise<TestEndpoint> {
  let made: Promise<string> | undefined;
  return openTestEndpoint(() => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  });
}

/**
 * The text behind an endpoint.
 * @throws Error when it could not be made
 */
export async function askLazyEndpoint(url: string): Promise<string> {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`The test run could not prepare what its tests share: ${text}`);
  return text;
}
