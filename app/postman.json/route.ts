import { readerAddress } from "#app/reader-address";
import { postmanCollection } from "#lib/docs/postman";

/** The REST operations as a Postman collection that calls this service. */
export async function GET(): Promise<Response> {
  const collection = postmanCollection({ base: await readerAddress() });
  return Response.json(collection, { headers: { "cache-control": "private, no-cache" } });
}
