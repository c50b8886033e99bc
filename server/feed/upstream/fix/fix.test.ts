import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasSharedData, SHARED_DATA_NOTICE, sharedText } from "#lib/testing/shared-data";
import { fixFarSide, fixFields, rawFix } from "#server/testing/fix-far-side";
import { start, until } from "#server/testing/upstream-scene";
import { describeUpstream } from "#server/testing/upstream-suite";
import { fixUpstream } from ".";
import { createBooks, timestampMs } from "./book";
import { createSplitter, encode, type FixMessage } from "./codec";
import { PROFILES, type Profile } from "./profiles";

const SECRET = "a1b2c3d4e5f6-marked";
const timestamp = (ms: number) => new Date(ms).toISOString().replaceAll("-", "").replace("T", "-").replace("Z", "");
const slashed = (ticker: string) => `${ticker.slice(0, 3)}/${ticker.slice(3)}`;
const message = (text: string): FixMessage => {
  const fields = fixFields(text);
  return { type: fields[0]?.[1] ?? "", fields };
};
/** The messages in bytes that come in these chunks. */
function messagesIn(chunks: readonly Buffer[]): FixMessage[] {
  const splitter = createSplitter();
  return chunks
    .flatMap((chunk) => splitter.push(chunk))
    .filter((piece) => piece !== "garbled")
    .map((piece) => piece.message);
}

const quote = (
  symbol: string,
  bid: string | number | null,
  ask: string | number | null,
  timeMs = Date.UTC(2026, 0, 7, 11, 59),
) => {
  const entries = [bid === null ? "" : `269=0|270=${bid}|271=1000000|`, ask === null ? "" : `269=1|270=${ask}|271=1000000|`];
  return `35=W|52=${timestamp(timeMs)}|55=${symbol}|262=prices-0|268=${entries.filter(Boolean).length}|${entries.join("")}58=x`;
};

type Far = Awaited<ReturnType<typeof fixFarSide>>;
const upstream = (far: Pick<Far, "url">, profile: Profile = PROFILES.generic) =>
  fixUpstream({
    host: "127.0.0.1",
    port: Number(new URL(far.url).port),
    tls: false,
    sender: "SPOTWIRE",
    target: "VENUE",
    username: "u",
    password: SECRET,
    profile,
  });

describeUpstream("FIX", {
  farSide: fixFarSide,
  upstream: (far) => upstream(far),
  price: ({ ticker, timeMs, bid, ask }) => quote(slashed(ticker), bid, ask, timeMs),
  heartbeat: "35=0",
  secret: SECRET,
  echo: (text) => `35=j|372=V|58=you sent ${text}`,
  speaksHttp: false,
  unused: {
    "another symbol": quote("EUR/CHF", 1.1, 1.2),
    "one side": quote("EUR/USD", null, 1.2),
    "a price with an exponent": quote("EUR/USD", "1e400", 1.2),
    "minus zero": quote("EUR/USD", "-0", 1.2),
    "no time": quote("EUR/USD", 1.1, 1.2).replace(/52=[^|]*/, "52=soon"),
    "a size of zero": quote("EUR/USD", 1.1, 1.2).replace("1000000", "0"),
    "fewer entries than announced": quote("EUR/USD", 1.1, 1.2).replace("268=2", "268=3"),
    "a refused symbol": "35=Y|262=prices-0|281=0|58=Unknown symbol",
    "a rejected message": "35=3|45=2|372=V|58=no",
    news: "35=B|148=hello",
    "a wrong checksum": rawFix("8=FIX.4.4|9=5|35=0|10=000|").toString(),
    "a wrong length": rawFix("8=FIX.4.4|9=4|35=0|10=161|").toString(),
    "another version": rawFix("8=FIX.4.2|9=5|35=0|10=159|").toString(),
  },
});

describe("the codec", () => {
  const SESSION = [
    "35=A|34=1|49=VENUE|52=20260107-12:00:00.000|56=SPOTWIRE|98=0|108=30|141=Y",
    quote("EUR/USD", "1.10000", "1.10010"),
    "35=j|58=Grüße, 8=FIX.4.4 and 10=000",
    quote("XAU/USD", "4000.1", "4000.5"),
  ].map(fixFields);
  const bytes = Buffer.concat(SESSION.map(encode));

  test("a message has the length and the checksum of FIX", () => {
    // As QuickFIX/C++ wrote it.
    const text = "8=FIX.4.4|9=67|35=A|34=1|49=VENUE|52=20261122-01:57:41.757|56=SPOTWIRE|98=0|108=2|10=215|";
    const [, , ...fields] = fixFields(text);
    expect(encode(fields.slice(0, -1))).toEqual(rawFix(text));
  });

  test("messages are the same, however their bytes are cut", () => {
    const whole = messagesIn([bytes]);
    expect(whole.map(({ fields }) => fields.length)).toEqual(SESSION.map((fields) => fields.length));
    for (let at = 0; at <= bytes.length; at += 1) expect(messagesIn([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    expect(messagesIn([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(messagesIn(chunks)).toEqual(whole);
      }),
    );
  });

  test("a changed byte costs its message alone, and no message is invented", () => {
    const whole = messagesIn([bytes]).map((one) => JSON.stringify(one));
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const broken = Buffer.from(bytes);
        broken[at] = ((broken[at] ?? 0) + by) % 256;
        // A digit of a length may announce more bytes than come; the messages after it are awaited in vain.
        const found = messagesIn([broken, Buffer.from(`${" ".repeat(2_000)}`), bytes]).map((one) => JSON.stringify(one));
        for (const one of found) expect(whole).toContain(one);
        expect(found.length).toBeGreaterThanOrEqual(SESSION.length);
      }),
    );
  });

  test("anything may come between messages", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constantFrom("8=FIX.4.4\u00019=", "8=FI", "8=FIX.4.4\u00019=12\u0001")),
        ),
        (noise) => {
          const chunks = noise.map((one) => Buffer.from(one as string));
          const found = messagesIn([...chunks, bytes, bytes]);
          expect(found.length).toBeGreaterThanOrEqual(SESSION.length);
          const whole = messagesIn([bytes]).map((one) => JSON.stringify(one));
          for (const one of found) expect(whole).toContain(JSON.stringify(one));
        },
      ),
    );
  });

  test("a message that announces more than a megabyte is garbled, and is not waited for", () => {
    expect(messagesIn([rawFix("8=FIX.4.4|9=1048577|35=0|"), bytes])).toHaveLength(SESSION.length);
    expect(messagesIn([rawFix("8=FIX.4.4|9=99999999"), bytes])).toHaveLength(SESSION.length);
  });

  test.skipIf(!hasSharedData)(`public sample sessions are read to their last message${SHARED_DATA_NOTICE}`, () => {
    for (const [name, count] of [
      ["ctrader-official", 8],
      ["fixsim-session", 46],
      ["fxcm", 9],
    ] as const) {
      const text = sharedText(`upstreams/fix44/wire/${name}.fix`);
      const found = messagesIn([Buffer.from(text, "utf8")]);
      expect([name, found.length]).toEqual([name, count]);
    }
  });
});

describe("the book", () => {
  const books = (profile: Profile = PROFILES.generic) => {
    const { apply } = createBooks(profile, new Set(["1", "EUR/USD", "XAU/USD"]));
    return (text: string) => {
      const applied = apply(message(text));
      return "odd" in applied ? applied.odd : applied.received.map(({ symbol, bid, ask }) => [symbol, bid, ask]);
    };
  };

  test("the best of several prices counts, whatever their order; a size of 0 is no price", () => {
    expect(books()("35=W|55=1|268=5|269=1|270=1.3|269=1|270=1.2|269=0|270=1.0|269=0|270=1.1|269=0|270=1.15|271=0")).toEqual([
      ["1", 1.1, 1.2],
    ]);
  });

  test("changes are known by their id; a deletion may have no side", () => {
    const apply = books();
    apply("35=W|55=1|268=2|269=0|270=1.1|278=a|269=1|270=1.2|278=b");
    expect(apply("35=X|268=2|279=0|269=0|278=c|55=1|270=1.15|271=5|279=2|278=b|55=1")).toEqual([["1", 1.15, null]]);
    expect(apply("35=X|268=2|279=0|269=1|278=d|55=1|270=1.3|279=2|278=c|55=1")).toEqual([["1", 1.1, 1.3]]);
    expect(apply("35=X|268=1|279=1|278=d|55=1|270=1.25")).toEqual([["1", 1.1, 1.25]]);
    expect(apply("35=X|268=1|279=1|278=e|280=d|55=1|270=1.24")).toEqual([["1", 1.1, 1.24]]);
    expect(apply("35=X|268=1|279=2|278=unknown|55=1")).toEqual([["1", 1.1, 1.24]]);
  });

  test("without ids, a price replaces the one of its side; a symbol may be said once for several entries", () => {
    const apply = books();
    expect(
      apply("35=X|268=4|279=0|269=0|55=EUR/USD|270=1.1|279=0|269=1|270=1.2|279=0|269=0|55=XAU/USD|270=4000|279=0|269=1|270=4001"),
    ).toEqual([
      ["EUR/USD", 1.1, 1.2],
      ["XAU/USD", 4_000, 4_001],
    ]);
    expect(apply("35=X|268=1|279=1|269=0|55=EUR/USD|270=1.05")).toEqual([["EUR/USD", 1.05, 1.2]]);
    expect(apply("35=X|268=1|279=1|269=4|55=EUR/USD|270=9")).toEqual([]);
  });

  test("entries that are no price are ignored, and a message with another number of entries is not read", () => {
    expect(books()("35=W|55=1|268=3|269=0|270=1.1|269=7|270=1.4|269=1|270=1.2")).toEqual([["1", 1.1, 1.2]]);
    expect(books()("35=W|55=1|268=3|269=0|270=1.1")).toBe("unreadable");
    expect(books()("35=W|55=1|268=99999999|269=0|270=1.1")).toBe("unreadable");
    expect(books()("35=W|55=1|268=0")).toEqual([["1", null, null]]);
  });

  test("sizes of 0 are prices where the venue gives no sizes", () => {
    const text = "35=W|55=EUR/USD|268=2|269=0|270=1.1|271=0|269=1|270=1.2|271=0";
    expect(books(PROFILES.fxcm)(text)).toEqual([["EUR/USD", 1.1, 1.2]]);
    expect(books()(text)).toEqual([["EUR/USD", null, null]]);
  });

  test("a book is bounded", () => {
    const entries = Array.from({ length: 1_001 }, (_, at) => `279=0|269=0|278=${at}|55=1|270=1.1`).join("|");
    expect(() => books()(`35=X|268=1001|${entries}`)).toThrow("more than 1000 prices");
  });

  test("the time of an entry counts where it has milliseconds and is near that of its message", () => {
    const timeOf = (time: string, profile: Profile = PROFILES.generic) => {
      const text = `35=W|52=20260107-12:00:03.500|55=1|268=2|269=0|270=1.1|272=20260107|273=${time}|269=1|270=1.2`;
      const applied = createBooks(profile, new Set(["1"])).apply(message(text));
      return "received" in applied ? new Date(applied.received[0]?.timeMs ?? 0).toISOString().slice(17, 23) : applied.odd;
    };
    expect(timeOf("12:00:02.123456")).toBe("02.123");
    expect(timeOf("12:00:02")).toBe("03.500");
    expect(timeOf("11:59:02.123")).toBe("03.500");
    expect(timeOf("12:00:02.000", PROFILES.fxcm)).toBe("03.500");
    expect(timestampMs("20260107-12:00:03.500123")).toBe(Date.UTC(2026, 0, 7, 12, 0, 3, 500));
    expect(timestampMs("2026-01-07 12:00:03")).toBeNaN();
  });

  test.skipIf(!hasSharedData)(`the public samples of cTrader and FXCM give their prices${SHARED_DATA_NOTICE}`, () => {
    const heardOf = (name: string, symbol: string, profile: Profile) => {
      const { apply } = createBooks(profile, new Set([symbol]));
      return messagesIn([Buffer.from(sharedText(`upstreams/fix44/wire/${name}.fix`))])
        .filter(({ type }) => type === "W" || type === "X")
        .map((one) => {
          const applied = apply(one);
          return "odd" in applied ? applied.odd : applied.received.map(({ bid, ask }) => [bid, ask])[0];
        });
    };
    expect(heardOf("ctrader-official", "1", PROFILES.ctrader)).toEqual([
      [1.06625, 1.0663],
      [1.11122, 1.11132],
      [1.11122, 1.06906],
      [1.11122, 1.06906],
    ]);
    expect(heardOf("fxcm", "EUR/JPY", PROFILES.fxcm)).toEqual([[126.085, 126.093]]);
  });
});

describe("a session", () => {
  /** Runs against a far side; resolves with what it was told, by type. */
  async function session(profile?: Profile, answer?: Parameters<typeof fixFarSide>[0]) {
    const received: FixMessage[] = [];
    const far = await fixFarSide((one, say) => {
      received.push(one);
      answer?.(one, say);
    });
    const run = start(upstream(far, profile));
    const said = (type: string) =>
      received.filter((one) => one.type === type).map(({ fields }) => new Map(fields) as ReadonlyMap<number, string>);
    return {
      far,
      run,
      said,
      async end() {
        run.stop.abort();
        await run.ended;
        await far.close();
      },
    };
  }

  test("a logon resets the sequence and asks for both sides of every instrument; a logout ends the session", async () => {
    const { far, run, said, end } = await session();
    far.script((peer) => peer.send(quote("EUR/USD", 1.1, 1.2)));
    await until(() => run.ticks.length === 1);
    const [logon] = said("A");
    expect([34, 49, 56, 98, 108, 141, 553, 554].map((tag) => logon?.get(tag))).toEqual([
      "1",
      "SPOTWIRE",
      "VENUE",
      "0",
      "30",
      "Y",
      "u",
      SECRET,
    ]);
    const [request] = said("V");
    expect([34, 263, 264, 265, 267, 146].map((tag) => request?.get(tag))).toEqual(["2", "1", "1", "1", "2", "2"]);
    run.stop.abort();
    await run.ended;
    await until(() => said("5").length === 1);
    await end();
  });

  test("a TestRequest is answered with its id, and a heartbeat comes when there is nothing else to say", async () => {
    const { far, run, said, end } = await session();
    far.script((peer) => peer.send("35=1|112=HELLO"));
    await until(() => said("0").length === 1);
    expect(said("0")[0]?.get(112)).toBe("HELLO");
    await run.clock.advance(31_000);
    await until(() => said("0").length === 2);
    expect(said("0")[1]?.has(112)).toBe(false);
    await end();
  });

  test("silence is answered with a TestRequest", async () => {
    const { far, run, said, end } = await session();
    far.script((peer) => peer.send(quote("EUR/USD", 1.1, 1.2)));
    await until(() => run.ticks.length === 1);
    await run.clock.advance(37_000);
    await until(() => said("1").length === 1);
    expect(said("1")[0]?.get(112)).toBeDefined();
    await end();
  });

  test("a request to send again is answered with a gap up to the next number", async () => {
    const { far, said, end } = await session();
    far.script((peer) => {
      peer.send("35=2|7=1|16=0");
      peer.send("35=1|112=after");
    });
    await until(() => said("0").length === 1);
    const [gap] = said("4");
    expect([34, 36, 43, 123].map((tag) => gap?.get(tag))).toEqual(["1", "3", "Y", "Y"]);
    expect(said("0")[0]?.get(34)).toBe("3");
    await end();
  });

  test("a gap in what comes is a hole, and the prices after it count", async () => {
    const { far, run, end } = await session();
    far.script((peer) => peer.send(`${quote("EUR/USD", 1.1, 1.2)}|34=9`));
    await until(() => run.ticks.length === 1);
    await end();
  });

  test.each([
    ["a sequence reset", "35=4|34=40|36=9|58=x", "35=1|34=9|112=on"],
    ["a gap fill", "35=4|34=2|123=Y|36=9", "35=1|34=9|112=on"],
    ["a duplicate that says so", "35=0|34=1|43=Y|122=20260107-11:00:00", "35=1|34=2|112=on"],
  ])("%s is followed", async (_, first, second) => {
    const { far, run, said, end } = await session();
    far.script((peer) => {
      peer.send(first);
      peer.send(second);
    });
    await until(() => said("0").length === 1);
    expect(run.problems.filter((problem) => problem !== null)).toEqual([]);
    await end();
  });

  test("a sequence reset to a lower number is rejected, and the session goes on", async () => {
    const { far, said, end } = await session();
    far.script((peer) => {
      peer.send("35=4|34=2|36=1");
      peer.send("35=1|34=2|112=on");
    });
    await until(() => said("0").length === 1);
    expect([373, 371].map((tag) => said("3")[0]?.get(tag))).toEqual(["5", "36"]);
    await end();
  });

  test.each([
    ["a number that is too low", "35=0|34=1", /MsgSeqNum too low, expecting 2 but received 1/],
    ["a message of another sender", "35=0|49=OTHER", /from OTHER to SPOTWIRE/],
    ["a logout", "35=5|58=end of week", /logged us out: end of week/],
  ])("%s ends the session, which is opened again", async (_, text, reason) => {
    const { far, run, end } = await session();
    far.script((peer) => {
      peer.send(text);
      far.script((next) => next.send(quote("EUR/USD", 1.1, 1.2)));
    });
    await until(() => run.lines.some((line) => reason.test(String(line.reason))));
    await run.clock.advance(2_000);
    await until(() => run.ticks.length === 1);
    await end();
  });

  test("cTrader: symbols are the numbers of a list, one in a request, and the first session is left before the second", async () => {
    const securities = "35=y|320=securities|560=0|146=2|55=1|1007=EURUSD|1008=5|55=41|1007=XAUUSD|1008=2";
    const { far, run, said, end } = await session(PROFILES.ctrader, ({ type }, say) => type === "x" && say(securities));
    far.script((peer) => peer.send(quote("41", 4_000.1, 4_000.5)));
    await until(() => run.ticks.length === 1);
    expect(run.ticks[0]).toMatchObject({ ticker: "XAUUSD", bid: 4_000.1 });
    expect(said("V").map((request) => [request.get(146), request.get(55), request.get(57)])).toEqual([
      ["1", "1", "QUOTE"],
      ["1", "41", "QUOTE"],
    ]);
    expect(said("5")).toHaveLength(1);
    await end();
  });

  test("a refused symbol is reported, and the rest streams", async () => {
    const { far, run, end } = await session();
    far.script((peer) => {
      peer.send("35=Y|262=prices-0|281=0|58=Unknown symbol XAU/USD");
      peer.send(quote("EUR/USD", 1.1, 1.2));
    });
    await until(() => run.ticks.length === 1);
    expect(run.lines).toContainEqual(expect.objectContaining({ reason: "refused_symbol" }));
    await end();
  });
});
