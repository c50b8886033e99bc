import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { SECOND_MS } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";
import { Upset } from "../../feed";
import type { Link, Received, Upstream } from "../port";
import { type Applied, createBooks } from "./book";
import { createSplitter, type Field, type FixMessage, fieldOf, groupOf } from "./codec";
import type { Profile } from "./profiles";
import { createSession, FIX_IDLE_MS, type Parties } from "./session";

/** How long an answer to our logout is waited for. */
const LOGOUT_MAX_MS = 2 * SECOND_MS;

interface FixVenue extends Omit<Parties, "senderSub" | "targetSub"> {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly senderSub?: string | undefined;
  readonly targetSub?: string | undefined;
  readonly profile: Profile;
}

type LineLink = Omit<Link, "step">;

/** One connection to a venue and its session. It ends by a throw. */
function openLine(venue: FixVenue, link: LineLink) {
  const { host, port, tls, profile } = venue;
  const socket: Socket = tls ? connectTls({ host, port, servername: isIP(host) === 0 ? host : "" }) : connect({ host, port });
  socket.setNoDelay(true);
  let isConnected = false;
  socket.once(tls ? "secureConnect" : "connect", () => {
    isConnected = true;
    session.logon();
  });
  // The reader gets the error, too; without a reader it is of no use.
  socket.on("error", () => undefined);
  const over = new AbortController();
  const { senderSub = profile.senderSub, targetSub = profile.targetSub } = venue;
  const session = createSession({
    parties: { ...venue, senderSub, targetSub },
    send: (bytes) => socket.writable && socket.write(bytes),
    clock: link.clock,
    odd: link.odd,
    signal: over.signal,
  });
  const stop = () => {
    session.logout();
    // So that the logout is on its way.
    setImmediate(() => socket.destroy());
  };
  if (link.signal.aborted) stop();
  link.signal.addEventListener("abort", stop, { once: true });
  const splitter = createSplitter();

  /** The messages of a chunk that are not about the session. */
  function messagesIn(chunk: Buffer): FixMessage[] {
    const messages: FixMessage[] = [];
    for (const piece of splitter.push(chunk)) {
      if (piece === "garbled") link.odd("unreadable", "bytes that are no FIX 4.4 message");
      else {
        link.alive();
        if (session.take(piece.message)) messages.push(piece.message);
      }
    }
    return messages;
  }

  return {
    say: session.say,
    /** Messages as they come, the answer to the logon first. Reads no further than they are taken. */
    async *messages(): AsyncGenerator<readonly FixMessage[]> {
      try {
        for await (const chunk of socket) {
          const messages = messagesIn(chunk as Buffer);
          if (messages.length > 0) yield messages;
        }
      } catch (error) {
        if (error instanceof Error && "code" in error && !link.signal.aborted)
          throw new Upset(`the connection broke: ${error.message}`, { kind: isConnected ? "lost" : "unreachable" });
        throw error;
      }
      link.signal.throwIfAborted();
      const early = "the venue closed the connection before it answered the logon; check FIX_SENDER and FIX_TARGET";
      throw new Upset(session.isOn() ? "the venue closed the connection" : early);
    },
    logout: session.logout,
    close(): void {
      over.abort();
      link.signal.removeEventListener("abort", stop);
      stop();
    },
  };
}

type Line = ReturnType<typeof openLine>;

/** Asks for the best prices of the symbols, in as many requests as the venue wants. */
function subscribe(line: Line, { instrument, depth, updates, requestMaxSymbols }: Profile, symbols: readonly string[]): void {
  for (let at = 0; at < symbols.length; at += requestMaxSymbols) {
    const some = symbols.slice(at, at + requestMaxSymbols);
    const named = some.flatMap((symbol): Field[] => [[instrument.tag, symbol], ...instrument.more]);
    line.say("V", [
      ...([
        [262, `prices-${at}`],
        [263, "1"],
        [264, depth],
        [265, updates],
      ] as const),
      ...([
        [267, "2"],
        [269, "0"],
        [269, "1"],
      ] as const),
      [146, String(some.length)] as const,
      ...named,
    ]);
  }
}

/** Why a message is no price. */
function oddOf(message: FixMessage): Applied {
  return { odd: message.type === "Y" || fieldOf(message, 372) === "V" ? "refused_symbol" : "unknown_type" };
}

/** The securities of a SecurityList (y): numbers by name. */
function listed(message: FixMessage): [name: string, id: string, digits: number | undefined][] {
  return (groupOf(message, 146) ?? []).flatMap((entry) => {
    const [id, name] = [entry.get(55), entry.get(1007)];
    return id === undefined || name === undefined ? [] : [[name, id, Number(entry.get(1008)) || undefined]];
  });
}

/** Prices of a venue that speaks FIX 4.4, over a market data session. */
export function fixUpstream(venue: FixVenue): Upstream {
  const { profile, password } = venue;
  /** The symbols of requests by the names that we show. */
  const ids = new Map<string, string>();

  async function* prices(symbols: readonly string[], link: Link): AsyncGenerator<readonly Received[]> {
    const idOf = (symbol: string) => ids.get(symbol) ?? symbol;
    const names = new Map(symbols.map((symbol) => [idOf(symbol), symbol]));
    const books = createBooks(profile, new Set(names.keys()));
    link.step("authenticating");
    const line = openLine(venue, link);

    function receivedIn(message: FixMessage): readonly Received[] {
      if (message.type === "A") {
        link.step("subscribing");
        subscribe(line, profile, [...names.keys()]);
        link.step("live");
        return [];
      }
      const applied = message.type === "W" || message.type === "X" ? books.apply(message) : oddOf(message);
      if ("received" in applied) return applied.received;
      link.odd(applied.odd, message.fields.map((field) => field.join("=")).join("|"));
      return [];
    }

    try {
      for await (const messages of line.messages()) {
        const received = messages.flatMap(receivedIn).map((one) => ({ ...one, symbol: names.get(one.symbol) ?? one.symbol }));
        if (received.length > 0) yield received;
      }
    } finally {
      line.close();
    }
  }

  /** Logs out, so that the next logon is not refused as a second one. */
  async function leave(line: Line, messages: AsyncGenerator<readonly FixMessage[]>, link: Pick<Link, "clock" | "signal">) {
    line.logout();
    const answered = (async () => {
      for await (const _ of messages);
    })();
    await withTimeout(answered, LOGOUT_MAX_MS, link.clock, link.signal).catch(() => undefined);
  }

  const instruments: NonNullable<Upstream["instruments"]> = async (link) => {
    const line = openLine(venue, { ...link, alive: () => undefined, odd: () => undefined });
    const messages = line.messages();
    try {
      for (;;) {
        const { value = [] } = await messages.next();
        for (const message of value as readonly FixMessage[]) {
          if (message.type === "A")
            line.say("x", [
              [320, "securities"],
              [559, "0"],
            ]);
          if (message.type !== "y") continue;
          const list = listed(message);
          ids.clear();
          for (const [name, id] of list) ids.set(name, id);
          await leave(line, messages, link);
          return list.map(([symbol, , digits]) => (digits === undefined ? { symbol } : { symbol, digits }));
        }
      }
    } finally {
      line.close();
    }
  };

  return {
    name: "fix",
    declares: {
      stream: { kind: "every" },
      clock: "source",
      sides: "both",
      idleMs: FIX_IDLE_MS,
      terms: {
        text: "Your contract with the venue decides whether its prices may be passed on; most forbid it.",
        url: "https://www.fixtrading.org/standards/",
      },
    },
    secrets: password === undefined ? [] : [password],
    // Schemes that say whether it is encrypted.
    addresses: [`${venue.tls ? "wss" : "ws"}://${venue.host}:${venue.port}`],
    ...(profile.symbols === "list" ? { instruments } : { symbolOf: profile.symbolOf }),
    stream: prices,
  };
}
