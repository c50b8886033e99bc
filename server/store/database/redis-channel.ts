import type { ControlChannel } from "#lib/control";
import type { Redis } from "./redis";

/** Control messages by pub/sub, for an installation of several nodes. */
export function createRedisChannel(redis: Redis): ControlChannel {
  const channel = redis.channel("control");
  return {
    async send(text) {
      await redis.client.publish(channel, text);
    },
    async open(onText, onLost, signal) {
      const line = redis.another();
      const close = async () => {
        if (line.isOpen) line.destroy();
      };
      // The client reconnects by itself and misses what was sent in between, so a line that broke once is not used again.
      const opened = new AbortController();
      const broken = new Promise<never>((_, reject) => {
        const onBroken = (reason: unknown) => {
          onLost(reason);
          reject(reason);
        };
        line.once("error", onBroken);
        line.once("end", () => onBroken(new Error("the connection ended")));
        signal.addEventListener("abort", () => reject(signal.reason), { once: true, signal: opened.signal });
      });
      broken.catch(() => undefined);
      try {
        await Promise.race([new Promise((resolve) => line.once("ready", resolve)), broken]);
        await Promise.race([line.subscribe(channel, onText), broken]);
      } catch (error) {
        await close();
        throw error;
      } finally {
        opened.abort();
      }
      return { ping: () => line.ping(), close };
    },
  };
}
