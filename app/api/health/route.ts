export { health as GET } from "#lib/http/operational";
