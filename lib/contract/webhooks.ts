import { z } from "zod";
import { KEY_REFUSAL_QUIET_DAYS } from "./alerts";
import { MONTH_WARNING_PERCENTS, WEBHOOK_URL_MAX_CHARACTERS } from "./limits";
import { IMPACTS, INCIDENT_PARTS } from "./uptime";

const STATUS_EVENT_TYPES = ["incident.opened", "incident.updated", "incident.resolved", "webhook.test"] as const;
export type StatusEventType = (typeof STATUS_EVENT_TYPES)[number];

/** The body of a webhook, as Standard Webhooks lays it out. */
export const StatusEvent = z
  .object({
    type: z.enum(STATUS_EVENT_TYPES).meta({
      description:
        "What happened: an incident was opened, updated by an operator, or resolved. `webhook.test` is sent when you ask for it.",
    }),
    timestamp: z.iso.datetime().meta({ description: "When the service noticed it." }),
    data: z
      .object({
        id: z.string().meta({ description: "The incident: the same in all of its events." }),
        part: z
          .enum(INCIDENT_PARTS)
          .nullable()
          .meta({ description: "What failed, as the service measured it. Null for what an operator added." }),
        title: z.string().meta({ description: "One line for people." }),
        text: z.string().meta({ description: "Its cause, or what an operator says about it; may be empty." }),
        impact: z.enum(IMPACTS).meta({ description: "`none` for a notice: everything works." }),
        starts_at: z.iso.datetime().meta({ description: "When it began, or when planned maintenance begins." }),
        ends_at: z.iso.datetime().nullable().meta({ description: "When it ended or is planned to end. Null while it lasts." }),
      })
      .meta({ description: "The incident as it is now." }),
  })
  .meta({ id: "StatusEvent", description: "The body of a webhook: a change of an incident." });
export type StatusEvent = z.infer<typeof StatusEvent>;

/** The body of a webhook of an operator, in the same layout. */
export const UsageEvent = z
  .object({
    type: z.literal("usage.month_closed").meta({ description: "The usage of a UTC month does not change any more." }),
    timestamp: z.iso.datetime().meta({ description: "When the service noticed it." }),
    data: z
      .object({
        id: z.string().meta({ description: "The same in all of its deliveries." }),
        month: z.string().meta({ description: "The month, for example 2026-11." }),
        closed_at: z.iso.datetime().meta({ description: "When it was closed." }),
        accounts: z.int().meta({ description: "Accounts that used something." }),
        calls: z.int().meta({ description: "REST calls of all accounts." }),
        units: z.int().meta({ description: "Units of all accounts." }),
        connections: z.int().meta({ description: "Stream connections that were opened." }),
        messages: z.int().meta({ description: "Messages that were sent to streams." }),
      })
      .meta({ description: "What all accounts used together. `GET /api/portal/admin/usage` has it by account." }),
  })
  .meta({ id: "UsageEvent", description: "The body of a webhook of an operator: a month was closed." });
export type UsageEvent = z.infer<typeof UsageEvent>;

/** The body of a webhook of an operator about a problem of the installation, in the same layout. */
export const WarningEvent = z
  .object({
    type: z
      .enum(["warning.opened", "warning.resolved"])
      .meta({ description: "A problem has lasted for three minutes, or was not seen for ten." }),
    timestamp: z.iso.datetime().meta({ description: "When the service noticed it." }),
    data: z
      .object({
        id: z.string().meta({ description: "The same in both of its events." }),
        check: z
          .string()
          .meta({ description: "What is wrong: a check of `/api/ready`, or `rest`, `streams`, `nodes`, `disk`, `backup`." }),
        problem: z.string().meta({ description: "The cause in words, as `/admin` has it." }),
        starts_at: z.iso.datetime().meta({ description: "When it was seen first." }),
        ends_at: z.iso.datetime().nullable().meta({ description: "When it was seen last. Null while it lasts." }),
      })
      .meta({ description: "The problem." }),
  })
  .meta({
    id: "WarningEvent",
    description: "The body of a webhook of an operator: something is wrong with the service, or no longer is.",
  });
export type WarningEvent = z.infer<typeof WarningEvent>;

/** The body of a webhook about a quota of its account, in the same layout. */
export const QuotaEvent = z
  .object({
    type: z
      .literal("quota.reached")
      .meta({ description: "A share of the monthly quota is used. Sent once a month for each share." }),
    timestamp: z.iso.datetime().meta({ description: "When the service noticed it." }),
    data: z
      .object({
        id: z.string().meta({ description: "The same in all of its deliveries." }),
        month: z.string().meta({ description: "The UTC month, for example 2026-11." }),
        percent: z.int().meta({ description: `The share that was reached: ${MONTH_WARNING_PERCENTS.join(" or ")}.` }),
        used: z.int().meta({ description: "Units that the account has used." }),
        units: z.int().meta({ description: "Units of the quota." }),
        hard: z.boolean().meta({ description: "Whether calls beyond the quota are refused, instead of being counted." }),
        resets_at: z.iso.datetime().meta({ description: "When the next month begins." }),
      })
      .meta({ description: "The quota." }),
  })
  .meta({ id: "QuotaEvent", description: "The body of a webhook: a share of your monthly quota is used." });
export type QuotaEvent = z.infer<typeof QuotaEvent>;

/** The body of a webhook about a key of its account, in the same layout. */
export const KeyEvent = z
  .object({
    type: z.enum(["key.refused", "key.expiring"]).meta({
      description: `A revoked or expired key was used, for the first time in ${KEY_REFUSAL_QUIET_DAYS} days, or a key expires soon.`,
    }),
    timestamp: z.iso.datetime().meta({ description: "When the service noticed it." }),
    data: z
      .object({
        id: z.string().meta({ description: "The same in all of its deliveries." }),
        key_id: z.string().meta({ description: "The id of the key." }),
        name: z.string().meta({ description: "Its name." }),
        prefix: z.string().meta({ description: "The first characters of its text." }),
        last4: z.string().meta({ description: "The last four." }),
        expires_at: z.iso
          .datetime()
          .nullable()
          .meta({ description: "When a key that expires soon does. Null for one that was used." }),
        state: z
          .enum(["revoked", "expired"])
          .nullable()
          .meta({ description: "Why its use was refused. Null for one that expires soon." }),
        refused_at: z.iso.datetime().nullable().meta({ description: "When it was last used. Null for one that expires soon." }),
        network: z
          .string()
          .nullable()
          .meta({ description: "The network it was used from, for example 203.0.113.0/24. Null for one that expires soon." }),
      })
      .meta({ description: "The key." }),
  })
  .meta({ id: "KeyEvent", description: "The body of a webhook: one of your keys expires soon, or was used after it had ended." });
export type KeyEvent = z.infer<typeof KeyEvent>;

/** What is sent to the webhooks of one account. */
export type AccountEvent = QuotaEvent | KeyEvent;

/** What is sent to webhooks. */
export type WebhookEvent = StatusEvent | AccountEvent | UsageEvent | WarningEvent;

export const statusEventExample: StatusEvent = {
  type: "incident.opened",
  timestamp: "2026-11-23T09:03:05.000Z",
  data: {
    id: "live-1795424400000",
    part: "live",
    title: "Live prices unavailable",
    text: "No connection to the provider while a market was open.",
    impact: "degraded",
    starts_at: "2026-11-23T09:00:00.000Z",
    ends_at: null,
  },
};

export const quotaEventExample: QuotaEvent = {
  type: "quota.reached",
  timestamp: "2026-11-20T14:05:30.000Z",
  data: {
    id: "quota-01936d2a-7c40-7b62-8a51-0f2f6c1d9e37-2026-11-80",
    month: "2026-11",
    percent: 80,
    used: 80_214,
    units: 100_000,
    hard: true,
    resets_at: "2026-12-01T00:00:00.000Z",
  },
};

export const keyEventExample: KeyEvent = {
  type: "key.refused",
  timestamp: "2026-11-23T09:03:05.000Z",
  data: {
    id: "key.refused-01936d2a-7c40-7b62-8a51-0f2f6c1d9e38-1795424580000",
    key_id: "01936d2a-7c40-7b62-8a51-0f2f6c1d9e38",
    name: "Pricing service",
    prefix: "sw_live_aB3d",
    last4: "0ID9",
    expires_at: null,
    state: "revoked",
    refused_at: "2026-11-23T09:03:00.000Z",
    network: "203.0.113.0/24",
  },
};

export const usageEventExample: UsageEvent = {
  type: "usage.month_closed",
  timestamp: "2026-12-01T01:00:30.000Z",
  data: {
    id: "usage-2026-11",
    month: "2026-11",
    closed_at: "2026-12-01T01:00:30.000Z",
    accounts: 12,
    calls: 401_234,
    units: 512_345,
    connections: 310,
    messages: 90_123_456,
  },
};

export const WebhookForm = z.strictObject({
  url: z
    .string()
    .trim()
    .min(1, "Enter a URL.")
    .max(WEBHOOK_URL_MAX_CHARACTERS, `Use at most ${WEBHOOK_URL_MAX_CHARACTERS} characters.`)
    .refine((text) => URL.canParse(text), "Enter a whole URL, such as https://hooks.example.com/spotwire."),
});
export type WebhookForm = z.infer<typeof WebhookForm>;

/** One event for a webhook. */
export interface WebhookDelivery {
  readonly id: string;
  readonly type: WebhookEvent["type"];
  readonly created_at: string;
  readonly state: "waiting" | "delivered" | "failed";
  readonly attempts: number;
  /** When it is tried again; null once it was delivered or has failed. */
  readonly next_at: string | null;
  /** HTTP status of the last answer; null without one. */
  readonly status: number | null;
  /** What was wrong with the last attempt. */
  readonly problem: string | null;
}

/** A webhook as its owner sees it, with its newest deliveries. The secret is not among it. */
export interface WebhookInfo {
  readonly id: string;
  readonly url: string;
  readonly created_at: string;
  /** Why nothing is sent; null while it is in use. */
  readonly paused_because: string | null;
  readonly deliveries: readonly WebhookDelivery[];
}
