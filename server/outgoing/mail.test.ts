import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { DEFAULT_BRAND } from "#lib/brand";
import type { Repeating } from "#lib/repeat";
import { certificateMaker, type ServerCertificate } from "#lib/testing/certificates";
import { collectingLog } from "#lib/testing/collecting-log";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { startMails } from "#server/users";
import { type MailServer, smtpDelivery, watchMailServer } from "./mail";

const FROM = "Spotwire <noreply@spotwire.example>";
const MAIL = { to: "ada@example.com", subject: "Hello", text: "Hello" };
const PASSWORD = "s3cret-w0rd";

/** A real mail server that takes one password, until the test is over. */
async function openServer(options: SMTPServerOptions = {}) {
  const received: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    onAuth: ({ password }, _session, done) =>
      password === PASSWORD ? done(null, { user: "portal" }) : done(new Error("Wrong\r\n password")),
    onData(stream, { envelope }, done) {
      received.push(...envelope.rcptTo.map(({ address }) => address));
      stream.resume().on("end", () => done());
    },
    ...options,
  });
  // A client that does not trust it ends the handshake.
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  return { port: (server.server.address() as AddressInfo).port, received };
}
const PLAIN: SMTPServerOptions = { disabledCommands: ["STARTTLS"], allowInsecureAuth: true };
const filesOf = async ({ certFile, keyFile }: ServerCertificate) => {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  return { cert, key };
};

let clock: WatchedClock;
let lines: Record<string, unknown>[];
const running: Repeating[] = [];
beforeEach(() => {
  clock = watchedClock();
  lines = [];
});
afterEach(() => Promise.all(running.splice(0).map(({ stop }) => stop())));

function watch(server: MailServer) {
  const notes: (string | null)[] = [];
  const watching = watchMailServer({ server, clock, log: collectingLog(lines, "info"), note: (problem) => notes.push(problem) });
  running.push(watching);
  return { notes, stop: watching.stop };
}

/** What a first look at this server finds. */
async function found(server: MailServer): Promise<string | null> {
  const { notes } = watch(server);
  await vi.waitUntil(() => notes.length > 0);
  return notes[0] ?? null;
}

test("a mail server that takes the password is well, gets no email, and is looked at again an hour later", async () => {
  const { port, received } = await openServer(PLAIN);
  const { notes } = watch({ url: `smtp://portal:${PASSWORD}@127.0.0.1:${port}` });
  await clock.waitingFor(HOUR_MS);
  expect(notes).toEqual([null]);
  clock.advance(HOUR_MS);
  await vi.waitUntil(() => notes.length === 2);
  expect(notes).toEqual([null, null]);
  expect(received).toEqual([]);
  expect(lines).toEqual([]);
});

test("a wrong password is logged once with what to check and without it, and so is its end", async () => {
  let right = "another";
  const { port } = await openServer({
    ...PLAIN,
    onAuth: ({ password }, _session, done) =>
      password === right ? done(null, { user: "portal" }) : done(new Error("Wrong\r\n password")),
  });
  const { notes } = watch({ url: `smtp://portal:${PASSWORD}@127.0.0.1:${port}` });
  await clock.waitingFor(5 * MINUTE_MS);
  clock.advance(5 * MINUTE_MS);
  await vi.waitUntil(() => notes.length === 2);
  const problem = expect.stringMatching(
    new RegExp(
      `^The mail server at 127\\.0\\.0\\.1:${port} cannot be used: Invalid login: .*\\. Check the user and the password in SMTP_URL\\.$`,
    ),
  );
  expect(notes).toEqual([problem, problem]);
  expect(lines).toMatchObject([{ level: 40, msg: "emails cannot be sent", reason: problem }]);
  right = PASSWORD;
  await clock.waitingFor(5 * MINUTE_MS);
  clock.advance(5 * MINUTE_MS);
  await clock.waitingFor(HOUR_MS);
  expect(notes.at(-1)).toBeNull();
  expect(lines).toMatchObject([{}, { level: 30, msg: "emails can be sent again" }]);
  expect(JSON.stringify([lines, notes])).not.toContain(PASSWORD);
});

test("a mail server that is away or speaks no TLS is named with its address and what to check", async () => {
  const closed = await found({ url: "smtp://portal@127.0.0.1:1" });
  expect(closed).toMatch(/^The mail server at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/);
  const { port } = await openServer(PLAIN);
  expect(await found({ url: `smtps://127.0.0.1:${port}` })).toMatch(
    /Check the scheme in SMTP_URL: smtps:\/\/ is for a port that/,
  );
  expect(lines).toHaveLength(2);
});

test("a look at a mail server that says nothing ends with the service", async () => {
  const silent = createServer((socket) => socket.resume());
  const asked = new Promise((resolve) => silent.once("connection", resolve));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { notes, stop } = watch({ url: `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}` });
  await asked;
  await stop();
  expect(notes).toEqual([]);
  expect(lines).toEqual([]);
  silent.close();
});

const maker = await certificateMaker();
afterAll(() => maker?.close());

describe.skipIf(maker === undefined)("mail over TLS (needs openssl)", () => {
  const issue = (host: string) => maker?.issue(host) as Promise<ServerCertificate>;

  test.each(["smtp", "smtps"])("a CA of one's own lets %s trust the mail server, and no other CA does", async (scheme) => {
    const certificate = await issue("localhost");
    const { port, received } = await openServer({ ...(await filesOf(certificate)), secure: scheme === "smtps" });
    const url = `${scheme}://portal:${PASSWORD}@localhost:${port}`;
    const { caFile } = certificate;
    expect(await found({ url, caFile })).toBeNull();
    await smtpDelivery({ url, caFile }, FROM)(MAIL);
    expect(received).toEqual([MAIL.to]);
    for (const other of [undefined, (await issue("localhost")).caFile]) {
      expect(await found({ url, caFile: other })).toMatch(/Check SMTP_CA_FILE, and the certificate of the mail server\.$/);
      await expect(smtpDelivery({ url, caFile: other }, FROM)(MAIL)).rejects.toThrow();
    }
    expect(received).toHaveLength(1);
  });

  test("with a CA, nothing is sent to a server that offers no TLS", async () => {
    const { caFile } = await issue("localhost");
    const { port, received } = await openServer(PLAIN);
    const server = { url: `smtp://portal:${PASSWORD}@localhost:${port}`, caFile };
    expect(await found(server)).toMatch(/cannot be used: .*STARTTLS/);
    await expect(smtpDelivery(server, FROM)(MAIL)).rejects.toThrow(/STARTTLS/);
    expect(received).toEqual([]);
  });
});

test("operators who would be emailed of problems are told that there is no mail server", () => {
  const noted = (ALERT_EMAIL: string[], SMTP_URL?: string) => {
    const notes: (string | null)[] = [];
    const env = { ALERT_EMAIL, SMTP_URL, SMTP_CA_FILE: undefined, MAIL_FROM: FROM, PUBLIC_URL: undefined };
    const note = (problem: string | null) => notes.push(problem);
    const { stop } = startMails({ env, brand: DEFAULT_BRAND, clock, log: collectingLog(lines, "warn"), noteMailServer: note });
    onTestFinished(stop);
    return notes;
  };
  expect(noted([])).toEqual([]);
  const told = "ALERT_EMAIL is set, but no mail server is: nobody is emailed of problems. Set SMTP_URL.";
  expect(noted(["ops@example.com"])).toEqual([told]);
  expect(lines.map(({ msg }) => msg)).toEqual([told]);
  expect(noted(["ops@example.com"], "smtp://127.0.0.1:1")).toEqual([]);
});
