// Loaded by a browser once the reader changes a value, to check it: the order of these two imports matters.
import "../portal/jitless";

export { checkValues } from "./check";
