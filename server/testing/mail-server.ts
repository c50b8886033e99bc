import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

interface ReceivedMail {
  readonly to: string;
  readonly subject: string;
  /** The whole message as it came. */
  readonly source: string;
}

/** Starts a real mail server on loopback that keeps what it receives. */
export async function openMailServer() {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const source = Buffer.concat(chunks).toString();
        const subject = /^Subject: (.*)\r$/m.exec(source)?.[1] ?? "";
        for (const { address } of envelope.rcptTo) received.push({ to: address, subject, source });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    /** For SMTP_URL. */
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    received: received as readonly ReceivedMail[],
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
