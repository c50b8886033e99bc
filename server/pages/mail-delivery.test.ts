import { expect, test } from "vitest";
import { mailDelivery } from "./mail-delivery";

test("emails go to the mail server, to the outbox without one, and in production only to the log", () => {
  const at = (NODE_ENV: "production" | "development", SMTP_URL?: string) => mailDelivery({ NODE_ENV, SMTP_URL });
  expect([at("production", "smtp://127.0.0.1"), at("development"), at("production")]).toEqual(["server", "outbox", "log"]);
});
