import type { Clock } from "#lib/clock";
import { type Month, monthEndMs, monthOf } from "#lib/domain/month";
import { Fault } from "#lib/fault";
import { SECOND_MS } from "#lib/units";
import { createLru } from "../lru";
import type { Principal } from "../principal";
import type { CallCount } from "./counts";

/** Accounts whose month is kept in memory; that of another one begins with what its key was read with. */
const ACCOUNTS_MAX_COUNT = 10_000;

/** What an account has used of its month. */
interface MonthUse {
  readonly units: number;
  /** When the month ends, Unix milliseconds. */
  readonly endMs: number;
}

interface Account {
  month: Month;
  /** As all processes have written it. */
  written: number;
  /** Counted here, and not written. */
  pending: number;
}

/** The units of the current month of accounts whose plans have a quota, as far as this process knows them. */
export interface Months {
  /** What the account has used. */
  use(principal: Principal): MonthUse;
  /**
   * Requires that a call of `cost` units fits a hard quota.
   * @throws Fault quota_exceeded
   */
  require(principal: Principal, cost: number): void;
  /** Counts the units of an answered call. */
  add(principal: Principal, units: number): void;
  /** The counts are written now. */
  wrote(counts: readonly CallCount[]): void;
  /** The accounts to read again, and their month. */
  known(): { readonly month: Month; readonly accountIds: readonly string[] };
  /** What all processes have written of a month. */
  read(month: Month, units: ReadonlyMap<string, number>): void;
}

/** Makes them. Nothing is known of an account before its first call, except what its key was read with. */
export function createMonths(clock: Clock): Months {
  const accounts = createLru<Account>(ACCOUNTS_MAX_COUNT);
  let month = "";
  let endMs = 0;

  function currentMonth(): Month {
    const nowMs = clock.now();
    if (nowMs >= endMs) {
      month = monthOf(nowMs);
      endMs = monthEndMs(month);
    }
    return month;
  }

  /** Its account in this month. Units only grow within a month, so that of two numbers the larger one is newer. */
  function accountOf({ accountId, monthUsed }: Principal): Account {
    const now = currentMonth();
    const read = monthUsed.month === now ? monthUsed.units : 0;
    const known = accounts.get(accountId);
    if (known?.month === now) {
      if (read > known.written) known.written = read;
      return known;
    }
    const account = { month: now, written: read, pending: 0 };
    accounts.set(accountId, account);
    return account;
  }

  function use(principal: Principal): MonthUse {
    const { written, pending } = accountOf(principal);
    return { units: written + pending, endMs };
  }

  return {
    use,
    require(principal, cost) {
      const { name, monthUnits, monthHard } = principal.plan;
      if (!monthHard || monthUnits === null || cost === 0) return;
      const { units } = use(principal);
      if (units + cost <= monthUnits) return;
      const resets_at = new Date(endMs).toISOString();
      throw new Fault("quota_exceeded", {
        detail: `The plan "${name}" has ${monthUnits} units a month, of which ${Math.max(0, monthUnits - units)} are left. This call costs ${cost}.`,
        max: monthUnits,
        resets_at,
        retry_after: Math.max(1, Math.ceil((endMs - clock.now()) / SECOND_MS)),
      });
    },
    add(principal, units) {
      if (units > 0 && principal.plan.monthUnits !== null) accountOf(principal).pending += units;
    },
    wrote(counts) {
      for (const { accountId, atMs, units } of counts) {
        const account = accounts.peek(accountId);
        if (account === undefined || units === 0 || monthOf(atMs) !== account.month) continue;
        account.pending = Math.max(0, account.pending - units);
        account.written += units;
      }
    },
    known() {
      const now = currentMonth();
      const current = [...accounts.entries()].filter(([, account]) => account.month === now);
      return { month: now, accountIds: current.map(([accountId]) => accountId) };
    },
    read(of, units) {
      for (const [accountId, read] of units) {
        const account = accounts.peek(accountId);
        if (account?.month === of) account.written = read;
      }
    },
  };
}
