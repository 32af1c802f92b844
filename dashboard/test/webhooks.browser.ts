import type { Page } from "playwright-core";
import { Webhook } from "standardwebhooks";
import { beforeAll, expect, test } from "vitest";
import { addViewer } from "../../server/test/admin/operator-requests.ts";
import { emitCompleted } from "../../server/test/support/emit-completed.ts";
import { type HttpReceiver, startReceiver } from "../../server/test/support/webhook-receivers.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";

const dashboard = openDashboard({ WEBHOOK_ALLOW_HTTP: "true", WEBHOOK_ALLOW_NETWORKS: "127.0.0.1/32" });
const answer = { status: 204, body: "" };
let receiver: HttpReceiver;
/** The page of the endpoint that the first test creates. */
let endpointUrl: string;

beforeAll(async () => {
  // A Retry-After of one hour prevents automatic retries during a test.
  receiver = await startReceiver((_, response) => {
    response.writeHead(answer.status, { "retry-after": "3600" }).end(answer.body);
  });
  return () => receiver.close();
});

const deliveries = (page: Page) => page.getByRole("table", { name: "Deliveries" });
const row = (page: Page, name: string) => deliveries(page).getByRole("row").filter({ hasText: name }).first();
const environmentIdFromUrl = (page: Page) => /environments\/(\w+)/.exec(page.url())?.[1] ?? "";

async function openEndpoint(page: Page): Promise<void> {
  await page.goto(endpointUrl);
  await page.getByRole("heading", { level: 1, name: "Webhook endpoint" }).waitFor();
}

test("an endpoint is created with a checked URL, and a test event shows its result", async () => {
  const { page } = await dashboard.visit();
  await completeSetup(page, dashboard);
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByText("No endpoints yet").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);

  await page.getByRole("button", { name: "New endpoint" }).click();
  await page.getByLabel("URL").fill("https://10.0.0.1/");
  await page.getByText("Webhooks cannot be sent to the address 10.0.0.1.").waitFor();
  await page.getByLabel("Metadata").fill("[1]");
  await page.getByText("Enter a JSON object").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByLabel("URL").fill(receiver.url.href);
  await page.getByText("Webhooks cannot be sent to the address").waitFor({ state: "detached" });
  await page.getByText("Skipped", { exact: true }).click();
  await page.getByLabel("Metadata").fill('{"team": "video"}');
  await page.getByRole("button", { name: "Create endpoint" }).click();
  const secret = await page.getByRole("textbox", { name: "Signing secret" }).inputValue();
  expect(secret).toMatch(/^whsec_/);
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "View endpoint" }).click();
  await page.getByText("No deliveries yet.").waitFor();
  await page.getByText("Completed, Failed").waitFor();
  endpointUrl = page.url();

  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByRole("status").getByText("Test event received: HTTP 204").waitFor();
  await row(page, "Test").getByText("Delivered").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  const { headers, body } = receiver.requests.at(-1)!;
  new Webhook(secret).verify(body, headers as Record<string, string>);

  answer.status = 503;
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByRole("alert").getByText("Test event failed: HTTP 503").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
});

test("a failed delivery shows its request and response, and arrives after a resend, without a reload", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await openEndpoint(page);
  await page.evaluate("window.notReloaded = true");
  Object.assign(answer, { status: 500, body: "the database is away" });
  await emitCompleted(dashboard.service, environmentIdFromUrl(page));
  await row(page, "Completed").getByText("Retrying").waitFor();
  await row(page, "Completed").getByText("HTTP 500").waitFor();
  await row(page, "Completed").getByRole("link", { name: "all-hands.mp4" }).waitFor();
  await page.getByText("Failing", { exact: true }).waitFor();

  await row(page, "Completed").getByRole("button", { name: "Details" }).press("Enter");
  await page
    .getByRole("figure", { name: "Response (first 1 KB)" })
    .getByText("the database is away")
    .waitFor();
  await page.getByText("Request", { exact: true }).first().click();
  const sent = receiver.requests.at(-1)!;
  const headers = page.getByRole("figure", { name: "Headers" });
  await headers.getByText(`webhook-signature: ${sent.headers["webhook-signature"]}`).waitFor();
  await page.getByRole("figure", { name: "Body" }).getByText('"filename": "all-hands.mp4"').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);

  Object.assign(answer, { status: 204, body: "" });
  await page.getByRole("button", { name: "Resend now" }).click();
  await row(page, "Completed").getByText("Delivered").waitFor();
  await page.getByRole("region", { name: "Attempt 2" }).getByText("HTTP 204").waitFor();
  await page.getByText("Healthy", { exact: true }).waitFor();
  expect(receiver.requests.at(-1)!.headers["webhook-id"]).toBe(sent.headers["webhook-id"]);
  expect(await page.evaluate("window.notReloaded")).toBe(true);
});

test("deliveries are filtered by state and event, and all failed ones are resent together", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await openEndpoint(page);
  answer.status = 410;
  await emitCompleted(dashboard.service, environmentIdFromUrl(page));
  await page.getByText("It responded with 410 Gone.").waitFor();
  expect(await page.getByRole("button", { name: "Send test event" }).count()).toBe(0);
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Enable" }).click();

  await page.getByLabel("State").selectOption("Failed");
  await row(page, "Test").waitFor({ state: "detached" });
  await row(page, "Completed").getByText("Failed").waitFor();
  await page.reload();
  expect(await page.getByLabel("State").inputValue()).toBe("failed");
  await page.getByLabel("Event").selectOption("Test");
  await page.getByText("No results").waitFor();
  await page.getByLabel("State").selectOption("All");
  await row(page, "Test").waitFor();

  answer.status = 204;
  await page.getByRole("button", { name: "Resend failed" }).click();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Resend", exact: true }).click();
  await page.getByText(/will be resent\.$/).waitFor();
  // The result is that of another period.
  await page.getByLabel("Created in").selectOption("The last hour");
  await page.getByText(/will be resent\.$/).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByLabel("Event").selectOption("Completed");
  await row(page, "Failed").waitFor({ state: "detached" });
  await row(page, "Completed").getByText("Delivered").waitFor();
});

test("an owner views and rotates the secret, and both secrets sign for 24 hours", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await openEndpoint(page);
  await page.getByRole("button", { name: "Show secret" }).click();
  const secret = page.getByRole("textbox", { name: "Signing secret" });
  const before = await secret.inputValue();
  await page.getByRole("button", { name: "Rotate signing secret" }).click();
  await page.getByText("every webhook is signed with both the new and the current secret").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByText("every webhook is signed with both this secret and the previous one").waitFor();
  const after = await secret.inputValue();
  expect(after).not.toBe(before);

  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("Test event received").waitFor();
  const { headers, body } = receiver.requests.at(-1)!;
  for (const each of [before, after]) new Webhook(each).verify(body, headers as Record<string, string>);
  await row(page, "Test").getByRole("button", { name: "Details" }).click();
  await page.getByText("Request", { exact: true }).first().click();
  await page.getByText(/webhook-signature: v1,\S+ v1,\S+/).waitFor();

  await page.getByRole("button", { name: "Verification code samples" }).click();
  await page.getByText("createHmac").first().waitFor();
  await page.getByText("Python", { exact: true }).click();
  await page.getByText("hmac.compare_digest").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
});

test("an endpoint is edited, disabled and enabled on a phone, in both themes", async () => {
  const { page } = await dashboard.visit({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await signIn(page, dashboard, OWNER);
  await openEndpoint(page);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByText("Skipped", { exact: true }).last().click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Completed, Failed, Skipped").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Completed, Failed, Skipped").waitFor({ state: "detached" });
  await page.getByText("Change undone.").waitFor();
  // As if the endpoint were disabled before the first attempt.
  await page.route("**/deliveries/*", async (route) => {
    const delivery = await (await route.fetch()).json();
    await route.fulfill({ json: { ...delivery, status: "canceled", attempts: [], nextAttemptAt: null } });
  });
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByRole("alert").getByText("Test event not sent: the endpoint was disabled.").waitFor();
  await page.unroute("**/deliveries/*");
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByText("Disabled by its owner.").waitFor();
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByRole("button", { name: "Disable" }).waitFor();
  await row(page, "Test").getByRole("button", { name: "Details" }).click();
  await page.getByText("Request", { exact: true }).first().click();
  const widthOfPage = () => page.evaluate("document.documentElement.scrollWidth");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await accessibilityViolations(page)).toEqual([]);
  }
  expect(await widthOfPage()).toBe(390);
  await page.getByRole("link", { name: "Webhooks", exact: true }).click();
  await page.getByRole("link", { name: receiver.url.href }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(await widthOfPage()).toBe(390);
});

test("a viewer sees endpoints and deliveries but no secret, and cannot change anything", async () => {
  const viewer = await addViewer(dashboard);
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, viewer);
  await openEndpoint(page);
  await row(page, "Completed").getByRole("button", { name: "Details" }).click();
  await page.getByText("Request", { exact: true }).first().waitFor();
  await page.getByText("Only an owner can view and rotate the secret.").waitFor();
  const changes = /[Ss]end|Edit|able|Delete|Rotate|Show secret/;
  expect(await page.getByRole("button", { name: changes }).count()).toBe(0);
  expect(await accessibilityViolations(page)).toEqual([]);
  const id = endpointUrl.split("/").at(-1) ?? "";
  const refused = await page.evaluate(async (endpointId) => {
    const responses = ["reveal-secret", "rotate-secret", "test"].map(async (action) => {
      const response = await fetch(`/internal/webhook-endpoints/${endpointId}/${action}`, { method: "POST" });
      return [response.status, ((await response.json()) as { code: string }).code];
    });
    return await Promise.all(responses);
  }, id);
  expect(refused).toEqual(Array(3).fill([403, "owner_required"]));
});

test("an endpoint is not shown in another environment, and not found once it is deleted", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.goto(endpointUrl.replace(/env_\w+/, "env_01h455vb4pex5vsknk084sn02q"));
  await page.getByText("Page not found").waitFor();
  await openEndpoint(page);
  await page.getByRole("button", { name: "Delete" }).click();
  const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete" });
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel(`Type ${receiver.url.href} to confirm`).fill(receiver.url.href);
  await confirm.click();
  await page.getByText("No endpoints yet").waitFor();
  await page.goto(endpointUrl);
  await page.getByText("Page not found").waitFor();
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
