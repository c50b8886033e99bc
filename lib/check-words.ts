import { INCIDENT_TITLES } from "./contract/uptime";

/** What operators read about a check: what it is, whom a problem concerns, and what to do next. */
interface CheckWords {
  readonly title: string;
  readonly concerns: string;
  readonly next: string;
  /** A page of the portal. */
  readonly path: string;
  /** The title of an incident about it, for readers; absent where its own says it. */
  readonly incident?: string;
}

const feed = (venue: string, part: string, incident: string): CheckWords => ({
  title: `${venue} ${part}`,
  incident,
  concerns: `Everybody who reads prices of the ${venue.toLowerCase()} venue.`,
  next: "Check the feed",
  path: "/admin/feeds",
});
const calls = (title: string, concerns: string): CheckWords => {
  return { title, concerns, next: "Find the cause", path: "/docs/operate" };
};

const CHECKS: Readonly<Record<string, CheckWords>> = {
  feed_live: feed("Live", "feed", INCIDENT_TITLES.live),
  prices_live: feed("Live", "prices", "Live prices delayed"),
  feed_sandbox: feed("Sandbox", "feed", INCIDENT_TITLES.sandbox),
  prices_sandbox: feed("Sandbox", "prices", "Sandbox prices delayed"),
  store: {
    ...calls("Database", "Everybody: history, accounts and new ticks need it."),
    path: "/docs/operate#when-the-database-is-unavailable",
  },
  history: {
    ...calls("History", "Everybody who asks for klines of the past, and imports."),
    path: "/docs/self-hosting#where-klines-lie",
  },
  history_files: {
    ...calls("Files of history", "Everybody who asks for the klines or ticks that they have."),
    path: "/docs/operate#damaged-history",
  },
  redis: calls("Redis", "Clients of all nodes: new prices do not reach them."),
  rest: { ...calls("REST", "Everybody who calls the API."), incident: INCIDENT_TITLES.rest },
  streams: { ...calls("Streams", "Everybody who opens a stream."), incident: INCIDENT_TITLES.stream },
  nodes: calls("Nodes", "Clients of the node that is silent."),
  workers: calls("Edge workers", "Clients of the node: it has fewer workers than it should."),
  process: calls("Process", "Clients of the node that drains."),
  disk: calls("Disk", "Nobody yet. When it is full, no ticks are taken."),
  mail_server: {
    title: "Mail server",
    concerns: "Everybody who waits for an email, such as those who sign up.",
    next: "Check the mail server",
    path: "/docs/self-hosting#email",
  },
  certificate: {
    title: "Certificate",
    concerns: "Nobody yet. Once it has ended, browsers and clients refuse to connect.",
    next: "Renew the certificate",
    path: "/docs/operate#certificates-and-tokens",
  },
  provider_token: {
    title: "Provider token",
    concerns: "Nobody yet. Once it has ended, the provider refuses the connection.",
    next: "Check the feed",
    path: "/admin/feeds",
  },
  backup: {
    title: "Backup",
    concerns: "Nobody yet. What is lost before the next backup cannot be restored.",
    next: "Set up backups",
    path: "/docs/self-hosting#backups",
  },
};

/** The words of a check; of one that a later release reports, its name. */
export function wordsOf(name: string): CheckWords {
  return CHECKS[name] ?? calls(name.replaceAll("_", " "), "See the nodes.");
}
