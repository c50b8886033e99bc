import { createMcp } from "#lib/mcp/endpoint";

const mcp = createMcp();

export { mcp as DELETE, mcp as GET, mcp as OPTIONS, mcp as PATCH, mcp as POST, mcp as PUT };
