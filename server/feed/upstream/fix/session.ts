import type { Clock } from "#lib/clock";
import { repeat } from "#lib/repeat";
import { SECOND_MS } from "#lib/units";
import { Refused, Upset } from "../../feed";
import type { Link } from "../port";
import { encode, type Field, type FixMessage, fieldOf } from "./codec";

/** HeartBtInt (108). */
const HEARTBEAT_S = 30;
const HEARTBEAT_MS = HEARTBEAT_S * SECOND_MS;
/** A silence that calls for a TestRequest: HeartBtInt and the transmission time that FIX suggests. */
const TEST_AFTER_MS = 1.2 * HEARTBEAT_MS;
/** A silence that ends the session. */
export const FIX_IDLE_MS = 2 * TEST_AFTER_MS;

/** What a refused logon is about, in the words of venues. */
const CREDENTIALS =
  /credential|password|user ?name|invalid (logon|login|user)|authenti|authori[sz]|not (allowed|permitted|enabled)|unknown (user|session|comp)|comp ?id|entitle|RET_INVALID_DATA|RET_NO_SUCH/i;
const ADVICE =
  "Check FIX_SENDER, FIX_TARGET, FIX_USERNAME and FIX_PASSWORD, and whether the venue accepts this server's address.";

/** The two ends of a session, as we write them. */
export interface Parties {
  readonly sender: string;
  readonly target: string;
  readonly senderSub: string | undefined;
  readonly targetSub: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

interface SessionOptions {
  readonly parties: Parties;
  readonly send: (bytes: Buffer) => void;
  readonly clock: Clock;
  readonly odd: Link["odd"];
  /** Ends the timers. */
  readonly signal: AbortSignal;
}

const timestamp = (ms: number) => new Date(ms).toISOString().replaceAll("-", "").replace("T", "-").replace("Z", "");

/**
 * The session of one connection, for market data: sequence numbers begin at 1 with each logon, and nothing is sent again, because
 * old prices are of no use. Duties as in FIX 4.4, volume 2.
 */
export function createSession({ parties, send, clock, odd, signal }: SessionOptions) {
  let [nextOut, expected, sentMs, heardMs] = [1, 1, clock.now(), clock.now()];
  let [isOn, isTested] = [false, false];

  function header(seq: number, type: string, more: readonly Field[]): Field[] {
    const optional: [number, string | undefined][] = [
      [50, parties.senderSub],
      [57, parties.targetSub],
    ];
    const subs = optional.filter((field): field is [number, string] => field[1] !== undefined);
    const now = timestamp(clock.now());
    return [[35, type], [34, String(seq)], [49, parties.sender], [56, parties.target], ...subs, [52, now], ...more];
  }

  function say(type: string, body: readonly Field[]): void {
    send(encode([...header(nextOut, type, []), ...body]));
    nextOut += 1;
    sentMs = clock.now();
  }

  /** Our place in the sequence, without sending anything again. */
  function fillGap(message: FixMessage): void {
    const from = Number(fieldOf(message, 7));
    if (!(from >= 1 && from < nextOut)) return;
    const now = timestamp(clock.now());
    send(
      encode([
        ...header(from, "4", [
          [43, "Y"],
          [122, now],
        ]),
        [123, "Y"],
        [36, String(nextOut)],
      ]),
    );
    sentMs = clock.now();
  }

  function reset(message: FixMessage): void {
    const next = Number(fieldOf(message, 36));
    if (next >= expected) expected = next;
    else {
      const seq = fieldOf(message, 34) ?? "0";
      say("3", [
        [45, seq],
        [371, "36"],
        [372, "4"],
        [373, "5"],
        [58, "NewSeqNo is too low"],
      ]);
    }
  }

  /** Takes the number of a message. @returns false when the message was received before. @throws Upset when it is too low */
  function takeNumber(message: FixMessage): boolean {
    const seq = Number(fieldOf(message, 34));
    if (!Number.isInteger(seq)) throw new Upset("a message has no MsgSeqNum");
    if (seq < expected) {
      if (fieldOf(message, 43) === "Y") return false;
      const said = `MsgSeqNum too low, expecting ${expected} but received ${seq}`;
      say("5", [[58, said]]);
      throw new Upset(said);
    }
    // What was missed is a hole in the prices, and is not asked for.
    if (seq > expected) odd("unreadable", `messages ${expected} to ${seq - 1} did not arrive`);
    expected = seq + 1;
    return true;
  }

  function leave(message: FixMessage): never {
    const text = fieldOf(message, 58) ?? "no reason";
    if (CREDENTIALS.test(text)) throw new Refused(`the venue logged us out: ${text}. ${ADVICE}`);
    if (isOn) say("5", []);
    isOn = false;
    throw new Upset(`the venue logged us out: ${text}`);
  }

  /** @throws Upset when the message is of another session */
  function checkParties(message: FixMessage): void {
    // Some venues write their own name in other cases.
    const same = (tag: number, ours: string) => fieldOf(message, tag)?.toLowerCase() === ours.toLowerCase();
    if (same(49, parties.target) && same(56, parties.sender)) return;
    const [from, to] = [fieldOf(message, 49), fieldOf(message, 56)];
    throw new Upset(`a message is from ${from} to ${to}, not from ${parties.target} to ${parties.sender}`);
  }

  function look(): void {
    const now = clock.now();
    if (isOn && now - sentMs >= HEARTBEAT_MS) say("0", []);
    if (isOn && !isTested && now - heardMs >= TEST_AFTER_MS) {
      isTested = true;
      say("1", [[112, `test-${nextOut}`]]);
    }
  }

  void repeat({ clock, signal, pause: SECOND_MS }, look);

  return {
    say,
    isOn: () => isOn,
    logon(): void {
      const optional: [number, string | undefined][] = [
        [553, parties.username],
        [554, parties.password],
      ];
      const credentials = optional.filter((field): field is [number, string] => field[1] !== undefined);
      say("A", [[98, "0"], [108, String(HEARTBEAT_S)], [141, "Y"], ...credentials]);
    },
    logout(): void {
      if (isOn) say("5", []);
      isOn = false;
    },
    /**
     * Does what a message asks of the session.
     * @returns true when it is the answer to our logon, or not about the session
     * @throws Refused or Upset when the session is over
     */
    take(message: FixMessage): boolean {
      const { type } = message;
      [heardMs, isTested] = [clock.now(), false];
      if (!isOn && type !== "A" && type !== "5") throw new Upset(`the first message is ${type}, not a logon`);
      checkParties(message);
      // A reset says the next number itself, whatever its own is.
      if (type === "4" && fieldOf(message, 123) !== "Y") {
        reset(message);
        return false;
      }
      if (type === "5") leave(message);
      if (!takeNumber(message)) return false;
      switch (type) {
        case "A":
          isOn = true;
          return true;
        case "0":
          return false;
        case "1":
          say("0", [[112, fieldOf(message, 112) ?? "test"]]);
          return false;
        case "2":
          fillGap(message);
          return false;
        case "4":
          reset(message);
          return false;
        default:
          return true;
      }
    },
  };
}
