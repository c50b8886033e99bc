import { readFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { CLIENT_DOCUMENT_MAX_BYTES } from "#lib/contract/limits";
import { certificateMaker } from "#lib/testing/certificates";
import { createSecret, signatureHeaders } from "#lib/webhooks/sign";
import { createReadDocument, createSend } from "./webhooks";

const PORTS = [443];
/** The words for a connection that failed, whatever the reason. */
const NO_CONNECTION = "No connection to the receiver, or no answer in HTTP.";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections?.();
    return new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const receiver = (answer: RequestListener) => listen(createServer(answer));
const message = (url: string) => ({ url, secret: "whsec_c2VjcmV0", id: "m1", body: '{"a":"é"}', nowMs: 1_700_000_000_999 });

test("a message is signed as the example of Standard Webhooks", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const signed = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: '{"test": 2432232314}', nowMs: 1_614_265_330_000 };
  expect(signatureHeaders(secret, signed)).toEqual({
    "webhook-id": signed.id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
  expect(createSecret()).toMatch(/^whsec_[\w+/]{32}$/);
  expect(createSecret()).not.toBe(createSecret());
});

test("a receiver that the operator allows gets the body, signed, and a success is delivered", async () => {
  let got: { method: string | undefined; url: string | undefined; headers: IncomingHttpHeaders; body: string } | undefined;
  const host = await receiver(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    got = { method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() };
    response.writeHead(204).end();
  });
  const sent = message(`http://${host}/in?x=1`);
  expect(await createSend({ userAgent: "Acme-Webhooks/1", allowedHosts: [host], ports: PORTS })(sent)).toEqual({
    status: 204,
    problem: null,
  });
  expect(got).toMatchObject({ method: "POST", url: "/in?x=1", body: sent.body });
  expect(got?.headers).toMatchObject({ ...signatureHeaders(sent.secret, sent), "content-type": "application/json", host });
});

test.each([
  [301, "The receiver answered 301. Redirects are not followed."],
  [404, "The receiver answered 404."],
  [410, "The receiver answered 410."],
  [500, "The receiver answered 500."],
])("an answer %i is a failure, and no redirect is followed", async (status, problem) => {
  const paths: (string | undefined)[] = [];
  const host = await receiver((request, response) => {
    paths.push(request.url);
    response.writeHead(status, { location: "/elsewhere" }).end();
  });
  expect(
    await createSend({ userAgent: "Acme-Webhooks/1", allowedHosts: [host], ports: PORTS })(message(`http://${host}/`)),
  ).toEqual({ status, problem });
  expect(paths).toEqual(["/"]);
});

test("the body of an answer is not read, however long it is", async () => {
  let cut: () => void = () => undefined;
  const wasCut = new Promise<void>((resolve) => {
    cut = resolve;
  });
  const host = await receiver((_request, response) => {
    response.on("close", cut);
    response.writeHead(200);
    response.write("x".repeat(100));
  });
  expect(
    await createSend({ userAgent: "Acme-Webhooks/1", allowedHosts: [host], ports: PORTS })(message(`http://${host}/`)),
  ).toEqual({
    status: 200,
    problem: null,
  });
  await wasCut;
});

test("headers of an answer that are too long are a failure", async () => {
  const host = await receiver((_request, response) => response.writeHead(200, { "x-long": "x".repeat(10_000) }).end());
  const { status, problem } = await createSend({ userAgent: "Acme-Webhooks/1", allowedHosts: [host], ports: PORTS })(
    message(`http://${host}/`),
  );
  expect(status).toBeNull();
  expect(problem).toBe(NO_CONNECTION);
});

test("a receiver that does not answer in time is a failure; one that refuses the connection and one that speaks no HTTP get the same words", async () => {
  const silent = await receiver(() => undefined);
  const other = createTcpServer((socket) => socket.resume().end("220 mail.internal ESMTP\r\n"));
  const mail = await listen(other as unknown as Server);
  const send = createSend({
    userAgent: "Acme-Webhooks/1",
    allowedHosts: [silent, "127.0.0.1:1", mail],
    ports: PORTS,
    timeoutMs: 100,
  });
  expect(await send(message(`http://${silent}/`))).toEqual({ status: null, problem: "No answer within 0.1 s." });
  for (const url of ["http://127.0.0.1:1/", `http://${mail}/`])
    expect(await send(message(url))).toEqual({ status: null, problem: NO_CONNECTION });
});

test("an address that was allowed and no longer is gets nothing", async () => {
  const asked = vi.fn();
  const host = await receiver(asked);
  const { status, problem } = await createSend({ userAgent: "Acme-Webhooks/1", allowedHosts: [], ports: PORTS })(
    message(`http://${host}/`),
  );
  expect([status, problem]).toEqual([null, "The address must begin with https://."]);
  expect(asked).not.toHaveBeenCalled();
});

test.each([
  ["private", ["10.0.0.1"]],
  ["loopback", ["127.0.0.1"]],
  ["metadata", ["169.254.169.254"]],
  ["mapped", ["::ffff:127.0.0.1"]],
  ["public and private", ["8.8.8.8", "192.168.0.1"]],
  ["no", []],
])(
  "a name with %s addresses gets nothing, and the reason tells neither them nor whether the name exists",
  async (_kind, addresses) => {
    const send = createSend({ userAgent: "Acme-Webhooks/1", allowedHosts: [], ports: PORTS, resolve: async () => addresses });
    expect(await send(message("https://hooks.example.com/"))).toEqual({
      status: null,
      problem: "The name of the receiver does not lead to public IP addresses.",
    });
  },
);

test("the name is resolved once, and the connection goes to the address that was checked", async () => {
  let connections = 0;
  const server = createServer();
  server.on("connection", () => {
    connections += 1;
  });
  const { port } = new URL(`http://${await listen(server)}`);
  // As a server of names that gives a public address first and an internal one later.
  const answers = [["127.0.0.1"], ["127.0.0.2"]];
  const check = vi.fn(() => true);
  const send = createSend({
    userAgent: "Acme-Webhooks/1",
    allowedHosts: [],
    ports: [Number(port)],
    resolve: async () => answers.shift() ?? [],
    check,
  });
  const { status } = await send(message(`https://hooks.example.com:${port}/`));
  // It does not speak TLS.
  expect(status).toBeNull();
  expect(check.mock.calls).toEqual([["127.0.0.1", 0, ["127.0.0.1"]]]);
  expect(connections).toBe(1);
  expect(answers).toHaveLength(1);
});

test("the certificate of a receiver is checked", async ({ skip }) => {
  const maker = await certificateMaker();
  if (maker === undefined) return skip("openssl is not installed");
  closing.push(maker.close);
  const { certFile, keyFile } = await maker.issue("127.0.0.1");
  const asked = vi.fn();
  const host = await listen(
    createTlsServer({ cert: await readFile(certFile), key: await readFile(keyFile) }, asked) as unknown as Server,
  );
  const { problem } = await createSend({ userAgent: "Acme-Webhooks/1", allowedHosts: [host], ports: PORTS })(
    message(`https://${host}/`),
  );
  expect(problem).toBe("The certificate of the receiver is not trusted.");
  expect(asked).not.toHaveBeenCalled();
});

test("a document is read whole up to its limit", async () => {
  const host = await receiver((_, response) => response.end("x".repeat(CLIENT_DOCUMENT_MAX_BYTES)));
  const read = createReadDocument({ userAgent: "Acme", allowedHosts: [host], ports: PORTS });
  expect(await read(`http://${host}/client.json`)).toHaveLength(CLIENT_DOCUMENT_MAX_BYTES);
});

test("a document that is too long, too slow, elsewhere or missing is refused, and the connection ends", async () => {
  const answers: Readonly<Record<string, RequestListener>> = {
    "/long": (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(1_000)));
      };
      response.on("drain", more);
      more();
    },
    "/slow": (_, response) => void response.write("{"),
    "/moved": (_, response) => void response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end(),
    "/missing": (_, response) => void response.writeHead(404).end(),
  };
  const asked: (string | undefined)[] = [];
  const host = await receiver((request, response) => {
    asked.push(request.url);
    answers[request.url ?? ""]?.(request, response);
  });
  const read = createReadDocument({ userAgent: "Acme", allowedHosts: [host], ports: PORTS });
  await expect(read(`http://${host}/long`)).rejects.toThrow("It has more than 16384 bytes.");
  const impatient = createReadDocument({ userAgent: "Acme", allowedHosts: [host], ports: PORTS, timeoutMs: 300 });
  await expect(impatient(`http://${host}/slow`)).rejects.toThrow("No answer within 0.3 s.");
  await expect(read(`http://${host}/moved`)).rejects.toThrow("The receiver answered 302. Redirects are not followed.");
  await expect(read(`http://${host}/missing`)).rejects.toThrow("The receiver answered 404.");
  // The time of the slow one can end before its request arrives.
  expect(asked.filter((url) => url !== "/slow")).toEqual(["/long", "/moved", "/missing"]);
});

test("a document is not read from inside the network, whatever its name resolves to", async () => {
  const resolve = async () => ["10.0.0.7"];
  const read = createReadDocument({ userAgent: "Acme", allowedHosts: [], ports: PORTS, resolve });
  await expect(read("https://169.254.169.254/client.json")).rejects.toThrow("must be a public address");
  await expect(read("https://localhost/client.json")).rejects.toThrow("must be a public address");
  await expect(read("https://rebound.example/client.json")).rejects.toThrow("does not lead to public IP addresses");
});
