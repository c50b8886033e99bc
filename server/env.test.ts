import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { EnvSchema } from "#lib/env";
import { feedUrl } from "#lib/env-feeds";
import { EnvError, memoryBytes, readEnv } from "./env";

const DATABASE_URL = "postgresql://u:p@db/spotwire";

test.each<[variables: Record<string, string>, name: string]>([
  [{ DATABASE_URL: `${DATABASE_URL}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem` }, "DATABASE_URL"],
  [{ DATABASE_URL, REDIS_URL: "rediss://redis:6379", REDIS_CA_FILE: "/nowhere/ca.pem" }, "REDIS_CA_FILE"],
  [{ DATABASE_URL, REDIS_URL: "redis://redis:6379", REDIS_CA_FILE: "package.json" }, "REDIS_CA_FILE"],
  [{ REDIS_CA_FILE: "package.json" }, "REDIS_CA_FILE"],
  [{ DATABASE_URL, REDIS_URL: "unix:///run/redis.sock", REDIS_CA_FILE: "package.json" }, "REDIS_CA_FILE"],
  [{ SMTP_URL: "smtp://mail", SMTP_CA_FILE: "/nowhere/ca.pem" }, "SMTP_CA_FILE"],
  [{ SMTP_CA_FILE: "package.json" }, "SMTP_CA_FILE"],
])("settings of TLS that cannot work are named before anything starts: %j", (variables, name) => {
  expect(() => readEnv(variables)).toThrow(new RegExp(`^Wrong configuration:\\n {2}\`${name}\` `));
});

test("settings of TLS that can work are accepted", () => {
  const variables = {
    DATABASE_URL: `${DATABASE_URL}?sslmode=verify-full&sslrootcert=package.json`,
    REDIS_URL: "rediss://redis:6379",
    REDIS_CA_FILE: "package.json",
    SMTP_URL: "smtp://mail",
    SMTP_CA_FILE: "package.json",
  };
  expect(readEnv(variables)).toMatchObject(variables);
});

test("quotation marks that docker --env-file keeps are named for every setting, and its value is not printed", () => {
  const names = Object.keys(EnvSchema.shape);
  for (const quote of ['"', "'"]) {
    const all = Object.fromEntries([...names, "NEXTAUTH_SECRET_FILE"].map((name) => [name, `${quote}s3cret${quote}`]));
    expect(() => readEnv(all)).toThrow(EnvError);
    for (const name of names)
      expect(() => readEnv({ [name]: `${quote}s3cret${quote}` })).toThrow(
        new RegExp(`^Wrong configuration:\\n {2}\`${name}\` is in quotation marks(?!.*s3cret)`),
      );
  }
  expect(() => readEnv({ SMTP_URL: '""' })).toThrow("`SMTP_URL` is in quotation marks");
  expect(() => readEnv({ https_proxy: '"http://proxy:3128"' })).toThrow("`HTTPS_PROXY` is in quotation marks");
  expect(() => readEnv({ DATABASE_URL_FILE: '"/run/secrets/url"' })).toThrow("`DATABASE_URL_FILE` is in quotation marks");
  // Who has run with them needs a way to keep them: the secret also seals what is stored.
  const quoted = `"${"s".repeat(48)}"`;
  const file = join(folder, "quoted");
  writeFileSync(file, quoted);
  expect(() => readEnv({ NEXTAUTH_SECRET: quoted })).toThrow("put it into a file that NEXTAUTH_SECRET_FILE names");
  expect(readEnv({ NEXTAUTH_SECRET_FILE: file }).NEXTAUTH_SECRET).toBe(quoted);
  // One inside, or at one end.
  for (const MAIL_FROM of ['"Acme, Inc." <data@acme.example>', 'O"Neil <o@acme.example>'])
    expect(readEnv({ MAIL_FROM }).MAIL_FROM).toBe(MAIL_FROM);
});

const folder = mkdtempSync(join(tmpdir(), "spotwire-env-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["oanda", { OANDA_TOKEN: "t" }, "OANDA_ACCOUNT"],
  ["oanda", { OANDA_ACCOUNT: "101-004-1-001" }, "OANDA_TOKEN"],
  ["ctrader", {}, "CTRADER_CLIENT_ID"],
  ["fix", { FIX_HOST: "h", FIX_PORT: "1", FIX_SENDER: "s" }, "FIX_TARGET"],
  ["massive", {}, "MASSIVE_KEY"],
  ["tiingo", {}, "TIINGO_TOKEN"],
  ["twelvedata", {}, "TWELVEDATA_KEY"],
  ["tradermade", {}, "TRADERMADE_KEY"],
])("LIVE_FEED=%s with %j names the setting that is missing", (LIVE_FEED, given, name) => {
  expect(() => readEnv({ LIVE_FEED, ...given })).toThrow(`\`${name}\` is required with LIVE_FEED=${LIVE_FEED}.`);
});

test("a secret may be in a file, whose last line break does not count", () => {
  const file = join(folder, "token");
  writeFileSync(file, "t0ken\n");
  const [url, secret] = [join(folder, "url"), join(folder, "secret")];
  writeFileSync(url, `${DATABASE_URL}\n`);
  writeFileSync(secret, `${"s".repeat(48)}\n`);
  expect(readEnv({ NEXTAUTH_SECRET_FILE: secret, DATABASE_URL_FILE: url })).toMatchObject({
    NEXTAUTH_SECRET: "s".repeat(48),
    DATABASE_URL,
  });
  expect(readEnv({ LIVE_FEED: "tiingo", TIINGO_TOKEN_FILE: file })).toMatchObject({ TIINGO_TOKEN: "t0ken" });
});

test("a secret that is given twice, or whose file is empty, too long or absent, is refused by its name, never its value", () => {
  const [empty, long] = [join(folder, "empty"), join(folder, "long")];
  writeFileSync(empty, "\n");
  writeFileSync(long, "x".repeat(5_000));
  const refused = (variables: Record<string, string>) => expect(() => readEnv({ LIVE_FEED: "tiingo", ...variables }));
  refused({ TIINGO_TOKEN: "s3cret", TIINGO_TOKEN_FILE: empty }).toThrow(/TIINGO_TOKEN or TIINGO_TOKEN_FILE, not both/);
  refused({ TIINGO_TOKEN_FILE: empty }).toThrow(/TIINGO_TOKEN_FILE must name a file of 1 to 4096 characters/);
  refused({ TIINGO_TOKEN_FILE: long }).toThrow(/TIINGO_TOKEN_FILE must name a file of 1 to 4096 characters/);
  refused({ TIINGO_TOKEN_FILE: join(folder, "absent") }).toThrow(/TIINGO_TOKEN_FILE cannot be read: ENOENT/);
});

test("LIVE_FEED is a list of different sources, whose settings are all needed", () => {
  const settings = { OANDA_TOKEN: "t", OANDA_ACCOUNT: "a", TIINGO_TOKEN: "t" };
  expect(readEnv({}).LIVE_FEED).toEqual(["none"]);
  expect(readEnv({ ...settings, LIVE_FEED: "push, oanda,tiingo" }).LIVE_FEED).toEqual(["push", "oanda", "tiingo"]);
  const refused = (LIVE_FEED: string, more = {}) => expect(() => readEnv({ ...settings, LIVE_FEED, ...more }));
  refused("oanda,oanda").toThrow("`LIVE_FEED` must name each source once.");
  refused("oanda,reuters").toThrow("`LIVE_FEED[1]` must be a comma-separated list of none, push, replay, oanda");
  refused("oanda,replay").toThrow("`LIVE_FEED` must name none or replay alone.");
  refused("none,push").toThrow("`LIVE_FEED` must name none or replay alone.");
  refused(",").toThrow("`LIVE_FEED` must name a source.");
  refused("oanda,massive").toThrow("`MASSIVE_KEY` is required with LIVE_FEED=massive.");
});

test("FEED_URL is one address, or one for each of several providers", () => {
  const settings = { LIVE_FEED: "oanda,tiingo", OANDA_TOKEN: "t", OANDA_ACCOUNT: "a", TIINGO_TOKEN: "t" };
  const one = readEnv({ ...settings, LIVE_FEED: "oanda", FEED_URL: "http://proxy" });
  expect(feedUrl(one, "oanda")).toBe("http://proxy");
  const both = readEnv({ ...settings, FEED_URL: "oanda=http://one/?a=b,tiingo=wss://two" });
  expect([feedUrl(both, "oanda"), feedUrl(both, "tiingo"), feedUrl(both, "fix")]).toEqual([
    "http://one/?a=b",
    "wss://two",
    undefined,
  ]);
  const refused = (FEED_URL: string) => expect(() => readEnv({ ...settings, FEED_URL }));
  refused("http://proxy").toThrow("`FEED_URL` must say for which provider it is");
  for (const wrong of ["ftp://proxy", "oanda=", "reuters=http://x", "oanda=http://a,oanda=http://b", "http://a,http://b"])
    refused(wrong).toThrow("`FEED_URL` must be an http://, https://, ws:// or wss:// URL, with several providers one for each");
});

test("FEED_SYMBOLS is a list of a feed, a ticker and a symbol", () => {
  const { FEED_SYMBOLS } = readEnv({ FEED_SYMBOLS: "oanda:XAUUSD=XAU_USD, tiingo:EURUSD=eurusd" });
  expect(FEED_SYMBOLS).toEqual([
    { feed: "oanda", ticker: "XAUUSD", symbol: "XAU_USD" },
    { feed: "tiingo", ticker: "EURUSD", symbol: "eurusd" },
  ]);
  for (const entry of ["XAUUSD=XAU_USD", "oanda:xauusd=GOLD", "oanda:XAUUSD=", "oanda:XAUUSD=A B"])
    expect(() => readEnv({ FEED_SYMBOLS: entry })).toThrow(/FEED_SYMBOLS/);
});

test("a proxy may be named in lower case, which comes first, and must be a URL of HTTP", () => {
  expect(readEnv({ https_proxy: "http://proxy:3128", HTTPS_PROXY: "http://other:1" }).HTTPS_PROXY).toBe("http://proxy:3128");
  expect(() => readEnv({ HTTPS_PROXY: "socks5://proxy:1080" })).toThrow(/HTTPS_PROXY/);
});

test("FEED_TICKERS names tickers for a provider", () => {
  expect(readEnv({ FEED_TICKERS: "twelvedata:EURUSD, twelvedata:XAUUSD" }).FEED_TICKERS).toEqual([
    { feed: "twelvedata", ticker: "EURUSD" },
    { feed: "twelvedata", ticker: "XAUUSD" },
  ]);
  expect(() => readEnv({ FEED_TICKERS: "EURUSD" })).toThrow(/FEED_TICKERS/);
});

const logo = (name: string, text: string) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h1"/></svg>';

test.each<[name: string, variables: Record<string, string>, reason: string]>([
  ["BRAND_NAME", { BRAND_NAME: "<b>Acme</b>" }, "must be letters, digits"],
  ["BRAND_NAME", { BRAND_NAME: 'Acme "Data"' }, "must be letters, digits"],
  ["BRAND_NAME", { BRAND_NAME: " Acme" }, "must be letters, digits"],
  ["BRAND_NAME", { BRAND_NAME: "A".repeat(41) }, "40"],
  ["BRAND_LOGO", { BRAND_LOGO: join(folder, "no-logo.svg") }, "must be a file that this process can read."],
  ["BRAND_LOGO", { BRAND_LOGO: folder }, "must be a file that this process can read."],
  ["BRAND_LOGO", { BRAND_LOGO: "package.json" }, "must be an SVG in UTF-8 or a PNG, by its content."],
  ["BRAND_LOGO", { BRAND_LOGO: logo("script.svg", SVG.replace("<path", "<script>alert(1)</script><path")) }, "without a script"],
  ["BRAND_LOGO", { BRAND_LOGO: logo("handler.svg", SVG.replace("<path", "<path onclick='x()'")) }, "without an event handler"],
  [
    "BRAND_LOGO",
    { BRAND_LOGO: logo("link.svg", SVG.replace("<path", "<image href='//x'/><path")) },
    "without an external reference",
  ],
  ["BRAND_LOGO", { BRAND_LOGO: logo("large.svg", SVG + " ".repeat(65_536)) }, "must be a file of at most 65536 bytes."],
  ["BRAND_LOGO", { BRAND_LOGO_DARK: logo("dark.svg", SVG) }, "is required with BRAND_LOGO_DARK."],
  ["BRAND_LOGO_DARK", { BRAND_LOGO: logo("light.svg", SVG), BRAND_LOGO_DARK: "package.json" }, "must be an SVG"],
  ["BRAND_ACCENT", { BRAND_ACCENT: "green", BRAND_ACCENT_DARK: "#5fd3a8" }, "must be a colour as #rrggbb."],
  ["BRAND_ACCENT", { BRAND_ACCENT: "#0b6", BRAND_ACCENT_DARK: "#5fd3a8" }, "must be a colour as #rrggbb."],
  ["BRAND_ACCENT", { BRAND_ACCENT: "#777777", BRAND_ACCENT_DARK: "#5fd3a8" }, "has a contrast of 4.05:1 to the light theme"],
  ["BRAND_ACCENT", { BRAND_ACCENT_DARK: "#5fd3a8" }, "is required with BRAND_ACCENT_DARK."],
  ["BRAND_ACCENT_DARK", { BRAND_ACCENT: "#0b6e4f" }, "is required with BRAND_ACCENT."],
  ["BRAND_ACCENT_DARK", { BRAND_ACCENT: "#0b6e4f", BRAND_ACCENT_DARK: "#0b6e4f" }, "has a contrast of 2.9:1 to the dark theme"],
  ["BRAND_CREDIT", { BRAND_CREDIT: "no" }, "BRAND_CREDIT"],
  ["SUPPORT_EMAIL", { SUPPORT_EMAIL: "acme.example" }, "SUPPORT_EMAIL"],
  ["SOURCE_URL", { SOURCE_URL: "git@example.com:a/b" }, "must be an http:// or https:// URL."],
  ["SUPPORT_URL", { SUPPORT_URL: "javascript:alert(1)" }, "must be an http:// or https:// URL."],
  ["KEY_PREFIX", { KEY_PREFIX: "a" }, "must be 2 to 8 lower-case letters and digits"],
  ["KEY_PREFIX", { KEY_PREFIX: "acmemarkets" }, "must be 2 to 8 lower-case letters and digits"],
  ["KEY_PREFIX", { KEY_PREFIX: "Acme" }, "must be 2 to 8 lower-case letters and digits"],
  ["KEY_PREFIX", { KEY_PREFIX: "1acme" }, "must be 2 to 8 lower-case letters and digits"],
  ["KEY_PREFIX", { KEY_PREFIX: "ac_me" }, "must be 2 to 8 lower-case letters and digits"],
  ["DOCS_OPERATOR", { DOCS_OPERATOR: "hidden" }, "DOCS_OPERATOR"],
])("a brand that cannot be shown is refused by the name of its setting: %s of %j", (name, variables, reason) => {
  const start = new RegExp(`^Wrong configuration:\\n {2}\`${name}\` `);
  expect(() => readEnv(variables)).toThrow(start);
  expect(() => readEnv(variables)).toThrow(reason);
});

test("a brand names the sender of emails and the demo key, unless they are set", () => {
  const own = { BRAND_NAME: "Acme", KEY_PREFIX: "acme" };
  expect(readEnv(own)).toMatchObject({
    MAIL_FROM: "Acme <noreply@localhost>",
    DEMO_KEY: expect.stringMatching(/^acme_test_DEMOkeyOfAcme/),
  });
  const set = { MAIL_FROM: "Data <data@acme.example>", DEMO_KEY: readEnv({}).DEMO_KEY };
  expect(readEnv({ ...own, ...set })).toMatchObject(set);
});

test("the memory of a process is that of the machine, or of its container, whose limit is none where it is 0 or more than there is", () => {
  const gib = 1024 ** 3;
  expect(memoryBytes(gib, 24 * gib)).toBe(gib);
  expect(memoryBytes(0, 24 * gib)).toBe(24 * gib);
  expect(memoryBytes(2 ** 64, 24 * gib)).toBe(24 * gib);
});
