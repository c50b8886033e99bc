import { brandHere } from "#app/brand";
import { readerAddress } from "#app/reader-address";
import { brandWords } from "#lib/brand";
import { postmanCollection } from "#lib/docs/postman";

/** The REST operations as a Postman collection that calls this service. */
export async function GET(): Promise<Response> {
  const brand = brandHere();
  const text = brandWords(brand)(JSON.stringify(postmanCollection({ base: await readerAddress(), brand })));
  return new Response(text, { headers: { "content-type": "application/json", "cache-control": "private, no-cache" } });
}
