// Loaded by a browser once the reader leaves a field or sends a form, to check it: the order of these imports matters.
import "./jitless";
import { z } from "zod";
import { CalendarException } from "#lib/contract/calendar";
import { IncidentNoteForm } from "#lib/contract/incidents";
import { CustomerForm, InvitedSignUpForm, InviteForm, OrganisationForm } from "#lib/contract/organisation";
import {
  ACCEPT_TERMS,
  ConnectForm,
  CreateKeyForm,
  EditKeyForm,
  EmailForm,
  ForgotForm,
  PasswordForm,
  ProfileForm,
  ProofForm,
  ResetForm,
  SignInForm,
  SignUpForm,
  VerifyForm,
} from "#lib/contract/portal";
import { AccountForm, OverrideForm, PlanForm, PlanName } from "#lib/contract/portal-admin";
import { BillingKeyForm } from "#lib/contract/portal-billing";
import { CorrectionForm } from "#lib/contract/portal-corrections";
import { LinkForm } from "#lib/contract/portal-links";
import { AddPasskeyForm, CodeForm } from "#lib/contract/second-factor";
import { isRequired, validate } from "#lib/contract/validate";
import { WebhookForm } from "#lib/contract/webhooks";

/** A form asks for the terms only where there are some. */
const terms = z.literal(true, ACCEPT_TERMS).optional();

const FORMS = {
  account: AccountForm,
  billingKey: BillingKeyForm,
  calendarException: CalendarException,
  code: CodeForm,
  connect: ConnectForm,
  correction: CorrectionForm,
  createKey: CreateKeyForm,
  customer: CustomerForm,
  editKey: EditKeyForm,
  email: EmailForm,
  forgot: ForgotForm,
  incidentNote: IncidentNoteForm,
  invite: InviteForm,
  invitedSignUp: InvitedSignUpForm.extend({ terms }),
  link: LinkForm,
  organisation: OrganisationForm,
  override: OverrideForm,
  // What the browser reports of it comes after the name.
  passkey: AddPasskeyForm.pick({ name: true }),
  password: PasswordForm,
  plan: z.strictObject({ name: PlanName, ...PlanForm.shape }),
  profile: ProfileForm,
  proof: ProofForm,
  reset: ResetForm,
  signIn: SignInForm,
  signUp: SignUpForm.extend({ terms }),
  verify: VerifyForm,
  webhook: WebhookForm,
} satisfies Record<string, z.ZodType>;

/** A form of the portal whose fields are checked when the reader leaves them, and before it is sent. */
export type FormName = keyof typeof FORMS;

/** What the service would answer about the fields of a form, checked with its own schema: the first sentence for each. */
export function formIssues(form: FormName, body: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const validated = validate(FORMS[form] as z.ZodType, body);
  const refusals = "refusals" in validated ? validated.refusals : [];
  // A field that the contract does not know is left to the service.
  const known = refusals.filter(({ issue }) => issue.code !== "unrecognized_keys");
  return Object.fromEntries(known.toReversed().map(({ path, detail }) => [String(path[0]), detail]));
}

/** What is said of a control that holds something, and yet has no value. */
const UNFINISHED: Readonly<Record<string, string>> = { number: "Enter a number.", "datetime-local": "Enter a date and a time." };

/**
 * What is wrong with the fields of a form, by name: what its schema says, or that a required one is empty where there is no schema.
 * @param bodyOf what the schema checks; the fields as text unless given
 */
export function issuesOf(
  element: HTMLFormElement,
  form: FormName | undefined,
  bodyOf: (data: FormData) => Readonly<Record<string, unknown>> = Object.fromEntries,
): Readonly<Record<string, string>> {
  const controls = [...element.elements] as HTMLInputElement[];
  const empty = controls.filter(({ validity }) => validity.valueMissing);
  const unfinished = controls.filter(({ validity }) => validity.badInput);
  return {
    ...Object.fromEntries(empty.map(({ name }) => [name, isRequired(name)])),
    ...(form !== undefined && formIssues(form, bodyOf(new FormData(element)))),
    ...Object.fromEntries(unfinished.map(({ name, type }) => [name, UNFINISHED[type] ?? "Enter a date."])),
  };
}
