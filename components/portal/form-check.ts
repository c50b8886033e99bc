// Loaded by a browser once the reader leaves a field, to check it: the order of these imports matters.
import "./jitless";
import { z } from "zod";
import { IncidentNoteForm } from "#lib/contract/incidents";
import {
  CreateKeyForm,
  EditKeyForm,
  EmailForm,
  ForgotForm,
  PasswordForm,
  ProfileForm,
  ResetForm,
  SignInForm,
  SignUpForm,
} from "#lib/contract/portal";
import { AccountForm, OverrideForm, PlanForm, PlanName } from "#lib/contract/portal-admin";
import { BillingKeyForm } from "#lib/contract/portal-billing";
import { CorrectionForm } from "#lib/contract/portal-corrections";
import { LinkForm } from "#lib/contract/portal-links";
import { validate } from "#lib/contract/validate";
import { WebhookForm } from "#lib/contract/webhooks";

const FORMS = {
  account: AccountForm,
  correction: CorrectionForm,
  createKey: CreateKeyForm,
  editKey: EditKeyForm,
  email: EmailForm,
  forgot: ForgotForm,
  incidentNote: IncidentNoteForm,
  link: LinkForm,
  override: OverrideForm,
  password: PasswordForm,
  billingKey: BillingKeyForm,
  plan: z.strictObject({ name: PlanName, ...PlanForm.shape }),
  profile: ProfileForm,
  reset: ResetForm,
  signIn: SignInForm,
  signUp: SignUpForm,
  webhook: WebhookForm,
} satisfies Record<string, z.ZodType>;

/** A form of the portal whose fields are checked when the reader leaves them. */
export type FormName = keyof typeof FORMS;

/** What the service would answer about the fields of a form, checked with its own schema: the first sentence for each. */
export function formIssues(form: FormName, body: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const validated = validate(FORMS[form] as z.ZodType, body);
  const refusals = "refusals" in validated ? validated.refusals : [];
  // A field that the contract does not know is left to the service.
  const known = refusals.filter(({ issue }) => issue.code !== "unrecognized_keys");
  return Object.fromEntries(known.toReversed().map(({ path, detail }) => [String(path[0]), detail]));
}
