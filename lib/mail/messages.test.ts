import { describe, expect, test } from "vitest";
import { NAME_MARK } from "#lib/brand";
import * as messages from "./messages";
import * as security from "./security-messages";

const TO = "ada@customer.example";
const BASE = "https://data.acme.example";
const AT = new Date("2026-11-28T08:50:00Z");
const OCCASION: security.Occasion = { atMs: AT.getTime(), address: "192.0.2.1", userAgent: "", base: BASE };
const KEY = { name: "Shop", prefix: "acme_test_abcd", last4: "wxyz", account: "Customer Ltd" };
const MONTH = {
  account: "Customer Ltd",
  plan: "small",
  month_units: 1_000,
  month_hard: true,
  units: 800,
  percent: 80,
  resetsAt: AT,
};
const WARNING = { name: "feed", problem: "no ticks", since: AT, until: null };

type Templates<Module> = { readonly [Name in keyof Module as Name extends `${string}Mail` ? Name : never]: unknown };
/** Every email, in each of its forms. The compiler asks for a new one. */
const MAILS: Readonly<
  Record<keyof Templates<typeof messages> | keyof Templates<typeof security>, readonly messages.MailMessage[]>
> = {
  verifyMail: [messages.verifyMail(TO, BASE, "token")],
  invitationMail: [messages.invitationMail(TO, BASE, "Customer Ltd", "An operator", "token")],
  approvalMail: [true, false].map((approved) => messages.approvalMail(TO, BASE, approved)),
  liveAskedMail: [1, 2, 30].map((count) => messages.liveAskedMail(TO, BASE, Array(count).fill("Customer Ltd"))),
  liveAccessMail: (["granted", "withdrawn", "declined"] as const).map((what) =>
    messages.liveAccessMail(TO, BASE, "Customer Ltd", what),
  ),
  alreadyMail: [messages.alreadyMail(TO, BASE)],
  resetMail: [messages.resetMail(TO, BASE, "token")],
  changeMail: [messages.changeMail(TO, BASE, "token")],
  monthMail: [MONTH, { ...MONTH, percent: 100 }, { ...MONTH, month_hard: false }].map((share) =>
    messages.monthMail(TO, BASE, share),
  ),
  warningMail: [[WARNING], [WARNING, { ...WARNING, until: AT }], [{ ...WARNING, until: AT }]].map((problems) =>
    messages.warningMail(TO, BASE, problems),
  ),
  keyExpiryMail: [1, 2].map((count) => messages.keyExpiryMail(TO, BASE, Array(count).fill({ ...KEY, expires_at: AT }))),
  keyRefusedMail: [1, 2].map((count) =>
    messages.keyRefusedMail(TO, BASE, Array(count).fill({ ...KEY, state: "revoked", refused_at: AT, refused_address: null })),
  ),
  newSignInMail: [OCCASION, { ...OCCASION, address: null }].map((occasion) => security.newSignInMail(TO, occasion)),
  keyMail: (["created", "rotated", "revoked"] as const).map((made) => security.keyMail(TO, "Shop", made, OCCASION)),
  linkMail: (["created", "revoked"] as const).map((made) => security.linkMail(TO, "Budget", made, OCCASION)),
  providerMail: (["linked", "unlinked"] as const).map((made) => security.providerMail(TO, "GitHub", made, OCCASION)),
  passwordChangedMail: [0, 1, 2].map((count) => security.passwordChangedMail(TO, OCCASION, { keys: count, providers: count })),
  changeRequestedMail: [{ cancel: "token" }, { cancel: "token", approve: "token" }].map((links) =>
    security.changeRequestedMail(TO, "eve@customer.example", OCCASION, links),
  ),
  secondFactorMail: [security.secondFactorMail(TO, "An authenticator app was added to your account.", OCCASION)],
  recoveryCodeMail: [1, 2].map((left) => security.recoveryCodeMail(TO, left, OCCASION)),
  wrongCodesMail: [security.wrongCodesMail(TO, 10, OCCASION)],
  emailChangedMail: [security.emailChangedMail(TO, "eve@customer.example", OCCASION)],
  addressGivenMail: [security.addressGivenMail(TO, "eve@customer.example", OCCASION)],
  changeCanceledMail: [security.changeCanceledMail(TO, OCCASION)],
};

describe("emails of an installation with a name of its own", () => {
  const brand = { name: "Acme & Sons", support: { email: "help@acme.example", url: undefined } };

  test.each(Object.entries(MAILS))("%s has that name wherever it names the service, and who helps", (_, mails) => {
    expect(mails.length).toBeGreaterThan(0);
    for (const mail of mails) {
      const { to, subject, text } = messages.underBrand(mail, brand);
      expect(to).toBe(TO);
      expect(subject + text).not.toMatch(new RegExp(`spotwire|${NAME_MARK}|undefined|\\bNaN\\b`, "i"));
      expect(text.endsWith("\nSupport: help@acme.example\n")).toBe(true);
    }
  });

  test("has it in a subject, too", () => {
    const { subject, text } = messages.underBrand({ to: TO, subject: `Welcome to ${NAME_MARK}`, text: `${NAME_MARK}!` }, brand);
    expect([subject, text]).toEqual(["Welcome to Acme & Sons", "Acme & Sons!\nSupport: help@acme.example\n"]);
  });
});
