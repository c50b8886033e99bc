import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

const ARRIVAL_TIMEOUT_MS = 60_000;
/** Line breaks and escapes that a mail's body gets in transit. */
const SOFT_BREAK = /=\r?\n/g;
const QUOTED = /=([0-9A-F]{2})/g;
const LINK = /https?:\/\/[^\s<>"]+/g;

/** A real mail server on loopback. */
export interface Mailbox {
  /** For SMTP_URL. */
  readonly url: string;
  /** All mails that arrived, with their headers. */
  readonly texts: readonly string[];
  /** The next link to this path in a mail to this address, past or future; each is returned once. */
  nextLink(to: string, path: string): Promise<string>;
  close(): Promise<void>;
}

interface Arrived {
  readonly to: string;
  readonly link: string;
}

/** A mail as it is read. */
function textOf(source: string): string {
  const unquote = (_: string, code: string) => String.fromCharCode(Number.parseInt(code, 16));
  const quoted = /^Content-Transfer-Encoding: quoted-printable\r$/im.test(source);
  return quoted ? source.replace(SOFT_BREAK, "").replace(QUOTED, unquote) : source;
}

/** The token of a link. */
export function tokenIn(link: string): string {
  return new URLSearchParams(new URL(link).hash.slice(1)).get("token") ?? "";
}

/** Starts it. */
export async function openMailbox(): Promise<Mailbox> {
  const arrived: Arrived[] = [];
  const texts: string[] = [];
  const watchers = new Set<() => void>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const text = textOf(Buffer.concat(chunks).toString());
        texts.push(text);
        const links = text.match(LINK) ?? [];
        for (const { address } of envelope.rcptTo) arrived.push(...links.map((link) => ({ to: address, link })));
        done();
        for (const look of watchers) look();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    texts,
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    nextLink: (to, path) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(look);
          reject(new Error(`No link to ${path} for ${to} in ${ARRIVAL_TIMEOUT_MS} ms; there are ${JSON.stringify(arrived)}`));
        }, ARRIVAL_TIMEOUT_MS);
        function look(): void {
          const index = arrived.findIndex((mail) => mail.to === to && new URL(mail.link).pathname === path);
          const [found] = index === -1 ? [] : arrived.splice(index, 1);
          if (found === undefined) return;
          clearTimeout(timer);
          watchers.delete(look);
          resolve(found.link);
        }
        watchers.add(look);
        look();
      }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
