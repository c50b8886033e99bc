/** The same document for clients that do not look for the path of the endpoint. */
export { DELETE, GET, OPTIONS, PATCH, POST, PUT } from "./mcp/route";
