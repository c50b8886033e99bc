import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import { OriginParameter } from "#lib/contract/primitives";
import { StreamTicket, streamTicketExample } from "#lib/contract/stream-ticket";

export const createStreamTicket = operation({
  id: "createStreamTicket",
  method: "POST",
  path: "/api/v1/market/stream/tickets",
  scope: "market:stream",
  summary: "Stream ticket",
  description:
    "Creates a ticket that opens one stream connection. Browsers need one because they cannot send a key with a WebSocket. The ticket is bound to the key and to an origin: the `Origin` of the request, or the `origin` parameter when your server creates the ticket for its page. While the key or its account has no connection left, the answer is `too_many_connections`, as it is for the handshake.",
  query: {
    origin: {
      schema: OriginParameter,
      required: false,
      description:
        "Origin of the page that will use the ticket, when your server requests it. It must be one of the key's allowed origins.",
      example: "https://app.example.com",
      advanced: true,
    },
  },
  data: StreamTicket,
  example: streamTicketExample,
  errors: ["invalid_parameter", "too_many_connections", "not_in_plan", ...COUNTED_ERRORS],
  cost: () => 1,
  mcp: { tool: false, because: "A ticket opens a WebSocket from a web page; an agent that calls tools does not need one." },
});
