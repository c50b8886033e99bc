import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bodyOf, discardRest } from "./body";

let server: Server;
let socket: Socket;
let received = "";

beforeEach(async () => {
  received = "";
  server = createServer(async (request, response) => {
    if (request.url === "/first")
      for await (const chunk of bodyOf(request)) {
        response.setHeader("x-read", chunk.length);
        break;
      }
    response.end("answered");
    discardRest(request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  socket.on("error", () => undefined);
});
afterEach(async () => {
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const answers = () => received.split("answered").length - 1;
const head = (path: string, bytes: number) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`;

test.each(["/unread", "/first"])("a body that is not read to its end (%s) leaves the connection usable", async (path) => {
  const bytes = 2_000_000;
  socket.write(head(path, bytes));
  socket.write(Buffer.alloc(bytes, "a"));
  socket.write(head(path, 3));
  socket.write("abc");
  await vi.waitFor(() => expect(answers()).toBe(2));
});

test("the sender of a body without end gets the answer, and then loses the connection", async () => {
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(head("/unread", Number.MAX_SAFE_INTEGER));
  const chunk = Buffer.alloc(65_536, "a");
  const send = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", send);
  send();
  await closed;
  expect(answers()).toBe(1);
});
