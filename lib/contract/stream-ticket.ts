import { z } from "zod";
import { STREAM_TICKET_LIFETIME_S } from "./limits";
import { IsoInstant } from "./primitives";

/** What a ticket stands behind when it is offered as a subprotocol of the WebSocket. */
export const TICKET_PROTOCOL_PREFIX = "ticket.";

/** A ticket for one connection. */
export const StreamTicket = z
  .object({
    ticket: z
      .string()
      .describe("Offer it as the subprotocol `ticket.<ticket>` beside `market.v1`, or as `auth.ticket` on Socket.IO."),
    expires_at: IsoInstant.describe(`${STREAM_TICKET_LIFETIME_S} seconds from now. It opens one connection, once.`),
  })
  .meta({ id: "StreamTicket", description: "A ticket for one stream connection." });
export type StreamTicket = z.infer<typeof StreamTicket>;

export const streamTicketExample: StreamTicket = {
  ticket: "dGlja2V0LW9mLXRoaXJ0eS10d28tY2hhcmFj",
  expires_at: "2026-01-01T00:01:00.000Z",
};
