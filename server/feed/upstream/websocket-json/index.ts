import { Refused, Upset } from "../../feed";
import type { Received, Upstream } from "../port";
import { jsonOf, openSocket } from "../socket";
import type { Said, Vendor } from "./vendor";

interface VendorAccount {
  readonly key: string;
  /** Another address, for a proxy. */
  readonly url?: string | undefined;
}

/** An upstream whose vendor sends JSON over WebSocket. */
export function socketUpstream(vendor: Vendor, { key, url = vendor.url }: VendorAccount): Upstream {
  const address = new URL(url);
  const { spellings = [(symbol: string) => symbol] } = vendor;
  let spelling = 0;
  if (vendor.keyParameter !== undefined) address.searchParams.set(vendor.keyParameter, key);

  return {
    name: vendor.name,
    declares: vendor.declares,
    symbolOf: vendor.symbolOf,
    secrets: [key],
    addresses: [url],
    async *stream(symbols, link) {
      let isPriced = false;
      const connection = openSocket(address.href, vendor.name, link);

      function proceed(next: "authenticate" | "subscribe" | "listen" | null): void {
        if (next === "authenticate") {
          link.step("authenticating");
          connection.send(vendor.authenticate?.(key) ?? {});
        } else if (next === "subscribe") {
          link.step("subscribing");
          const spell = spellings[spelling % spellings.length];
          connection.send(vendor.subscribe(spell === undefined ? symbols : symbols.map(spell), key));
        } else if (next === "listen") link.step("live");
      }

      /** @throws Refused or Upset when the message says so */
      function take(said: Said, text: string, received: Received[]): void {
        if (said === "alive") return;
        if ("received" in said) received.push(...said.received);
        else if ("next" in said) proceed(said.next);
        else if ("odd" in said) link.odd(said.odd, text);
        else if ("refused" in said) throw new Refused(said.refused);
        else throw new Upset(said.upset, { retryAfterMs: said.retryAfterMs });
      }

      void connection.opened.then(
        () => proceed(vendor.begins),
        () => undefined,
      );
      connection.keepAlive(vendor.declares.idleMs / 3, vendor.heartbeat);
      try {
        for (;;) {
          const received: Received[] = [];
          for (const text of await connection.next())
            for (const said of vendor.read(text, jsonOf(text))) take(said, text, received);
          if (received.length === 0) continue;
          isPriced = true;
          yield received;
        }
      } finally {
        if (!isPriced) spelling += 1;
        connection.close();
      }
    },
  };
}
