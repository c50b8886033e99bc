export { ready as GET } from "#lib/http/operational";
