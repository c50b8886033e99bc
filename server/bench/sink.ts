import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ingestReceiptExample } from "#lib/contract/ingest";
import { successBody } from "#lib/http/respond";

/** Reads each body whole and answers with a receipt, and does nothing else: what a push costs at least. */

const server = createServer((request, response) => {
  let lines = 0;
  request.on("data", (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 0x0a) lines += 1;
  });
  request.on("end", () => {
    const body = successBody({ ...ingestReceiptExample, accepted: lines });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body);
  });
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.on("SIGTERM", () => process.exit(0));
