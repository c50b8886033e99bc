import { randomUUID } from "node:crypto";
import { type AccountChange, putAccount } from "#lib/access/accounts";
import { createKey, type KeyContext, type MintedKey, type NewKey } from "#lib/access/keys";
import type { ManualClock } from "#lib/clock";
import type { ControlMessage } from "#lib/control/control";
import type { TestDatabase } from "./database";

/** Nobody is limited who does not mean to be. */
export const ENDLESS_PLAN = {
  name: "endless",
  restPerMinute: 1e9,
  restBurst: 1e9,
  streamConnections: 1e6,
  subscriptionsPerConnection: 1e6,
};

type KeySettings = Partial<NewKey> & { account?: string } & AccountChange;

/** The verbs that make keys for streams. */
export interface KeyIssuer {
  readonly keyContext: KeyContext;
  /** Makes a key, on an account of its own unless one is named; live, both scopes and a plan without end unless said otherwise. */
  issueKey(settings?: KeySettings): Promise<MintedKey>;
  /** Changes an account and resolves when that was heard. */
  changeAccount(name: string, change: AccountChange): Promise<void>;
}

interface Parts {
  readonly db: TestDatabase;
  readonly clock: ManualClock;
  readonly publishAndHear: (message: ControlMessage) => Promise<void>;
}

/** Makes the verbs over a service that hears of changes. */
export function createIssuer({ db, clock, publishAndHear }: Parts): KeyIssuer {
  const keyContext = { db, clock };
  let accounts = 0;
  const settle = () => publishAndHear({ kind: "keys", keyId: randomUUID() });
  return {
    keyContext,
    async issueKey(settings = {}) {
      accounts += 1;
      const { account: name = `account ${accounts}`, plan = ENDLESS_PLAN.name, permissions, suspended, ...rest } = settings;
      const change = { plan, ...(permissions && { permissions }), ...(suspended !== undefined && { suspended }) };
      const account = await putAccount(keyContext, name, change);
      const defaults = { name: "test", venue: "live", scopes: ["market:read", "market:stream"], origins: [], expiresAt: null };
      const minted = await createKey(keyContext, { ...defaults, ...rest, accountId: account.id });
      await settle();
      return minted;
    },
    async changeAccount(name, change) {
      await putAccount(keyContext, name, change);
      await settle();
    },
  };
}
