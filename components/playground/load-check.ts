// What a browser loads, once the reader changes a value, to judge it: the order of these two counts.
import "./jitless";

export { issuesOf } from "./check";
