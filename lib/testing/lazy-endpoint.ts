import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Answers every request with the same text, which is made at the first request. */
interface LazyEndpoint {
  readonly url: string;
  close(): void;
}

/** Opens an endpoint of a test run, through which its worker processes share something that only some of them need. */
export async function openLazyEndpoint(make: () => Promise<string>): Promise<LazyEndpoint> {
  let made: Promise<string> | undefined;
  const server = createServer((_request, response) => {
    made ??= make();
    made.then(
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
 * The text behind an endpoint.
 * @throws Error when it could not be made
 */
export async function askLazyEndpoint(url: string): Promise<string> {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`The test run could not prepare what its tests share: ${text}`);
  return text;
}
