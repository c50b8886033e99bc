import type { Sealer } from "#lib/access/sealer";
import type { Clock } from "#lib/clock";
import type { UptimeReport } from "#lib/contract/uptime";
import type { Logger } from "#lib/log";
import { type Repeating, startRepeating } from "#lib/repeat";
import { SECOND_MS } from "#lib/units";
import type { Send } from "#server/outgoing/webhooks";
import type { Database } from "#server/store/database/db";
import { deliverDue } from "#server/store/webhooks/deliveries";
import { tellChanges } from "#server/store/webhooks/status-events";

const INTERVAL_MS = 5 * SECOND_MS;

interface WebhookOptions {
  readonly db: Pick<Database, "pool">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sealer: Sealer;
  readonly send: Send;
  readonly uptime: () => Promise<Pick<UptimeReport, "notes">>;
}

/**
 * Sends webhooks now and then every five seconds until stopped: it queues changes of incidents, and sends what is due. Every
 * portal may run it: an event is queued once, and each delivery is sent by one of them. It does not throw: failures are logged
 * and retried.
 */
export function startWebhooks({ db: { pool }, clock, log, sealer, send, uptime }: WebhookOptions): Repeating {
  const onError = (error: unknown, failures: number) => {
    if (failures === 1) log.warn({ err: error }, "cannot read or write webhooks; retrying");
  };
  return startRepeating({ clock, pause: INTERVAL_MS, atOnce: true, onError }, async (signal) => {
    await tellChanges({ pool, clock, uptime });
    await deliverDue({ pool, clock, sealer, send, signal });
  });
}
