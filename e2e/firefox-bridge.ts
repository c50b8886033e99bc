/**
 * Run by Playwright as if it were Firefox: starts the real one and passes WebDriver BiDi messages between the two.
 *
 * Playwright sends commands when it opens a page that Firefox ESR doesn't know yet, such as one that emulates a colour scheme, and
 * then gives up. Here such a command of {@link OPTIONAL} succeeds without an effect; every other error is passed on.
 */
import { spawn } from "node:child_process";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { type RawData, WebSocket, WebSocketServer } from "ws";

const READY = /WebDriver BiDi listening on (ws:\/\/.*)$/;
/** What our walks don't need. */
const OPTIONAL = /^emulation\./;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly type?: string;
  readonly error?: string;
}

const [, , executable = "", ...args] = process.argv;
const firefox = spawn(executable, args, { stdio: ["inherit", "inherit", "pipe"] });
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => firefox.kill(signal));
firefox.on("exit", (code) => process.exit(code ?? 1));

/** Passes messages both ways until one side closes. */
function join(playwright: WebSocket, request: IncomingMessage, address: string): void {
  const browser = new WebSocket(address + request.url, { perMessageDeflate: false });
  const early: string[] = [];
  const methods = new Map<number, string>();
  browser.on("open", () => early.splice(0).forEach((text) => void browser.send(text)));
  playwright.on("message", (data: RawData) => {
    const text = data.toString();
    const { id = 0, method = "" } = JSON.parse(text) as Message;
    if (OPTIONAL.test(method)) methods.set(id, method);
    if (browser.readyState === WebSocket.OPEN) browser.send(text);
    else early.push(text);
  });
  browser.on("message", (data: RawData) => {
    const text = data.toString();
    const { id = 0, type, error } = JSON.parse(text) as Message;
    const unknown = methods.delete(id) && type === "error" && error === "unknown command";
    playwright.send(unknown ? JSON.stringify({ type: "success", id, result: {} }) : text);
  });
  browser.on("close", () => playwright.close());
  browser.on("error", () => playwright.close());
  playwright.on("close", () => browser.close());
}

createInterface({ input: firefox.stderr }).on("line", (line) => {
  const address = READY.exec(line)?.[1];
  if (address === undefined) {
    process.stderr.write(`${line}\n`);
    return;
  }
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", (socket, request) => join(socket, request, address));
  server.on("listening", () => {
    process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
});
