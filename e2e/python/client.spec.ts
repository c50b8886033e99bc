import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SOCKET_IO_NAMESPACE, STREAM_PATH } from "#lib/contract/stream";
import { generate } from "#lib/docs/samples/index";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { DEBIAN_PYTHON, type Package } from "#lib/testing/packages";
import { makeKey } from "../commands";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "../server";
import { builtSources, newestPython, type Python, withPackages } from "./pythons";

const ROOT = path.join(import.meta.dirname, "..", "..");
const README = readFileSync(path.join(ROOT, "lib", "client-python", "README.md"), "utf8");
const GUIDE = readFileSync(path.join(ROOT, "lib", "docs", "guides", "python.mdx"), "utf8");
const DEMO_KEY = /sw_test_DEMO\w+/g;
/** mypy alone takes a minute on a busy machine. */
const RUN_MAX_MS = 200_000;
const SLOW_MS = 2 * RUN_MAX_MS;

let product: Product;
let key: string;
let built: Awaited<ReturnType<typeof builtSources>>;
let debian: ReturnType<typeof withPackages>;

beforeAll(async () => {
  [product, built] = await Promise.all([startProduct(), builtSources()]);
  key = (await makeKey(product, { venue: "sandbox", scopes: "market:read,market:stream" })).text;
  debian = withPackages(built.sources);
}, SERVER_TIMEOUT_MS);
afterAll(async () => {
  built?.remove();
  await product?.dispose();
}, SERVER_TIMEOUT_MS);

/** Code as a reader has it, for the service under test. */
const forService = (code: string) => code.replaceAll("http://localhost:3000", product.baseUrl).replaceAll(DEMO_KEY, key);

const run = promisify(execFile);
async function python(
  args: readonly string[],
  { command = DEBIAN_PYTHON, env = {}, cwd = ROOT }: Partial<Python> & { cwd?: string },
) {
  const { stdout, stderr } = await run(command, args, { cwd, timeout: RUN_MAX_MS, env: { ...process.env, ...env } });
  return stdout + stderr;
}

const START = `
from spotwire_client import Spotwire
client = Spotwire("http://localhost:3000", "sw_test_DEMOkeyOfSpotwire")
`;

const FLAVORS = [
  ["Debian's websockets", () => debian],
  ["the newest websockets of an index", () => newestPython(built.sources)],
] as const;

describe.each(FLAVORS)("with %s, against the service", (_, find) => {
  let found: ReturnType<typeof withPackages>;
  beforeAll(() => {
    found = find();
  });

  test("the samples of the README run, blocking and with asyncio", { timeout: SLOW_MS }, async ({ skip }) => {
    if ("missing" in found) return skip(found.missing);
    const codes = [...README.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => forService(code));
    expect(codes.length).toBeGreaterThan(3);
    const outputs: string[] = [];
    for (const code of codes) outputs.push(await python(["-c", code], found));
    expect(outputs.join("")).toMatch(/EURUSD[\s\S]*XAUUSD[\s\S]*EURUSD\n$/);
  });

  test("the stream sample of the docs prints messages", { timeout: SLOW_MS }, async ({ skip }) => {
    if ("missing" in found) return skip(found.missing);
    const operation = { method: "STREAM", path: STREAM_PATH, namespace: SOCKET_IO_NAMESPACE } as const;
    const parameters = { stream: "quote", tickers: ["EURUSD"], snapshot: true } as const;
    const samples = generate({ operation, parameters, base: product.baseUrl, key });
    const code = samples.find(({ id }) => id === "python")?.code ?? "";
    const child = spawn(found.command, ["-c", code], { env: { ...process.env, ...found.env }, timeout: RUN_MAX_MS });
    let output = "";
    await new Promise<void>((resolve) => {
      child.stderr.on("data", (chunk) => (output += chunk));
      child.stdout.on("data", (chunk) => {
        output += chunk;
        if (output.includes('"event":"snapshot"')) child.kill();
      });
      child.on("close", () => resolve());
    });
    expect(output).toContain('"ticker":"EURUSD"');
  });

  test("a wrong key ends a stream with the service's own words", { timeout: SLOW_MS }, async ({ skip }) => {
    if ("missing" in found) return skip(found.missing);
    // Well-formed, so that it is sent; nobody has it.
    const code = `${START}
from spotwire_client.errors import UnauthorizedError
for call in (client.instruments, lambda: next(client.stream().subscribe("quote", ["EURUSD"]))):
    try:
        call()
    except UnauthorizedError as error:
        print(error.code, error.status, error.request_id is not None)
`;
    const unknown = "sw_test_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const checksum = `import spotwire_client._options as o; print("${unknown}" + o._checksum("${unknown}"))`;
    const stranger = (await python(["-c", checksum], found)).trim();
    const text = code.replace("http://localhost:3000", product.baseUrl).replace("sw_test_DEMOkeyOfSpotwire", stranger);
    expect(await python(["-c", text], found)).toContain("40101 401 True\n40101 401 True\n");
  });
});

test("every reading operation is a method with its parameters, in both clients", async ({ skip }) => {
  if ("missing" in debian) return skip(debian.missing);
  const code = `import inspect, json, spotwire_client as s
print(json.dumps({c.__name__: {n: list(inspect.signature(f).parameters)[1:] for n, f in vars(c).items()
    if not n.startswith("_") and callable(f)} for c in (s.Spotwire, s.AsyncSpotwire)}))`;
  const { Spotwire, AsyncSpotwire } = JSON.parse(await python(["-c", code], debian)) as Record<string, Record<string, string[]>>;
  const snake = (id: string) => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const operations = OPERATION_LIST.filter(({ scope }) => scope !== "market:ingest").map(({ id, query, file }) => {
    const parameters = Object.keys(query).filter((name) => name !== "format" || file !== undefined);
    return [snake(id), [...parameters.map((name) => (name === "from" ? "from_" : name)), "timeout_s"]] as const;
  });
  expect(Spotwire).toMatchObject(Object.fromEntries(operations));
  const { aclose, ...others } = AsyncSpotwire ?? {};
  expect(Spotwire).toEqual({ ...others, close: aclose });
});

test("a stream in MessagePack has the same records as one in JSON, and needs the msgpack package", { timeout: SLOW_MS }, async ({
  skip,
}) => {
  const there = withPackages(built.sources, "python3-msgpack");
  if ("missing" in there) return skip(there.missing);
  const code = `
import itertools, msgpack, sys
from spotwire_client import Spotwire
from spotwire_client.errors import InvalidArgumentError
unpackb, unpacked = msgpack.unpackb, []
msgpack.unpackb = lambda data: unpacked.append(len(data)) or unpackb(data)
def records(packed):
    client = Spotwire("http://localhost:3000", "sw_test_DEMOkeyOfSpotwire", message_pack=packed)
    return client.stream().subscribe("snapshot", ["EURUSD", "XAUUSD"])
# Both follow the same records from here on; those that both have are compared.
both = [records(packed) for packed in (False, True)]
for one in both: one.ready()
text, packed = ({(r["ticker"], r["seq"]): repr(r["data"]) for r in itertools.islice(one, 20)} for one in both)
same = text.keys() & packed.keys()
print(len(same) > 5, all(text[key] == packed[key] for key in same), len(unpacked) > 20)
sys.modules["msgpack"] = None
try:
    records(True)
except InvalidArgumentError as error:
    print(error.detail)`;
  const text = forService(code.replace("sw_test_DEMOkeyOfSpotwire", key));
  expect(await python(["-c", text], there)).toBe("True True True\nmessage_pack needs msgpack: pip install msgpack\n");
});

test("long minutes are read from files, and are those of klines to the last bit and type", { timeout: SLOW_MS }, async ({
  skip,
}) => {
  const there = withPackages(built.sources, "python3-pandas");
  if ("missing" in there) return skip(there.missing);
  const code = `${START}
from datetime import datetime, timedelta, timezone
import pandas
from spotwire_client.errors import UnknownFileError
now = datetime.now(timezone.utc).replace(second=0, microsecond=0)
month = now.replace(day=1, hour=0, minute=0)
start = month - timedelta(days=8)
window = {"from_": start, "to": min(now, month + timedelta(days=1))}
inner = client._inner
called = []
ask = inner._rest._ask
async def counting(method, path, *rest):
    called.append(path.split("/")[4])
    return await ask(method, path, *rest)
inner._rest._ask = counting
frame = client.klines_frame("EURUSD", "M1", **window)
print(called.count("files"), called.count("klines") <= 1)
paged = client.klines_frame("EURUSD", "M1", **window, limit=5000)
pandas.testing.assert_frame_equal(frame, paged, check_exact=True, check_freq=False)
print(frame.attrs == paged.attrs, len(frame) >= 8 * 1440)
whole = client.klines_frame("EURUSD", "M1", start.isoformat(), month.isoformat())
pandas.testing.assert_frame_equal(whole, paged[paged.index < month], check_exact=True, check_freq=False)
file = client.files("EURUSD", "klines")["items"][0]
content = client.file(file["id"])
import hashlib
print(hashlib.sha256(content).hexdigest() == file["sha256"], client.file(file["id"], "csv")[:11])
try: client.file("klines-EURUSD-2020-01")
except UnknownFileError as error: print(error.status)
`;
  expect(await python(["-c", forService(code).replace("sw_test_DEMOkeyOfSpotwire", key)], there)).toBe(
    "2 True\nTrue True\nTrue b'type,ticker'\n404\n",
  );
});

test("long windows of ticks are read from files, and are those of pages to the last bit and type", { timeout: SLOW_MS }, async ({
  skip,
}) => {
  const there = withPackages(built.sources, "python3-pandas");
  if ("missing" in there) return skip(there.missing);
  const code = `${START}
from datetime import datetime, timedelta, timezone
import pandas
from spotwire_client._files import _to_digits
midnight = datetime.now(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
start, end = midnight - timedelta(days=2, minutes=30, microseconds=-7000), midnight - timedelta(hours=1)
inner = client._inner
called = []
ask = inner._rest._ask
async def counting(method, path, *rest):
    called.append(path.split("/")[4])
    return await ask(method, path, *rest)
inner._rest._ask = counting
frame = client.ticks_frame("EURUSD", start, end)
print(called.count("files"), called.count("ticks"), frame.index[-1] < end)
paged = client.ticks_frame("EURUSD", start, end, limit=10000)
pandas.testing.assert_frame_equal(frame, paged, check_exact=True, check_freq=False)
print(frame.attrs == paged.attrs, len(frame) > 60000)
text = client.ticks_frame("EURUSD", start.isoformat(), end.isoformat())
pandas.testing.assert_frame_equal(text, paged, check_exact=True, check_freq=False)
low, high = paged["bid"], paged["ask"]
print((_to_digits(low, 5) == low).all(), (_to_digits((low + high) / 2, 6) == paged["mid"]).all(), (_to_digits(high - low, 6) == paged["spread"]).all())
empty = client.ticks_frame("TESTMISSING", start, end)
print(len(empty), empty.attrs, *empty.columns)
`;
  expect(await python(["-c", forService(code).replace("sw_test_DEMOkeyOfSpotwire", key)], there)).toBe(
    "4 0 True\nTrue True\nTrue True True\n0 {'ticker': 'TESTMISSING'} bid ask mid spread\n",
  );
});

test("a DataFrame has numbers by UTC time, also of an empty window", { timeout: SLOW_MS }, async ({ skip }) => {
  const there = withPackages(built.sources, "python3-pandas");
  if ("missing" in there) return skip(there.missing);
  const code = `${START}
from datetime import date, datetime, timezone, timedelta
frame = client.klines_frame("EURUSD", "H1", date(2026, 1, 1), datetime(2026, 3, 1, tzinfo=timezone.utc))
print(len(frame), frame.index[0], frame.index[-1], frame.index.is_unique, frame.attrs)
later = datetime.now(timezone.utc) - timedelta(seconds=1)
empty = client.klines_frame("EURUSD", "MN1", later, later + timedelta(seconds=1))
for one in (frame, empty): print(len(one) > 0, one.index.tz, set(map(str, one.dtypes)) <= {"float64", "int64"}, *one.columns)
print(len(client.klines_frame("EURUSD", "D1", limit=7)))
try: client.klines("EURUSD", "H1", datetime(2026, 1, 1))
except ValueError as error: print(error)
`;
  const columns = "open high low close tick_volume real_volume spread";
  expect(await python(["-c", forService(code)], there)).toBe(
    `1416 2026-01-01 00:00:00+00:00 2026-02-28 23:00:00+00:00 True {'ticker': 'EURUSD', 'timeframe': 'H1'}
True UTC True ${columns}
False UTC True ${columns}
7
invalid_argument: 2026-01-01 00:00:00 has no time zone. Use datetime(2026, 1, 1, tzinfo=timezone.utc), or text such as 2026-01-01T00:00:00Z.
`,
  );
});

/** What a long read says: to the log, and on the screen. */
const PROGRESS = `
import logging, sys
from datetime import datetime, timedelta, timezone
log = logging.getLogger("spotwire_client")
log.setLevel("INFO")
log.addHandler(logging.StreamHandler(sys.stdout))
now = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0)
print(client)
print(len(client.klines_frame("EURUSD", "H1", now - timedelta(days=60), now, progress=True)))
print(len(client.klines_frame("EURUSD", "M1", now - timedelta(days=40), now, progress=True)) > 39 * 1440)
print(len(list(client.iter_klines("EURUSD", "D1", limit=7))), len(list(client.iter_ticks("EURUSD", limit=5))))
`;

test.each<[string, Package[], RegExp]>([
  ["as lines", [], /^EURUSD H1: (?:69|7\d)%$[\s\S]*^EURUSD H1: 100%$[\s\S]*^EURUSD M1: 100%$/m],
  ["with tqdm on a bar", ["python3-tqdm"], /EURUSD H1: 100%\|[\s\S]*EURUSD M1: 100%\|/],
])(
  "a long window says what it costs before it starts, and shows its progress %s",
  { timeout: SLOW_MS },
  async (_, more: Package[], shown) => {
    const there = withPackages(built.sources, "python3-pandas", ...more);
    if ("missing" in there) throw new Error(there.missing);
    const hidden = more.length > 0 ? "" : `import importlib.util, sys\nsys.modules["tqdm"] = None\n`;
    const told = await python(["-c", hidden + forService(START + PROGRESS).replace("sw_test_DEMOkeyOfSpotwire", key)], there);
    expect(told).toContain(`Spotwire('${product.baseUrl}', key='${key.slice(0, 12)}…')`);
    const cost = /^EURUSD H1: pages of 1000 klines, at most 2 units(?: of the \d+ that are left now)?$/m;
    expect(told).toMatch(cost);
    expect(told.search(cost)).toBeLessThan(told.search(/EURUSD H1: +\d+%/));
    expect(told).toMatch(/^EURUSD M1: [12] files? and pages for the rest, about \d+ units of the \d+ that are left now$/m);
    expect(told).toMatch(/^1440$[\s\S]*^True$[\s\S]*^7 5$/m);
    expect(told).toMatch(shown);
  },
);

test("a spread that no source knows is NaN in a DataFrame, of records and of files", { timeout: SLOW_MS }, async ({ skip }) => {
  const there = withPackages(built.sources, "python3-pandas");
  if ("missing" in there) return skip(there.missing);
  const code = `
import pandas
from spotwire_client import _files
from spotwire_client._contract import KLINE_COLUMNS
from spotwire_client._frames import klines_frame
names = ["time", *KLINE_COLUMNS]
rows = [[0, 1.1, 1.2, 1.0, 1.1, 5, None, 0], [60, 1.1, 1.2, 1.0, 1.1, 5, None, 0.0001]]
of_records = klines_frame([dict(zip(names, row)) for row in rows], "EURUSD", "M1")
_files.FILE_FORMAT = "csv"
text = "\\n".join([",".join(names), *(",".join("" if value is None else str(value) for value in row) for row in rows)])
of_file = _files.file_frame(text.encode(), 0, 120)
pandas.testing.assert_frame_equal(of_records, of_file, check_exact=True)
unknown = klines_frame([dict(zip(names, rows[0]))], "EURUSD", "M1")
for frame in (of_records, unknown): print(frame["spread"].tolist(), frame["spread"].dtype)
`;
  expect(await python(["-c", code], there)).toBe("[nan, 0.0001] float64\n[nan] float64\n");
});

test("the notebook of the guide prints what it shows, and makes its pictures", { timeout: SLOW_MS }, async ({ skip }) => {
  const there = withPackages(built.sources, "python3-pandas", "python3-matplotlib");
  if ("missing" in there) return skip(there.missing);
  const output = await python([path.join(ROOT, "lib", "docs", "pictures", "make.py"), product.baseUrl, built.folder], there);
  const shown = /^```text\n([\s\S]*?)^```$/m.exec(GUIDE)?.[1] ?? "none";
  for (const line of shown.trimEnd().split("\n")) expect(output).toContain(line.trimEnd());
  expect(output).toContain("Did you mean EURUSD");
  for (const [, name = ""] of GUIDE.matchAll(/\/docs-pictures\/(\w+\.png)/g))
    expect(readFileSync(path.join(built.folder, name)).readUInt32BE(16)).toBe(1440);
});

test("Ctrl-C ends a loop that waits for a record", { timeout: SLOW_MS }, async ({ skip }) => {
  if ("missing" in debian) return skip(debian.missing);
  const code = `${START}
quotes = client.stream().subscribe("quote", ["TESTCLOSED"])
print(next(quotes)["event"], flush=True)
next(quotes)
`;
  const child = spawn(DEBIAN_PYTHON, ["-c", forService(code)], {
    env: { ...process.env, ...debian.env },
    timeout: RUN_MAX_MS,
  });
  let output = "";
  child.stdout.on("data", () => child.kill("SIGINT"));
  child.stderr.on("data", (chunk) => (output += chunk));
  await new Promise((resolve) => child.on("close", resolve));
  expect(output).toMatch(/KeyboardInterrupt\s*$/);
});

test("a callback that calls the blocking client, and a call after its end, fail in words", { timeout: SLOW_MS }, async ({
  skip,
}) => {
  if ("missing" in debian) return skip(debian.missing);
  const code = `${START}
import threading
told, seen = threading.Event(), []
def failed(error):
    seen.append(error); told.set()
with client.stream(on_error=failed) as stream:
    stream.subscribe("quote", ["EURUSD"], on_record=lambda record: client.instruments())
    told.wait(30)
print(seen[0].id, seen[0].__cause__)
client.close(); client.close()
try: client.instruments()
except Exception as error: print(error)
`;
  const output = await python(["-c", forService(code)], debian);
  expect(output).toContain("callback_failed invalid_argument: A callback of a stream cannot call this client");
  expect(output).toContain("stream_closed: The client is closed; create another one.\n");
});

test("pip installs the package from the address that the guide shows", { timeout: SLOW_MS }, async ({ skip }) => {
  const there = withPackages("", "python3-pip");
  if ("missing" in there) return skip(there.missing);
  const page = await (await fetch(`${product.baseUrl}/docs/python.md`)).text();
  const address = /pip install (http\S+\.whl)/.exec(page)?.[1] ?? "";
  expect(address).toMatch(new RegExp(`^${product.baseUrl}/downloads/spotwire_client-\\d+\\.\\d+\\.\\d+-py3-none-any\\.whl$`));
  const target = path.join(built.folder, "installed");
  await python(["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", `--target=${target}`, address], {});
  const call = `from spotwire_client import Spotwire, __version__, __file__ as file
print(Spotwire("${product.baseUrl}", "${key}").latest_quotes(["EURUSD"])["items"][0]["ticker"], file.startswith("${target}"))`;
  expect(await python(["-c", call], { env: { PYTHONPATH: target } })).toBe("EURUSD True\n");
  const sources = await fetch(address.replace("-py3-none-any.whl", ".tar.gz"));
  expect([sources.status, sources.headers.get("content-type")]).toEqual([200, "application/gzip"]);
  expect((await fetch(`${product.baseUrl}/downloads/spotwire_client-0.0.0.tar.gz`)).status).toBe(404);
});

describe("the package", () => {
  test("is the same each time it is built", async () => {
    const again = await builtSources();
    const digest = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
    expect([digest(again.wheel), digest(again.sdist)]).toEqual([digest(built.wheel), digest(built.sdist)]);
    again.remove();
  });

  test("is what setuptools builds from its sources", { timeout: SLOW_MS }, async ({ skip }) => {
    const there = withPackages("", "python3-setuptools", "python3-wheel");
    if ("missing" in there) return skip(there.missing);
    const folder = path.join(built.folder, "setuptools");
    mkdirSync(folder);
    await run("tar", ["-xzf", built.sdist, "-C", folder, "--strip-components=1"]);
    await python(["-c", "from setuptools import build_meta; build_meta.build_wheel('made')"], { cwd: folder });
    const compare = `import sys, zipfile
from email import message_from_bytes
def read(path):
    with zipfile.ZipFile(path) as wheel:
        assert wheel.testzip() is None
        files = {name: wheel.read(name) for name in wheel.namelist()}
    record = next(text for name, text in files.items() if name.endswith("/RECORD")).decode()
    assert {line.rsplit(",", 2)[0] for line in record.split()} == set(files)
    metadata = message_from_bytes(next(text for name, text in files.items() if name.endswith("/METADATA")))
    told = sorted((name, value.replace(" ", "").replace('"', "'").replace(";extra", ";extra").replace("(", "").replace(")", ""))
        for name, value in metadata.items() if name not in ("Metadata-Version", "License-File", "Dynamic"))
    package = {name: text for name, text in files.items() if name.startswith("spotwire_client/")}
    return sorted(files), package, told, metadata.get_payload().strip()
ours, theirs = (read(path) for path in sys.argv[1:])
for one, other in zip(ours, theirs): assert one == other, (one, other)
print("equal", len(ours[1]))`;
    const theirs = path.join(folder, "made", path.basename(built.wheel));
    expect(await python(["-c", compare, built.wheel, theirs], {})).toMatch(/^equal \d\d\n$/);
  });

  test("is typed: its own code and a user's pass mypy, and mistakes do not", { timeout: 2 * SLOW_MS }, async ({ skip }) => {
    const there = withPackages(built.sources, "mypy");
    if ("missing" in there) return skip(there.missing);
    const user = path.join(built.folder, "user.py");
    writeFileSync(user, USER);
    const args = ["--strict", "--ignore-missing-imports", "--allow-subclassing-any", "--cache-dir=/dev/null"];
    // What newer versions know by themselves.
    const options = [...args, "--enable-incomplete-feature=Unpack", "--no-error-summary", "--hide-error-context"];
    const checked = [path.join(built.sources, "spotwire_client"), user];
    const told = await python(["-m", "mypy", ...options, ...checked], { env: { MYPYPATH: built.sources } }).catch(
      ({ stdout }: { stdout: string }) => stdout,
    );
    const lines = told.split("\n").filter((line) => line.includes(": error:"));
    expect(
      lines.map((line) => /:(\d+): error:.*\[([a-z-]+)\]$/.exec(line)?.slice(1)),
      told,
    ).toEqual(
      USER.split("\n").flatMap((line, index) => {
        const code = /# mistake: ([a-z-]+)$/.exec(line)?.[1];
        return code === undefined ? [] : [[String(index + 1), code]];
      }),
    );
  });
});

/** A user's program, with the code of the error of each line that is wrong. */
const USER = `from spotwire_client import AsyncSpotwire, Gap, Spotwire
from spotwire_client.models import KlineMessage, Quote

client = Spotwire("https://market.example.com", "sw_test_x")
quotes: list[Quote] = client.latest_quotes(["EURUSD"])["items"]
bid: float = quotes[0]["bid"]
client.klines("EURUSD", "H2")  # mistake: arg-type
for row in client.iter_klines("EURUSD", "D1", 0, timeout_s=3):
    close: str = row["close"]  # mistake: assignment
quotes[0]["bit"]  # mistake: typeddict-item
gaps: list[Gap] = []
stream = client.stream(on_gap=gaps.append, on_status=lambda status: status["final_display_state"] == "open")
client.stream(on_gaps=gaps.append)  # mistake: call-arg
for message in stream.subscribe("kline", ["EURUSD"], timeframe="M1"):
    one: KlineMessage = message
    closed: bool = message["closed"]
    recovered: bool = message.get("recovered", False)
stream.subscribe("kline", ["EURUSD"])  # mistake: call-overload


async def main() -> None:
    async with AsyncSpotwire("https://market.example.com", "sw_test_x") as other:
        async for kline in other.iter_klines("EURUSD", "M1", 0):
            price: str = kline["open"]  # mistake: assignment
`;
