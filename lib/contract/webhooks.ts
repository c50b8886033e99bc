import { z } from "zod";
import { WEBHOOK_URL_MAX_CHARACTERS } from "./limits";
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
          .meta({ description: "What failed, as the service measured it. Null for a note of an operator." }),
        title: z.string().meta({ description: "One line for people." }),
        text: z.string().meta({ description: "What an operator says about it; may be empty." }),
        impact: z.enum(IMPACTS).meta({ description: "`none` for a notice: everything works." }),
        starts_at: z.iso.datetime().meta({ description: "When it began, or when planned maintenance begins." }),
        ends_at: z.iso.datetime().nullable().meta({ description: "When it ended or is planned to end. Null while it lasts." }),
      })
      .meta({ description: "The incident as it is now." }),
  })
  .meta({ id: "StatusEvent", description: "The body of a webhook: a change of an incident." });
export type StatusEvent = z.infer<typeof StatusEvent>;

export const statusEventExample: StatusEvent = {
  type: "incident.opened",
  timestamp: "2026-11-23T09:03:05.000Z",
  data: {
    id: "live-1795424400000",
    part: "live",
    title: "Live feed down",
    text: "",
    impact: "degraded",
    starts_at: "2026-11-23T09:00:00.000Z",
    ends_at: null,
  },
};

export const WebhookForm = z.strictObject({
  url: z
    .string()
    .trim()
    .min(1, "Enter an address.")
    .max(WEBHOOK_URL_MAX_CHARACTERS, `Use at most ${WEBHOOK_URL_MAX_CHARACTERS} characters.`),
});
export type WebhookForm = z.infer<typeof WebhookForm>;

/** One event for a webhook. */
export interface WebhookDelivery {
  readonly id: string;
  readonly type: StatusEventType;
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
