import { randomUUID } from "node:crypto";
import type { Brand } from "#lib/brand";
import type { ManualClock } from "#lib/clock";
import { eachLimit, PLAN_LIMIT_MAX } from "#lib/contract/limits";
import type { ControlMessage } from "#lib/control";
import { type AccountChange, putAccount } from "#server/store/access/accounts";
import { createKey, type KeyContext, type MintedKey, type NewKey } from "#server/store/access/keys";
import type { TestDatabase } from "./database";

/** Only tests that choose another plan have limits. */
export const ENDLESS_PLAN = { name: "endless", ...eachLimit(() => PLAN_LIMIT_MAX) };

type KeySettings = Partial<NewKey> & { account?: string } & AccountChange;

/** Functions that create keys. */
export interface KeyIssuer {
  readonly keyContext: KeyContext & Pick<Parts, "db" | "clock" | "brand">;
  /** Creates a key, by default on a new account; live and on a plan without limits unless the settings override it. */
  issueKey(settings?: KeySettings): Promise<MintedKey>;
  /** Changes an account; resolves when the service has applied the change. */
  changeAccount(name: string, change: AccountChange): Promise<void>;
}

interface Parts {
  readonly brand: Brand;
  readonly db: TestDatabase;
  readonly clock: ManualClock;
  /** Scopes of a key that names none. */
  readonly scopes: NewKey["scopes"];
  /** Publishes a message; resolves when the service has applied it. */
  readonly tell: (message: ControlMessage) => Promise<void>;
}

/** Creates these functions for a service that follows control messages. */
export function createIssuer({ db, clock, brand, scopes, tell }: Parts): KeyIssuer {
  const keyContext = { db, clock, brand };
  let accounts = 0;
  const settle = () => tell({ kind: "keys", keyId: randomUUID() });
  return {
    keyContext,
    async issueKey(settings = {}) {
      accounts += 1;
      const {
        account: name = `account ${accounts}`,
        plan = ENDLESS_PLAN.name,
        permissions,
        suspended,
        liveAccess,
        ...rest
      } = settings;
      const change = { plan, ...(permissions && { permissions }), ...(suspended !== undefined && { suspended }) };
      const account = await putAccount(keyContext, name, change);
      const defaults = { name: "test", venue: "live", scopes, origins: [], expiresAt: null };
      const minted = await createKey(keyContext, { ...defaults, ...rest, accountId: account.id });
      // A key cannot be made without it, only lose it.
      if (liveAccess !== undefined) await putAccount(keyContext, name, { liveAccess });
      await settle();
      return minted;
    },
    async changeAccount(name, change) {
      await putAccount(keyContext, name, change);
      await settle();
    },
  };
}
