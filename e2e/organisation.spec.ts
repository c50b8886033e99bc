import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANSWERED, BROWSER_TIMEOUT_MS, borrowBrowser, collectProblems, openPage, returnBrowser } from "./browser";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox } from "./mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const OWNER = "owner@acme.test";
const DEVELOPER = "dev@acme.test";
const PASSWORD = "correct horse battery";

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let owner: Page;
let link = "";
const problems: string[] = [];
const contexts: BrowserContext[] = [];

/** A page of somebody with a browser of their own. */
async function somebody(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  contexts.push(context);
  const page = await context.newPage();
  collectProblems(page, problems, ANSWERED);
  return page;
}

beforeAll(async () => {
  mailbox = await openMailbox();
  const settings = { SMTP_URL: mailbox.url, SIGNUP: "closed", TERMS_URL: "https://acme.test/terms" };
  [product, browser] = await Promise.all([startProduct(settings), borrowBrowser()]);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

/** The row of a member. */
const memberRow = (page: Page, email: string) =>
  page.getByRole("table", { name: "Members" }).getByRole("row").filter({ hasText: email });
const heading = (page: Page) => page.getByRole("heading", { level: 1 }).textContent();

describe("an installation that creates accounts only by invitation", () => {
  test("says so on the page for signing up, and in its answer", async () => {
    const stranger = await somebody();
    await openPage(stranger, `${product.baseUrl}/signup`);
    expect(await heading(stranger)).toBe("Sign-up by invitation");
    for (const path of ["/", "/signin"]) {
      await openPage(stranger, product.baseUrl + path);
      expect(await stranger.getByRole("link", { name: "Create an account" }).count()).toBe(0);
    }
    const answer = await fetch(`${product.baseUrl}/api/portal/sign-up`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: product.baseUrl },
      body: JSON.stringify({ email: "eve@evil.test", password: PASSWORD, terms: true }),
    });
    expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([403, "sign_up_closed"]);
  });

  test("lets its first owner in by a link of the command line, who accepts the terms and verifies the address", async () => {
    const { output, exitCode } = await runCommand(product, "admin", ["invite", OWNER, "Acme"]);
    expect(exitCode).toBe(0);
    link = /http\S+#token=\S+/.exec(output)?.[0]?.replace(/^https?:\/\/[^/]+/, product.baseUrl) ?? "";
    owner = await somebody();
    await openPage(owner, link);
    await owner.getByRole("heading", { name: "Join Acme" }).waitFor();
    await owner.getByLabel("Password").fill(PASSWORD);
    await owner.getByRole("checkbox", { name: /I accept the terms/ }).check();
    await owner.getByRole("button", { name: "Create account and join" }).click();
    await owner.getByText("We sent an email to").waitFor();
    await owner.goto(await mailbox.nextLink(OWNER, "/verify"));
    await owner.getByRole("button", { name: "Verify my email" }).click();
    await owner.waitForURL(/\/dashboard\/keys/);
    await openPage(owner, `${product.baseUrl}/dashboard/organisation`);
    await memberRow(owner, OWNER).getByText("Owner", { exact: true }).waitFor();
  });

  test("the link of an accepted invitation says that it does not work any more", async () => {
    const stranger = await somebody();
    await stranger.goto(link);
    await stranger
      .getByText("This invitation was already used, was withdrawn, has expired, or its link is incomplete.")
      .waitFor();
  });
});

describe("an owner", () => {
  test("invites by email, and the invited developer joins from the email in one step", async () => {
    await owner.getByRole("button", { name: "Invite" }).click();
    const dialog = owner.getByRole("dialog");
    await dialog.getByLabel("Email", { exact: true }).fill(DEVELOPER);
    await dialog.getByRole("button", { name: "Send invitation" }).click();
    await dialog.waitFor({ state: "detached" });
    await owner
      .getByRole("row")
      .filter({ hasText: DEVELOPER })
      .getByRole("button", { name: /Withdraw/ })
      .waitFor();

    const developer = await somebody();
    await openPage(developer, await mailbox.nextLink(DEVELOPER, "/invitation"));
    await developer.getByLabel("Password").fill(PASSWORD);
    await developer.getByRole("checkbox", { name: /I accept the terms/ }).check();
    await developer.getByRole("button", { name: "Create account and join" }).click();
    await developer.waitForURL(/\/dashboard$/);
    await openPage(developer, `${product.baseUrl}/dashboard/organisation`);
    await memberRow(developer, DEVELOPER).waitFor();
    expect(await developer.getByRole("button", { name: "Invite" }).count()).toBe(0);
  });

  test("makes a member a reader, who is told so and offered no key, link or webhook, and removes them", async () => {
    await owner.reload();
    await owner.getByRole("button", { name: `Actions for ${DEVELOPER}` }).click();
    await owner.getByRole("menuitem", { name: "Change role" }).click();
    await owner.getByRole("dialog").getByLabel("Role").selectOption("Reader");
    await owner.getByRole("button", { name: "Change role" }).click();
    await memberRow(owner, DEVELOPER).getByText("Reader", { exact: true }).waitFor();
    const reader = contexts.at(-1)?.pages()[0] as Page;
    await openPage(reader, `${product.baseUrl}/dashboard/keys?new=1`);
    await reader.getByText("Your role in Acme is reader.").waitFor();
    expect(await reader.getByRole("dialog").count()).toBe(0);
    for (const [page, action] of [
      ["keys", "Create key"],
      ["links", "Create link"],
      ["webhooks", "Add webhook"],
    ]) {
      await openPage(reader, `${product.baseUrl}/dashboard/${page}`);
      expect(await reader.getByRole("button", { name: action as string }).count()).toBe(0);
    }

    await owner.getByRole("button", { name: `Actions for ${DEVELOPER}` }).click();
    await owner.getByRole("menuitem", { name: "Remove" }).click();
    await owner.getByRole("button", { name: "Remove member" }).click();
    // Behind a dialog, the table is hidden from roles.
    await owner.getByRole("alertdialog").waitFor({ state: "detached" });
    await memberRow(owner, DEVELOPER).waitFor({ state: "detached" });
    await openPage(reader, `${product.baseUrl}/dashboard/organisation`);
    await reader.getByText("Your account waits for approval.").waitFor();
  });

  test("switches an alert off, which stays so", async () => {
    await openPage(owner, `${product.baseUrl}/dashboard/organisation`);
    const quota = owner.getByRole("checkbox", { name: "Monthly quota: Email" });
    expect(await quota.isChecked()).toBe(true);
    await quota.uncheck();
    await owner.getByRole("button", { name: "Save alerts" }).click();
    await owner.getByText("The alerts were changed.").first().waitFor();
    await openPage(owner, `${product.baseUrl}/dashboard/organisation`);
    await quota.waitFor();
    expect(await quota.isChecked()).toBe(false);
    expect(await owner.getByRole("checkbox", { name: "Monthly quota: Webhooks" }).isChecked()).toBe(true);
  });

  test("reads what a member did, and downloads it", async () => {
    await owner.reload();
    await owner
      .getByText(/invited/i)
      .first()
      .waitFor();
    const [download] = await Promise.all([
      owner.waitForEvent("download"),
      owner.getByRole("link", { name: "Download CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("audit.csv");
    expect(problems).toEqual([]);
  });
});
