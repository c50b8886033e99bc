import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { CreateKeyForm, InstantField, ProfileForm } from "#lib/contract/portal";
import { AccountForm, DefinitionForm, OverrideForm, PlanForm } from "#lib/contract/portal-admin";
import { LinkForm } from "#lib/contract/portal-links";
import { AddPasskeyForm } from "#lib/contract/second-factor";
import { NO_PLAN_TERMS } from "#lib/testing/plan";
import { readBody, readInput } from "./input";

const post = (body: string) =>
  new Request("http://portal.test/", { method: "POST", headers: { "content-type": "application/json" }, body });

/** The fault of a refused body; fails when the body is accepted. */
async function refusalOf(schema: z.ZodType, body: unknown) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const error = await readInput(post(text), schema).then(
    (taken) => new Error(`accepted as ${JSON.stringify(taken)}`),
    (fault) => fault,
  );
  return { id: error.id, ...error.data };
}

const PLAN = {
  rest_per_minute: 1,
  rest_burst: 1,
  stream_connections: 1,
  subscriptions_per_connection: 1,
  live_access: false,
  ...NO_PLAN_TERMS,
};
const HALT = { state: "closed", starts_at: null, ends_at: null, note: "" };
const WEEKLY = {
  kind: "weekly",
  zone: "UTC",
  week: [{ day: 1, open: "09:00", close: "17:00" }],
  holidays: [],
  earlyCloses: {},
  lateOpens: {},
  coveredUntil: "2030-12-31",
};
const weekly = (change: object) => ({ definition: { ...WEEKLY, ...change } });
const tickers = (...values: unknown[]) => ({ revision: 1, permissions: { kind: "tickers", values } });
const classes = (...values: unknown[]) => ({ revision: 1, permissions: { kind: "asset_classes", values } });

describe("a refused form", () => {
  const cases: readonly (readonly [z.ZodType, unknown, string, unknown])[] = [
    [PlanForm, [], "body", "The body must be an object."],
    [PlanForm, { ...PLAN, rest_burst: "many" }, "rest_burst", "`rest_burst` must be a number."],
    [PlanForm, { ...PLAN, rest_burst: 1.5 }, "rest_burst", "`rest_burst` must be an integer."],
    [PlanForm, { ...PLAN, rest_burst: 0 }, "rest_burst", "`rest_burst` must be at least 1."],
    [PlanForm, { ...PLAN, rest_burst: 1e10 }, "rest_burst", "`rest_burst` must be at most 1000000000."],
    [PlanForm, { ...PLAN, restBurst: 1 }, "restBurst", "`restBurst` is not a known field."],
    [OverrideForm, { ...HALT, state: "ajar" }, "state", "`state` must be one of `open`, `closed`."],
    [OverrideForm, { ...HALT, note: 7 }, "note", "`note` must be a string."],
    [
      OverrideForm,
      { ...HALT, ends_at: "tomorrow" },
      "ends_at",
      "`ends_at` must be an ISO 8601 timestamp, for example 2026-01-31T17:00:00Z.",
    ],
    [
      OverrideForm,
      { ...HALT, starts_at: "2026-01-07T13:00:00Z", ends_at: "2026-01-07T12:00:00Z" },
      "ends_at",
      "The end must be later than the start.",
    ],
    [
      DefinitionForm,
      { definition: { kind: "sometimes" } },
      "definition",
      "`definition.kind` must be one of `weekly`, `always`, `never`, `cycle`.",
    ],
    [DefinitionForm, { definition: 7 }, "definition", "`definition` must be an object."],
    [DefinitionForm, weekly({ zone: undefined }), "definition", "`definition.zone` is required."],
    [
      DefinitionForm,
      weekly({ zone: "Mars/Olympus" }),
      "definition",
      "`definition.zone` must be an IANA time zone, for example America/New_York.",
    ],
    [
      DefinitionForm,
      weekly({ week: [WEEKLY.week[0], { day: 1, open: "9", close: "17:00" }] }),
      "definition",
      "`definition.week[1].open` must be a local time, HH:MM or HH:MM:SS, at most 24:00.",
    ],
    [
      DefinitionForm,
      weekly({ week: [{ day: 7, open: "09:00", close: "17:00" }] }),
      "definition",
      "`definition.week[0].day` must be one of `0`, `1`, `2`, `3`, `4`, `5`, `6`.",
    ],
    [
      DefinitionForm,
      weekly({ week: Array.from({ length: 101 }, () => WEEKLY.week[0]) }),
      "definition",
      "`definition.week` takes at most 100 items.",
    ],
    [
      DefinitionForm,
      weekly({ earlyCloses: { christmas: "12:00" } }),
      "definition",
      "`definition.earlyCloses.christmas` must be a date in the form YYYY-MM-DD.",
    ],
    [DefinitionForm, weekly({ holiday: [] }), "definition", "`definition.holiday` is not a known field."],
    [
      AccountForm,
      tickers("EURUSD", "EUR/USD"),
      "permissions",
      "`permissions.values[1]` must be a ticker: 3 to 20 capital letters and digits.",
    ],
    [AccountForm, tickers(...Array(1_001).fill("EURUSD")), "permissions", "`permissions.values` takes at most 1000 tickers."],
    [
      AccountForm,
      classes("bonds"),
      "permissions",
      expect.stringMatching(/^`permissions\.values\[0\]` must be one of .*`metals`/),
    ],
    [
      AccountForm,
      classes(...Array(9).fill("metals")),
      "permissions",
      expect.stringMatching(/^`permissions\.values` takes at most \d classes\.$/),
    ],
    [AccountForm, { revision: 1, suspended: "yes" }, "suspended", "`suspended` must be true or false."],
  ];
  test.each(cases.map(([schema, body, parameter, detail]) => ({ schema, body, parameter, detail })))(
    "a refused form names the field and the problem: $parameter: $detail",
    async ({ schema, body, parameter, detail }) => {
      expect(await refusalOf(schema, body)).toEqual({ id: "invalid_parameter", parameter, detail });
    },
  );

  test("a missing field is reported as missing, even when its schema would report something else", async () => {
    const { rest_burst: _, ...rest } = PLAN;
    expect(await refusalOf(PlanForm, rest)).toEqual({
      id: "missing_parameter",
      parameter: "rest_burst",
      detail: "`rest_burst` is required.",
    });
    expect(await refusalOf(DefinitionForm, "")).toMatchObject({ id: "missing_parameter", parameter: "definition" });
  });

  test("only part of a long field name is repeated in an error", async () => {
    const { parameter } = await refusalOf(PlanForm, { ...PLAN, ["x".repeat(5_000)]: 1 });
    expect(parameter).toBe("x".repeat(80));
  });
});

test.each(["\\u0000", "\\ud800", "a\\udc00b"])("text with %s, which PostgreSQL cannot store, is refused", async (text) => {
  for (const body of [`{"note":"${text}"}`, `{"${text}":""}`, `{"definition":{"holidays":["${text}"]}}`])
    expect(await refusalOf(OverrideForm, body)).toMatchObject({
      id: "invalid_parameter",
      detail: expect.stringContaining("cannot be stored"),
    });
});

test.each([ProfileForm, CreateKeyForm, LinkForm, AddPasskeyForm])("a name that hides what it is, is refused", async (form) => {
  for (const name of ["a\u0007b", "a\u001b[31mb", "a\u0085b", "ada\u202egro.elpmaxe", "a\u2066b", "a\u2028b"])
    expect(await refusalOf(form as z.ZodType, { name })).toMatchObject({
      parameter: "name",
      detail: "`name` must not contain control characters or characters that change the direction of text.",
    });
  expect(form.shape.name.safeParse("Ada Łukasiewicz 中文 👩‍💻 עדה").success).toBe(true);
});

test("endlessly nested JSON is refused", async () => {
  expect(await refusalOf(OverrideForm, "[".repeat(60_000))).toMatchObject({ detail: "The body is not valid JSON." });
  expect(await refusalOf(OverrideForm, `${"[".repeat(30_000)}${"]".repeat(30_000)}`)).toMatchObject({ id: "invalid_parameter" });
});

test("instants in years that can only be typing errors are refused, even when only their offset moves them there", async () => {
  for (const text of ["0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00", "2101-01-01T00:00:00Z"])
    expect(InstantField.safeParse(text).error?.issues[0]?.message).toBe("must be between the years 1970 and 2100.");
  expect(InstantField.safeParse("2100-12-31T23:59:59+01:00").success).toBe(true);
  const key = { name: "key", venue: "live", scopes: ["market:read"], origins: [] };
  expect(await refusalOf(CreateKeyForm, { ...key, expires_at: "9999-12-31T23:59:59-14:00" })).toMatchObject({
    parameter: "expires_at",
  });
});

test("a body that breaks off is reported as the client's fault", async () => {
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('{"na'));
      controller.error(Object.assign(new Error("aborted"), { code: "ECONNRESET" }));
    },
  });
  const request = new Request("http://spotwire.test/", { method: "POST", body, duplex: "half" } as RequestInit);
  await expect(readBody(request)).rejects.toMatchObject({ id: "invalid_parameter" });
});
