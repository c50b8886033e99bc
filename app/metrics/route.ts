export { metrics as GET } from "#lib/http/operational";
