import { randomInt } from "node:crypto";
import { answerCalls } from "./stream-calls";

/** Sends requests at a fixed rate, each from its own address: sign-in attempts, or requests that cost the attackers as much. */

interface Attack {
  readonly url: string;
  /** Attempts per second; each is two requests. */
  readonly perSecond: number;
  /** False requests a small document instead. */
  readonly signIn: boolean;
}

/** Attempts in flight at once; further ones are skipped. */
const UNDER_WAY_MAX_COUNT = 512;
const PACE_MS = 20;

let timer: NodeJS.Timeout | undefined;
let sent = 0;
let refused = 0;
let underWay = 0;

const address = () => [10, randomInt(256), randomInt(256), randomInt(256)].join(".");

async function ask(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  if (response.status === 429) refused += 1;
  return response;
}

async function plain({ url }: Attack): Promise<void> {
  for (const _ of ["first", "second"]) await (await ask(`${url}/api/health`, {})).arrayBuffer();
}

async function signIn({ url }: Attack): Promise<void> {
  const from = { "x-forwarded-for": address() };
  const csrf = await ask(`${url}/api/auth/csrf`, { headers: from });
  const cookie = csrf.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  const { csrfToken = "0" } = (await csrf.json()) as { csrfToken?: string };
  const body = new URLSearchParams({
    csrfToken,
    email: `u${randomInt(1e9)}@example.com`,
    password: "not the right one",
    json: "true",
  });
  const answer = await ask(`${url}/api/auth/callback/credentials`, {
    method: "POST",
    headers: { ...from, origin: url, cookie },
    body,
  });
  await answer.arrayBuffer();
}

function attempt(attack: Attack): void {
  if (underWay >= UNDER_WAY_MAX_COUNT) return;
  underWay += 1;
  sent += 1;
  // Only market data is measured, so an attacker continues after a failed connection.
  void (attack.signIn ? signIn(attack) : plain(attack))
    .catch(() => undefined)
    .finally(() => {
      underWay -= 1;
    });
}

answerCalls({
  start(attack: Attack) {
    sent = 0;
    refused = 0;
    const startMs = performance.now();
    timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startMs) / 1000) * attack.perSecond);
      while (sent < due && underWay < UNDER_WAY_MAX_COUNT) attempt(attack);
    }, PACE_MS);
  },
  stop() {
    clearInterval(timer);
    return { sent, refused };
  },
});
