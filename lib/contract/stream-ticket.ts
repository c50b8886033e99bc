import { z } from "zod";
import { STREAM_TICKET_LIFETIME_S } from "./limits";
import { IsoInstant } from "./primitives";

/** Prefix of a ticket that is offered as a WebSocket subprotocol. */
export const TICKET_PROTOCOL_PREFIX = "ticket.";

/** A ticket for one stream connection. */
export const StreamTicket = z
  .object({
    ticket: z
      .string()
      .describe(
        "Send it as the subprotocol `ticket.<ticket>` together with `market.v1` or `market.v1.msgpack`, or as `auth.ticket` on Socket.IO.",
      ),
    expires_at: IsoInstant.describe(
      `When the ticket expires, ${STREAM_TICKET_LIFETIME_S} seconds after it was created. A ticket can be used once.`,
    ),
  })
  .meta({ id: "StreamTicket", description: "A ticket for one stream connection." });
export type StreamTicket = z.infer<typeof StreamTicket>;

export const streamTicketExample: StreamTicket = {
  ticket: "dGlja2V0LW9mLXRoaXJ0eS10d28tY2hhcmFj",
  expires_at: "2026-01-01T00:01:00.000Z",
};
