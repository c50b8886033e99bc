import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Failure } from "#lib/contract/envelope";
import { ERROR_IDS, ERRORS, errorDocsPath, httpStatus } from "#lib/contract/errors";
import { operationDocsPath } from "#lib/contract/operation";
import { Ack, SERVER_MESSAGES, type ServerMessage, STREAM_METHODS } from "#lib/contract/stream";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { SAMPLE_BASE } from "../sample-words";
import { createFieldReader } from "./fields";
import { pageText } from "./page";
import { referenceFiles, referencePages } from "./pages";
import { recordPath } from "./paths";
import { RECORDS } from "./record-list";
import { jsonBlock, recordedAnswer, recordedError, recordedMessage } from "./recorded";

const pages = referencePages();
const addresses = new Set(pages.map(({ path }) => `/docs/${path.replace(/\/?index$/, "")}`));
const bodyOf = (address: string) => pages.find(({ path }) => `/docs/${path}` === address)?.body ?? "";

describe("the reference", () => {
  test("has one page for each operation, record and error, where links and docs_url lead", () => {
    expect(OPERATION_LIST.filter((operation) => !addresses.has(operationDocsPath(operation)))).toEqual([]);
    expect([...RECORDS.keys()].filter((name) => !addresses.has(recordPath(name) ?? ""))).toEqual([]);
    expect(ERROR_IDS.filter((id) => !addresses.has(errorDocsPath(id)))).toEqual([]);
    expect(addresses.size).toBe(pages.length);
  });

  test("prints nothing that is missing or no text", () => {
    const text = Object.values(referenceFiles()).join("\n");
    expect(text).not.toMatch(/\bundefined\b|\[object |NaN/);
  });

  test("links only to pages that exist", () => {
    const guides = readdirSync(new URL("../guides/", import.meta.url), { encoding: "utf8", recursive: true }).filter((file) =>
      file.endsWith(".mdx"),
    );
    const known = new Set([...addresses, ...guides.map((file) => `/docs/${file.replace(/(\/?index)?\.mdx$/, "")}`), "/docs"]);
    const guideTexts = guides.map((file) => readFileSync(new URL(`../guides/${file}`, import.meta.url), "utf8"));
    const texts = [...pages.map(pageText), ...guideTexts].join("\n");
    const targets = [...texts.matchAll(/(?:\]\(|href=")(\/docs(?![-\w])[^)#"\s]*)/g)].map(([, target = ""]) => target);
    expect(targets.length).toBeGreaterThan(100);
    expect([...new Set(targets)].filter((target) => !known.has(target))).toEqual([]);
  });

  test.each(OPERATION_LIST.map((operation) => [operation.id, operation] as const))(
    "tells all parameters, answers and errors of %s",
    (_, operation) => {
      const body = bodyOf(operationDocsPath(operation));
      expect(body).toContain(`\`${operation.method} ${operation.path}\``);
      for (const [name, { description }] of Object.entries(operation.query))
        expect(body).toMatch(
          new RegExp(`\\| \`${name}\`(?:, in the path)? \\|.*\\| ${description.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")} \\|`),
        );
      for (const id of operation.errors) expect(body).toContain(`[\`${id}\`](${errorDocsPath(id)})`);
      for (const { name } of createFieldReader({ expanded: true }).of(operation.data)) expect(body).toContain(`| \`${name}\` |`);
    },
  );

  test("gives the meaning of every field", () => {
    const rows = pages.flatMap(({ path, body }) =>
      [...body.matchAll(/^\| (`[\w.[\]]+`) \| (.+?) \| (.*?) \| .*\|$/gm)].map(([, name, , meaning]) => ({
        path,
        name,
        meaning,
      })),
    );
    expect(rows.length).toBeGreaterThan(400);
    expect(rows.filter(({ meaning }) => meaning === "")).toEqual([]);
  });

  test("shows beside a field what the example holds, of the first item of a list", () => {
    const body = bodyOf("/docs/operations/latest-quotes");
    expect(body).toContain(
      '| `items[].ticker` | string, 3 to 20 letters and digits | Ticker in compact form: letters and digits, no separator. | `"EURUSD"` |',
    );
  });

  test.each(ERROR_IDS)("tells the cause and the fix of %s", (id) => {
    const body = bodyOf(errorDocsPath(id));
    const lead = pages.find(({ path }) => `/docs/${path}` === errorDocsPath(id))?.description;
    expect(lead).toBe(`${ERRORS[id].title}. ${ERRORS[id].cause}`);
    expect(body).toContain(ERRORS[id].fix);
    expect(body).toContain(`"code": ${ERRORS[id].code}`);
  });
});

describe("fields", () => {
  test("are spelled out below their parents, but for records that have a page", () => {
    const fields = createFieldReader().of(Ack.options[0]);
    const byName = new Map(fields.map((field) => [field.name, field]));
    expect(byName.get("data.rejected[].ticker")?.meaning).toBe("The ticker as the client sent it.");
    expect(byName.get("data.resumed")?.required).toBe(false);
    expect(byName.get("data.accepted")?.type).toBe("list of string, 3 to 20 letters and digits");
    const quote = createFieldReader().of(SERVER_MESSAGES.quote);
    expect(quote.find(({ name }) => name === "data")?.type).toBe("[Quote](/docs/records/quote)");
    expect(quote.some(({ name }) => name.startsWith("data."))).toBe(false);
  });

  test("say what a parameter may be", () => {
    const { klines } = Object.fromEntries(OPERATION_LIST.map((operation) => [operation.id, operation]));
    const typeOf = (name: string) => klines && createFieldReader().parameterType(klines.query[name]?.schema ?? klines.data);
    expect(typeOf("limit")).toBe("integer from 1 to 5000, default 500");
    expect(typeOf("from")).toBe("integer, Unix seconds");
    expect(typeOf("timeframe")).toContain("`M1`, `M5`");
  });
});

describe("the recorded answers", () => {
  test.each(OPERATION_LIST.map((operation) => [operation.id, operation] as const))(
    "%s is what the contract says",
    (id, operation) => {
      const { data, file } = operation;
      const answer = recordedAnswer(operation);
      if (answer === undefined) throw new Error(`No response of ${id} is recorded: npm run build && npm run docs:examples.`);
      const { status, body } = answer;
      expect(status).toBe(200);
      if (file !== undefined) return expect(body).toBeNull();
      expect(data.safeParse((body as { data: unknown }).data).error).toBeUndefined();
    },
  );

  test.each(ERROR_IDS.filter((id) => recordedError(id) !== undefined))("%s is the error it stands for", (id) => {
    const answer = recordedError(id);
    expect(Failure.parse(answer?.body)).toMatchObject({ code: ERRORS[id].code, message: id });
    expect(answer?.status).toBe(httpStatus(id));
    expect(Failure.parse(answer?.body).data.docs_url).toBe(SAMPLE_BASE + errorDocsPath(id));
  });

  test("cover every error that a call alone brings about", () => {
    const others = [
      "account_suspended",
      "live_access_required",
      "not_in_plan",
      "quota_exceeded",
      "slow_consumer",
      "too_many_connections",
      "too_many_subscriptions",
    ];
    const broken = ["internal_error", "service_unavailable"];
    const portal = ["conflict", "proof_required", "role_required", "second_factor_required", "sign_up_closed"];
    const expected = [...others, ...broken, ...portal].sort();
    expect(ERROR_IDS.filter((id) => recordedError(id) === undefined).sort()).toEqual(expected);
  });

  test("hold a message of each type and an ack of each method", () => {
    const recorded = STREAM_METHODS.filter((method) => method !== "ingest");
    for (const method of recorded) expect(Ack.parse(recordedMessage(`ack.${method}`)).method).toBe(method);
    const types = (Object.keys(SERVER_MESSAGES) as ServerMessage["type"][]).filter((type) => type !== "ack");
    for (const type of types) expect(SERVER_MESSAGES[type].parse(recordedMessage(type)).type).toBe(type);
    expect(() => recordedMessage("no_such_message")).toThrow("docs:examples");
  });

  test("show no key", () => {
    expect(readFileSync(new URL("./recorded.json", import.meta.url), "utf8")).not.toMatch(/sw_(?:test|live)_\w{20}/);
  });

  test("cut long lists and say so", () => {
    const block = jsonBlock({ code: 0, data: { items: [1, 2, 3] } });
    expect(block).toContain("The first 2 of 3 items.");
    expect(jsonBlock({ code: 0, data: { items: [1, 2] } })).not.toContain("The first");
  });
});

test("the generated files are those of this contract", () => {
  const folder = new URL("../../generated/reference/", import.meta.url);
  for (const [file, text] of Object.entries(referenceFiles())) {
    const made = new URL(file, folder);
    expect(existsSync(made) && readFileSync(made, "utf8") === text, `${file}: run \`npm run generate\``).toBe(true);
  }
});
