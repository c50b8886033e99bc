import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { Agent, request as send } from "undici";
import { Fault } from "#lib/fault";
import { requestIdOf } from "#lib/http/request-id";
import { failureOf, jsonHeaders, toResponse } from "#lib/http/respond";
import { OF_CONNECTION } from "#server/processes/forward";

const RETRY_AFTER_S = 1;
/** Responses that cannot have a body. */
const BODYLESS: ReadonlySet<number> = new Set([204, 304]);

/**
 * Makes the way from the portal's process to the REST API of the market process, for the routes that Next serves. The body is passed
 * on as it comes. The address of the client goes along in the header that the market process has set.
 * @param socketPath where the market process listens for the processes of its node
 */
export function createMarketCall(socketPath: string): (request: Request) => Promise<Response> {
  const dispatcher = new Agent({ connect: { socketPath } });
  return async ({ url, method, headers, body, signal }) => {
    const { pathname, search } = new URL(url);
    const given = Object.fromEntries([...headers].filter(([name]) => !OF_CONNECTION.has(name)));
    const sent = body && Readable.fromWeb(body as ReadableStream);
    try {
      const answer = await send(`http://market${pathname}${search}`, { dispatcher, method, headers: given, body: sent, signal });
      const passed = new Headers();
      for (const [name, value = []] of Object.entries(answer.headers))
        if (!OF_CONNECTION.has(name)) for (const one of [value].flat()) passed.append(name, one);
      const { statusCode: status } = answer;
      if (method !== "HEAD" && !BODYLESS.has(status))
        return new Response(Readable.toWeb(answer.body) as unknown as BodyInit, { status, headers: passed });
      await answer.body.dump();
      return new Response(null, { status, headers: passed });
    } catch {
      const fault = new Fault("service_unavailable", {
        detail: "The market process does not answer.",
        retry_after: RETRY_AFTER_S,
      });
      return toResponse(failureOf(fault, jsonHeaders(requestIdOf(headers.get("x-request-id"))), ""));
    }
  };
}
