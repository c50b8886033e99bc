import type { Plan } from "#lib/access/limits/plans";
import {
  STREAM_HEARTBEAT_INTERVAL_S,
  STREAM_MESSAGE_MAX_BYTES,
  STREAM_MESSAGES_BURST_COUNT,
  STREAM_MESSAGES_PER_SECOND_COUNT,
  STREAM_TICKERS_PER_MESSAGE_MAX_COUNT,
} from "#lib/contract/limits";
import { type ErrorMessage, type MessageId, STREAM_PROTOCOL, type Welcome } from "#lib/contract/stream";
import type { Fault } from "#lib/fault";
import { failureBody } from "#lib/http/respond";
import type { VenueStreams } from "./venue-streams";

/** The first message of a connection. */
export function welcomeOf(connectionId: string, plan: Plan, { market, clock }: VenueStreams): Welcome {
  return {
    type: "welcome",
    protocol: STREAM_PROTOCOL,
    connection_id: connectionId,
    venue: market.venue,
    time_msc: clock.now(),
    epoch: market.epoch,
    heartbeat_interval_s: STREAM_HEARTBEAT_INTERVAL_S,
    limits: {
      connections: plan.streamConnections,
      subscriptions: plan.subscriptionsPerConnection,
      messages_per_second: STREAM_MESSAGES_PER_SECOND_COUNT,
      messages_burst: STREAM_MESSAGES_BURST_COUNT,
      message_max_bytes: STREAM_MESSAGE_MAX_BYTES,
      tickers_per_message: STREAM_TICKERS_PER_MESSAGE_MAX_COUNT,
    },
  };
}

/** Where an error message belongs. */
interface ErrorPlace {
  /** Of the message it answers, null for none. */
  readonly id: MessageId;
  readonly connectionId: string;
  /** In front of the paths of docs pages. */
  readonly docsBase: string;
  /** The connection is closed with this code next. */
  readonly closeCode?: number;
}

/** A fault as a stream tells it: the numbers and words of REST. */
export function errorMessageOf(fault: Fault, { id, connectionId, docsBase, closeCode }: ErrorPlace): ErrorMessage {
  const { code, message, data } = failureBody(fault.id, fault.data, connectionId, docsBase);
  return { type: "error", id, code, message, data: closeCode === undefined ? data : { ...data, close_code: closeCode } };
}
