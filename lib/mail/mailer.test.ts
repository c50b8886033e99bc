import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { manualClock } from "#lib/clock";
import { collectingLog } from "#lib/testing/collecting-log";
import { logDelivery, smtpDelivery } from "#server/outgoing/mail";
import { captureMails } from "./captured-mails";
import { createMailer, type Mailer } from "./mailer";

const FROM = "Spotwire <noreply@spotwire.example>";
const mailTo = (to: string) => ({ to, subject: "Hello", text: "First line\n\nhttps://spotwire.example/verify#token=abc\n" });

interface Received {
  readonly to: string[];
  readonly from: string;
  readonly source: string;
}

let server: SMTPServer;
let url: string;
let received: Received[];
/** Number of times the server will still respond "try later". */
let refusals: number;
let arrival: () => void;
const logged: Record<string, unknown>[] = [];
const log = collectingLog(logged, "warn");

beforeAll(async () => {
  server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    authOptional: false,
    onAuth: ({ username, password }, _session, done) =>
      username === "portal" && password === "pass word" ? done(null, { user: "portal" }) : done(new Error("Wrong password")),
    onMailFrom(_address, _session, done) {
      refusals -= 1;
      done(refusals >= 0 ? Object.assign(new Error("Try later"), { responseCode: 451 }) : null);
      if (refusals >= 0) arrival();
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = envelope;
        const from = mailFrom === false ? "" : mailFrom.address;
        received.push({ from, to: rcptTo.map(({ address }) => address), source: Buffer.concat(chunks).toString() });
        done();
        arrival();
      });
    },
    logger: false,
    allowInsecureAuth: true,
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `smtp://portal:pass%20word@127.0.0.1:${(server.server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise<void>((resolve) => server.close(resolve)));
beforeEach(() => {
  received = [];
  refusals = 0;
  logged.length = 0;
});

/** Resolves with the server's next response to an email. */
const nextArrival = () =>
  new Promise<void>((resolve) => {
    arrival = resolve;
  });

describe("mail over SMTP", () => {
  test("an email arrives complete, from the configured sender", async () => {
    const mailer = createMailer({ deliver: smtpDelivery({ url }, FROM), clock: manualClock(0), log });
    const arrived = nextArrival();
    mailer.send(mailTo("ada@example.com"));
    await arrived;
    await mailer.stop();
    expect(received).toMatchObject([{ from: "noreply@spotwire.example", to: ["ada@example.com"] }]);
    expect(received[0]?.source).toContain("First line\r\n\r\nhttps://spotwire.example/verify#token=abc");
    expect(received[0]?.source).toMatch(/^From: Spotwire <noreply@spotwire\.example>\r$/m);
  });

  test("an email goes to a single address, even for a malicious address", async () => {
    const deliver = smtpDelivery({ url }, FROM);
    arrival = () => undefined;
    const tricks = ["a@example.com, b@example.com", "a@example.com\r\nBcc: b@example.com", '"a@example.com> <b"@example.com'];
    for (const to of tricks) await deliver(mailTo(to)).catch(() => undefined);
    for (const { to, source } of received) {
      expect(to).toHaveLength(1);
      expect(source).not.toMatch(/^Bcc:/im);
    }
  });

  test("an email is retried after 1, 10 and 60 seconds, then dropped", async () => {
    const clock = manualClock(0);
    const waits: number[] = [];
    const waiting = {
      ...clock,
      wait: (ms: number) => {
        waits.push(ms);
        return Promise.resolve();
      },
    };
    const mailer = createMailer({ deliver: smtpDelivery({ url }, FROM), clock: waiting, log });
    refusals = 3;
    const arrived = new Promise<void>((resolve) => {
      arrival = () => received.length > 0 && resolve();
    });
    mailer.send(mailTo("late@example.com"));
    await arrived;
    expect(waits).toEqual([1_000, 10_000, 60_000]);
    refusals = 100;
    const before = refusals;
    const refusedAll = new Promise<void>((resolve) => {
      arrival = () => refusals === before - 4 && resolve();
    });
    mailer.send(mailTo("never@example.com"));
    await refusedAll;
    await mailer.stop();
    expect(received).toHaveLength(1);
    expect(logged.at(-1)).toMatchObject({ msg: "email not sent; giving up", subject: "Hello" });
    expect(JSON.stringify(logged)).not.toMatch(/token=|pass word|pass%20word/);
  });
});

describe("the queue of mails", () => {
  test("an email that is composed later delays nobody who sends it, and is composed again if that fails", async () => {
    const sent: string[] = [];
    let tries = 0;
    const clock = manualClock(0);
    const deliver = async ({ to }: { to: string }) => void sent.push(to);
    const mailer = createMailer({ deliver, clock, log });
    mailer.send(async () => {
      tries += 1;
      if (tries === 1) throw new Error("the database is away");
      return mailTo("late@example.com");
    });
    expect(tries).toBe(0);
    await vi.waitFor(() => expect(logged).toMatchObject([{ reason: "the database is away", again_in_ms: 1_000 }]));
    await clock.advance(1_000);
    await vi.waitFor(() => expect(sent).toEqual(["late@example.com"]));
    await mailer.stop();
  });

  test("the queue holds a thousand emails and drops further ones with a log line", async () => {
    const release: (() => void)[] = [];
    const sent: string[] = [];
    const deliver = async ({ to }: { to: string }) => {
      sent.push(to);
      await new Promise<void>((resolve) => release.push(resolve));
    };
    const mailer: Mailer = createMailer({ deliver, clock: manualClock(0), log });
    // Four are being sent, the rest wait.
    for (let mail = 0; mail < 1_005; mail += 1) mailer.send(mailTo(`${mail}@example.com`));
    expect(sent).toHaveLength(4);
    expect(logged).toMatchObject([{ msg: expect.stringContaining("email dropped") }]);
    const stopped = mailer.stop();
    while (release.length > 0) {
      for (const free of release.splice(0)) free();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await stopped;
    expect(sent).toHaveLength(1_004);
    expect(sent).not.toContain("1004@example.com");
  });
});

test("without a mail server the fifty newest emails are kept, and each is written to the log", async () => {
  const lines: Record<string, unknown>[] = [];
  const outbox = captureMails();
  const deliver = logDelivery(outbox, manualClock(7), collectingLog(lines, "info"));
  for (let mail = 0; mail < 60; mail += 1) await deliver(mailTo(`${mail}@example.com`));
  expect(outbox.list()).toHaveLength(50);
  expect(outbox.list()[0]).toMatchObject({ to: "59@example.com", atMs: 7 });
  expect(lines).toHaveLength(60);
  expect(lines[59]).toMatchObject({ mail: mailTo("59@example.com") });
});
