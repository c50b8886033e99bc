import { readerAddress } from "#app/reader-address";
import { otherMethods } from "#server/pages/methods";

/** The interfaces of the service and the documents about each, for programs (RFC 9727). */
export async function GET(): Promise<Response> {
  const base = await readerAddress();
  const document = (path: string, type: string) => ({ href: `${base}${path}`, type });
  const linkset = [
    {
      anchor: `${base}/api/v1`,
      "service-desc": [document("/openapi.json", "application/json"), document("/asyncapi.json", "application/json")],
      "service-doc": [document("/docs", "text/html"), document("/llms.txt", "text/markdown")],
      status: [document("/status.json", "application/json")],
    },
    {
      anchor: `${base}/mcp`,
      "service-doc": [document("/docs/mcp", "text/html"), document("/skill.md", "text/markdown")],
      "service-meta": [document("/.well-known/oauth-protected-resource/mcp", "application/json")],
    },
  ];
  return Response.json(
    { linkset },
    {
      headers: {
        "content-type": 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
        "cache-control": "private, no-cache",
      },
    },
  );
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
