-- The tables of schema.prisma, as Prisma's engine writes them.

-- CreateTable
CREATE TABLE "plan" (
    "name" TEXT NOT NULL,
    "rest_per_minute" INTEGER NOT NULL,
    "rest_burst" INTEGER NOT NULL,
    "stream_connections" INTEGER NOT NULL,
    "subscriptions_per_connection" INTEGER NOT NULL,
    "live_access" BOOLEAN NOT NULL DEFAULT false,
    "month_units" INTEGER,
    "month_hard" BOOLEAN NOT NULL DEFAULT false,
    "history_days" INTEGER,
    "streams" BOOLEAN NOT NULL DEFAULT true,
    "permissions" JSONB NOT NULL DEFAULT '{"kind":"all"}',
    "price" TEXT,
    "public" BOOLEAN NOT NULL DEFAULT false,
    "revision" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "plan_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "account" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "plan" TEXT NOT NULL DEFAULT 'free',
    "permissions" JSONB NOT NULL DEFAULT '{"kind":"all"}',
    "live_access" BOOLEAN NOT NULL DEFAULT false,
    "history_days" INTEGER,
    "suspended_at" TIMESTAMPTZ(3),
    "waiting_since" TIMESTAMPTZ(3),
    "require_second_factor" BOOLEAN NOT NULL DEFAULT false,
    "sign_in_domain" TEXT,
    "alerts_off" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "made_by" UUID,
    "venue" TEXT NOT NULL,
    "scopes" TEXT[],
    "origins" TEXT[],
    "addresses" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "tickers" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "rest_per_minute" INTEGER,
    "rest_burst" INTEGER,
    "stream_connections" INTEGER,
    "subscriptions_per_connection" INTEGER,
    "hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "not_before" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "expiry_told_at" TIMESTAMPTZ(3),
    "grace_until" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "last_used_address" TEXT,
    "refused_at" TIMESTAMPTZ(3),
    "refused_address" TEXT,
    "refusal_seen_at" TIMESTAMPTZ(3),
    "agent_host" TEXT,
    "replaced_by" UUID,

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "data_link" (
    "id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "last_used_address" TEXT,

    CONSTRAINT "data_link_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "calendar" (
    "name" TEXT NOT NULL,
    "definition" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "calendar_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "calendar_override" (
    "id" UUID NOT NULL,
    "calendar" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3),
    "note" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "calendar_override_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "listing" (
    "venue" TEXT NOT NULL,
    "ticker" TEXT NOT NULL,
    "asset_class" TEXT NOT NULL,
    "base" TEXT NOT NULL,
    "quote" TEXT NOT NULL,
    "digits" INTEGER NOT NULL,
    "pip_size" DOUBLE PRECISION NOT NULL,
    "streams" TEXT[],
    "timeframes" TEXT[],
    "calendar" TEXT,
    "stale_after_s" INTEGER NOT NULL,
    "open_grace_s" INTEGER NOT NULL,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "listing_pkey" PRIMARY KEY ("venue","ticker")
);

-- CreateTable
CREATE TABLE "import_job" (
    "id" TEXT NOT NULL,
    "venue" TEXT NOT NULL,
    "ticker" TEXT NOT NULL,
    "file" TEXT NOT NULL,
    "rows" BIGINT NOT NULL DEFAULT 0,
    "done" BOOLEAN NOT NULL DEFAULT false,
    "batches" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "import_job_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "backfill" (
    "id" UUID NOT NULL,
    "number" SERIAL NOT NULL,
    "venue" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "files" INTEGER NOT NULL,
    "files_done" INTEGER NOT NULL,
    "files_failed" INTEGER NOT NULL,
    "file" TEXT NOT NULL,
    "step" TEXT NOT NULL,
    "share" DOUBLE PRECISION NOT NULL,
    "rows" BIGINT NOT NULL,
    "read_ms" INTEGER NOT NULL,
    "problem" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "undone_at" TIMESTAMPTZ(3),
    "pushed_by" TEXT,
    "by_operator" BOOLEAN NOT NULL DEFAULT false,
    "doubts" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "formats" TEXT[] DEFAULT ARRAY[]::TEXT[],

    CONSTRAINT "backfill_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "backfill_series" (
    "batch" INTEGER NOT NULL,
    "ticker" TEXT NOT NULL,
    "first" BIGINT NOT NULL,
    "last" BIGINT NOT NULL,
    "stored" BIGINT NOT NULL,
    "already_there" BIGINT NOT NULL,
    "overwritten" BIGINT NOT NULL,

    CONSTRAINT "backfill_series_pkey" PRIMARY KEY ("batch","ticker")
);

-- CreateTable
CREATE TABLE "imported_series" (
    "batch" INTEGER NOT NULL,
    "ticker" TEXT NOT NULL,
    "timeframe" TEXT NOT NULL,
    "first" BIGINT NOT NULL,
    "last" BIGINT NOT NULL,
    "stored" BIGINT NOT NULL,
    "already_there" BIGINT NOT NULL,
    "overwritten" BIGINT NOT NULL,
    "covered" BIGINT NOT NULL,

    CONSTRAINT "imported_series_pkey" PRIMARY KEY ("batch","ticker","timeframe")
);

-- CreateTable
CREATE TABLE "portal_user" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "email_verified_at" TIMESTAMPTZ(3),
    "name" TEXT NOT NULL DEFAULT '',
    "password_hash" TEXT,
    "operator" BOOLEAN NOT NULL DEFAULT false,
    "totp_secret" BYTEA,
    "totp_since" TIMESTAMPTZ(3),
    "totp_step" INTEGER NOT NULL DEFAULT 0,
    "browsers_forgotten_at" TIMESTAMPTZ(3),
    "terms_version" TEXT,
    "terms_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "portal_user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "membership" (
    "account_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "membership_pkey" PRIMARY KEY ("account_id","user_id")
);

-- CreateTable
CREATE TABLE "invitation" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "mailed" BOOLEAN NOT NULL,
    "invited_by" UUID,
    "inviter" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "provider" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "identity_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "portal_session" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "proved_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "address" TEXT,
    "user_agent" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "portal_session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "passkey" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "credential_id" BYTEA NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL DEFAULT 0,
    "transports" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "passkey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "code_attempts" (
    "user_id" UUID NOT NULL,
    "browser" TEXT NOT NULL,
    "mark" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "code_attempts_pkey" PRIMARY KEY ("user_id","browser")
);

-- CreateTable
CREATE TABLE "recovery_code" (
    "hash" BYTEA NOT NULL,
    "user_id" UUID NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "recovery_code_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "spent_challenge" (
    "hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "spent_challenge_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "one_time_token" (
    "hash" BYTEA NOT NULL,
    "purpose" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "browser" BYTEA,
    "password_hash" TEXT,
    "invitation_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "one_time_token_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actor" TEXT NOT NULL,
    "actor_id" UUID,
    "account_id" UUID,
    "action" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB,
    "address" TEXT,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "usage_bucket" (
    "account_id" UUID NOT NULL,
    "grain" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "key_id" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "code" INTEGER NOT NULL,
    "calls" BIGINT NOT NULL,
    "units" BIGINT NOT NULL DEFAULT 0,
    "latency" BIGINT[],

    CONSTRAINT "usage_bucket_pkey" PRIMARY KEY ("account_id","grain","at","key_id","operation","code")
);

-- CreateTable
CREATE TABLE "stream_usage_bucket" (
    "account_id" UUID NOT NULL,
    "grain" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "key_id" TEXT NOT NULL,
    "connections" BIGINT NOT NULL,
    "subscriptions" BIGINT NOT NULL,
    "messages" BIGINT NOT NULL,
    "merged" BIGINT NOT NULL,

    CONSTRAINT "stream_usage_bucket_pkey" PRIMARY KEY ("account_id","grain","at","key_id")
);

-- CreateTable
CREATE TABLE "month_usage" (
    "month" DATE NOT NULL,
    "account_id" UUID NOT NULL,
    "plan" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "calls" BIGINT NOT NULL DEFAULT 0,
    "units" BIGINT NOT NULL DEFAULT 0,
    "connections" BIGINT NOT NULL DEFAULT 0,
    "messages" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "month_usage_pkey" PRIMARY KEY ("account_id","month","plan","operation")
);

-- CreateTable
CREATE TABLE "closed_month" (
    "month" DATE NOT NULL,
    "closed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "closed_month_pkey" PRIMARY KEY ("month")
);

-- CreateTable
CREATE TABLE "closed_month_usage" (
    "month" DATE NOT NULL,
    "account_id" UUID NOT NULL,
    "account" TEXT NOT NULL,
    "plan" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "calls" BIGINT NOT NULL,
    "units" BIGINT NOT NULL,
    "connections" BIGINT NOT NULL,
    "messages" BIGINT NOT NULL,

    CONSTRAINT "closed_month_usage_pkey" PRIMARY KEY ("month","account_id","plan","operation")
);

-- CreateTable
CREATE TABLE "month_warning" (
    "account_id" UUID NOT NULL,
    "month" DATE NOT NULL,
    "percent" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "month_warning_pkey" PRIMARY KEY ("account_id","month","percent")
);

-- CreateTable
CREATE TABLE "request_log" (
    "id" BIGSERIAL NOT NULL,
    "account_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "key_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "code" INTEGER NOT NULL,
    "latency_us" INTEGER NOT NULL,
    "address" TEXT NOT NULL,
    "origin" TEXT,
    "user_agent" TEXT NOT NULL,
    "detail" TEXT,

    CONSTRAINT "request_log_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "health_sample" (
    "at" TIMESTAMPTZ(3) NOT NULL,
    "venue" TEXT NOT NULL,
    "rest" BOOLEAN NOT NULL,
    "stream" BOOLEAN NOT NULL,
    "expected" INTEGER NOT NULL,
    "fresh" INTEGER NOT NULL,
    "lag_ms" BIGINT,
    "state" TEXT,
    "away" BOOLEAN,
    "stored" BOOLEAN,

    CONSTRAINT "health_sample_pkey" PRIMARY KEY ("at","venue")
);

-- CreateTable
CREATE TABLE "provider_secret" (
    "name" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_secret_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "feed_pin" (
    "venue" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "pinned_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "feed_pin_pkey" PRIMARY KEY ("venue")
);

-- CreateTable
CREATE TABLE "incident_note" (
    "id" UUID NOT NULL,
    "title" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "impact" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "part" TEXT,
    "measured_from" TIMESTAMPTZ(3),
    "measured_until" TIMESTAMPTZ(3),
    "automatic" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "incident_note_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "operator_warning" (
    "name" TEXT NOT NULL,
    "problem" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "told_at" TIMESTAMPTZ(3),

    CONSTRAINT "operator_warning_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "node_report" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL,
    "report" JSONB NOT NULL,

    CONSTRAINT "node_report_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "backup_run" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,
    "bytes" BIGINT,
    "rows" BIGINT,
    "problem" TEXT,

    CONSTRAINT "backup_run_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "paused_at" TIMESTAMPTZ(3),
    "paused_because" TEXT,

    CONSTRAINT "webhook_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "webhook_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_at" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "status" INTEGER,
    "problem" TEXT,

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "status_event" (
    "id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "status_event_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "account_name_key" ON "account"("name");

-- CreateIndex
CREATE UNIQUE INDEX "account_sign_in_domain_key" ON "account"("sign_in_domain");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_replaced_by_key" ON "api_key"("replaced_by");

-- CreateIndex
CREATE INDEX "api_key_account_id_created_at_idx" ON "api_key"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "data_link_key_id_idx" ON "data_link"("key_id");

-- CreateIndex
CREATE INDEX "calendar_override_calendar_starts_at_idx" ON "calendar_override"("calendar", "starts_at");

-- CreateIndex
CREATE UNIQUE INDEX "backfill_number_key" ON "backfill"("number");

-- CreateIndex
CREATE INDEX "backfill_started_at_idx" ON "backfill"("started_at" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "portal_user_email_key" ON "portal_user"("email");

-- CreateIndex
CREATE INDEX "portal_user_account_id_idx" ON "portal_user"("account_id");

-- CreateIndex
CREATE INDEX "membership_user_id_idx" ON "membership"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "invitation_hash_key" ON "invitation"("hash");

-- CreateIndex
CREATE INDEX "invitation_account_id_created_at_idx" ON "invitation"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "invitation_invited_by_idx" ON "invitation"("invited_by");

-- CreateIndex
CREATE INDEX "identity_user_id_idx" ON "identity"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "identity_issuer_subject_key" ON "identity"("issuer", "subject");

-- CreateIndex
CREATE INDEX "portal_session_user_id_created_at_idx" ON "portal_session"("user_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "passkey_credential_id_key" ON "passkey"("credential_id");

-- CreateIndex
CREATE INDEX "passkey_user_id_idx" ON "passkey"("user_id");

-- CreateIndex
CREATE INDEX "recovery_code_user_id_idx" ON "recovery_code"("user_id");

-- CreateIndex
CREATE INDEX "spent_challenge_expires_at_idx" ON "spent_challenge"("expires_at");

-- CreateIndex
CREATE INDEX "one_time_token_user_id_purpose_idx" ON "one_time_token"("user_id", "purpose");

-- CreateIndex
CREATE INDEX "audit_entry_account_id_at_idx" ON "audit_entry"("account_id", "at" DESC);

-- CreateIndex
CREATE INDEX "audit_entry_at_idx" ON "audit_entry"("at" DESC);

-- CreateIndex
CREATE INDEX "usage_bucket_grain_at_idx" ON "usage_bucket"("grain", "at");

-- CreateIndex
CREATE INDEX "stream_usage_bucket_grain_at_idx" ON "stream_usage_bucket"("grain", "at");

-- CreateIndex
CREATE INDEX "month_usage_month_idx" ON "month_usage"("month");

-- CreateIndex
CREATE INDEX "request_log_account_id_id_idx" ON "request_log"("account_id", "id" DESC);

-- CreateIndex
CREATE INDEX "request_log_account_id_request_id_idx" ON "request_log"("account_id", "request_id");

-- CreateIndex
CREATE INDEX "request_log_at_idx" ON "request_log"("at");

-- CreateIndex
CREATE INDEX "incident_note_starts_at_idx" ON "incident_note"("starts_at" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "incident_note_part_measured_from_key" ON "incident_note"("part", "measured_from");

-- CreateIndex
CREATE INDEX "backup_run_ended_at_idx" ON "backup_run"("ended_at" DESC);

-- CreateIndex
CREATE INDEX "webhook_account_id_created_at_idx" ON "webhook"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_created_at_idx" ON "webhook_delivery"("webhook_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "webhook_delivery_next_at_idx" ON "webhook_delivery"("next_at");

-- CreateIndex
CREATE INDEX "status_event_subject_idx" ON "status_event"("subject");

-- CreateIndex
CREATE INDEX "status_event_at_idx" ON "status_event"("at");

-- AddForeignKey
ALTER TABLE "account" ADD CONSTRAINT "account_plan_fkey" FOREIGN KEY ("plan") REFERENCES "plan"("name") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_made_by_fkey" FOREIGN KEY ("made_by") REFERENCES "portal_user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_replaced_by_fkey" FOREIGN KEY ("replaced_by") REFERENCES "api_key"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "data_link" ADD CONSTRAINT "data_link_key_id_fkey" FOREIGN KEY ("key_id") REFERENCES "api_key"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "calendar_override" ADD CONSTRAINT "calendar_override_calendar_fkey" FOREIGN KEY ("calendar") REFERENCES "calendar"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "listing" ADD CONSTRAINT "listing_calendar_fkey" FOREIGN KEY ("calendar") REFERENCES "calendar"("name") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "backfill_series" ADD CONSTRAINT "backfill_series_batch_fkey" FOREIGN KEY ("batch") REFERENCES "backfill"("number") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "imported_series" ADD CONSTRAINT "imported_series_batch_fkey" FOREIGN KEY ("batch") REFERENCES "backfill"("number") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "portal_user" ADD CONSTRAINT "portal_user_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_invited_by_fkey" FOREIGN KEY ("invited_by") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity" ADD CONSTRAINT "identity_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "portal_session" ADD CONSTRAINT "portal_session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "passkey" ADD CONSTRAINT "passkey_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "code_attempts" ADD CONSTRAINT "code_attempts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recovery_code" ADD CONSTRAINT "recovery_code_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "one_time_token" ADD CONSTRAINT "one_time_token_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "one_time_token" ADD CONSTRAINT "one_time_token_invitation_id_fkey" FOREIGN KEY ("invitation_id") REFERENCES "invitation"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook" ADD CONSTRAINT "webhook_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What schema.prisma does not know.

-- The audit log only grows: none of its entries is deleted before its time (AUDIT_RETENTION_S in lib/contract/portal.ts; a test compares
-- both). "access." entries say who signed in and who read what; all others are changes.
CREATE FUNCTION keep_audit_entry() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.at < now() - make_interval(secs => CASE WHEN OLD.action LIKE 'access.%' THEN 7776000 ELSE 63072000 END) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER audit_entry_kept BEFORE DELETE ON "audit_entry"
  FOR EACH ROW EXECUTE FUNCTION keep_audit_entry();
CREATE TRIGGER audit_entry_not_truncated BEFORE TRUNCATE ON "audit_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_entry();
-- No entry changes, with one exception: after 30 days its address is cut to its network (ADDRESS_RETENTION_S in lib/contract/portal.ts). A day
-- less here, because clocks differ.
CREATE TRIGGER audit_entry_unchanged BEFORE UPDATE ON "audit_entry"
  FOR EACH ROW WHEN (NOT COALESCE(
    to_jsonb(OLD) - 'address' = to_jsonb(NEW) - 'address'
      AND OLD.at < now() - interval '29 days'
      AND strpos(OLD.address, '/') = 0
      AND (NEW.address IS NULL OR strpos(NEW.address, '/') > 0),
    false))
  EXECUTE FUNCTION keep_audit_entry();
-- Also in a session that switches triggers off with session_replication_role.
ALTER TABLE "audit_entry" ENABLE ALWAYS TRIGGER audit_entry_kept;
ALTER TABLE "audit_entry" ENABLE ALWAYS TRIGGER audit_entry_not_truncated;
ALTER TABLE "audit_entry" ENABLE ALWAYS TRIGGER audit_entry_unchanged;

-- What was billed does not change.
CREATE FUNCTION keep_closed_month() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  RAISE EXCEPTION 'a closed month does not change' USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER closed_month_kept BEFORE UPDATE OR DELETE ON "closed_month"
  FOR EACH ROW EXECUTE FUNCTION keep_closed_month();
CREATE TRIGGER closed_month_not_truncated BEFORE TRUNCATE ON "closed_month"
  FOR EACH STATEMENT EXECUTE FUNCTION keep_closed_month();
CREATE TRIGGER closed_month_usage_kept BEFORE UPDATE OR DELETE ON "closed_month_usage"
  FOR EACH ROW EXECUTE FUNCTION keep_closed_month();
CREATE TRIGGER closed_month_usage_not_truncated BEFORE TRUNCATE ON "closed_month_usage"
  FOR EACH STATEMENT EXECUTE FUNCTION keep_closed_month();

-- The newest price state of each ticker. Rewritten in place all day long, hence the room in its pages.
CREATE TABLE "last_quote" (
    "venue" TEXT COLLATE "C" NOT NULL,
    "ticker" TEXT COLLATE "C" NOT NULL,
    "time_msc" BIGINT NOT NULL,
    "bid" DOUBLE PRECISION NOT NULL,
    "ask" DOUBLE PRECISION NOT NULL,
    "ask_high" DOUBLE PRECISION,
    "ask_low" DOUBLE PRECISION,

    CONSTRAINT "last_quote_pkey" PRIMARY KEY ("venue", "ticker")
) WITH (fillfactor = 50);

-- Who makes the events of a venue, where several nodes may. It is taken by compare and set.
CREATE TABLE "venue_lease" (
    "venue" TEXT NOT NULL,
    -- Rises with each holder; what comes with a lower one is refused.
    "token" BIGINT NOT NULL,
    -- Rises while the holder is there.
    "beat" BIGINT NOT NULL,
    -- Null when it was given back.
    "holder" TEXT,
    -- When the holders began, one after the other without a pause, Unix ms.
    "origin" BIGINT NOT NULL DEFAULT 0,
    "beaten_at" TIMESTAMPTZ NOT NULL DEFAULT '-infinity',
    -- When a node last said that it would take the lease, and would reach the others.
    "standby_at" TIMESTAMPTZ NOT NULL DEFAULT '-infinity',

    CONSTRAINT "venue_lease_pkey" PRIMARY KEY ("venue")
);

-- Who stores the ticks of a venue. It is changed with the rows that it is about, by compare and set.
CREATE TABLE "venue_writer" (
    "venue" TEXT NOT NULL,
    -- Rises with each process that begins to write; those before it change nothing any more.
    "writer" BIGINT NOT NULL DEFAULT 0,
    -- Rises with each write of this writer: one that was given up and repeated, and is done late, changes nothing.
    "write" BIGINT NOT NULL DEFAULT 0,
    -- The journal of which ticks were stored last, by the number of its writer, and how many of its ticks are stored.
    "journal" BIGINT NOT NULL DEFAULT 0,
    "ticks" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "venue_writer_pkey" PRIMARY KEY ("venue")
);

-- Minutes of which the service heard every tick, because its feed lived from their first to their last millisecond. "ticker" is
-- empty where one connection feeds all tickers. From "from_s" (Unix seconds, whole minutes), "to_s" excluded.
CREATE TABLE "watched_minutes" (
    "venue" TEXT COLLATE "C" NOT NULL,
    "ticker" TEXT COLLATE "C" NOT NULL,
    "from_s" BIGINT NOT NULL,
    "to_s" BIGINT NOT NULL,

    CONSTRAINT "watched_minutes_pkey" PRIMARY KEY ("venue", "ticker", "from_s")
);

-- Minutes of which the service knows that it did not get every tick.
CREATE TABLE "lacking_minutes" (
    "venue" TEXT NOT NULL,
    "ticker" TEXT NOT NULL,
    -- Whole minutes, Unix seconds; the end is not included.
    "from_s" BIGINT NOT NULL,
    "to_s" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,

    CONSTRAINT "lacking_minutes_pkey" PRIMARY KEY ("venue", "ticker", "from_s", "reason")
);

-- Stored history as layers of columns (lib/decisions/0047-history-is-layers-of-columns.md): only server/store/history reads and writes these.

-- Files of klines by the SHA-256 of their bytes. They do not change. Not compressed, so that a part of one is read without the rest.
CREATE TABLE "history_content" (
    "id" TEXT COLLATE "C" NOT NULL,
    "bytes" BYTEA NOT NULL,
    "written_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),

    CONSTRAINT "history_content_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "history_content" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;

-- What a layer said of one period of a series: of a month of minutes, of a year of M5 to H4, of all days, weeks or months. A
-- layer is the feed (0) or an import, with its number. "start" is Unix seconds; "known" is when it last said something, Unix milliseconds.
CREATE TABLE "history_layer" (
    "ticker" TEXT COLLATE "C" NOT NULL,
    "timeframe" TEXT COLLATE "C" NOT NULL,
    "start" BIGINT NOT NULL,
    "layer" INTEGER NOT NULL,
    "content" TEXT COLLATE "C" NOT NULL,
    "rows" INTEGER NOT NULL,
    "first" BIGINT NOT NULL,
    "last" BIGINT NOT NULL,
    "known" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "history_layer_pkey" PRIMARY KEY ("ticker", "timeframe", "start", "layer")
);
CREATE INDEX "history_layer_layer_idx" ON "history_layer" ("layer");

-- What shows of a period: the fold of its layers. "content" is null where nothing does. "sources" are the layers of its rows, as
-- pairs of a layer and a number of rows; "struck" are minutes that were taken out.
CREATE TABLE "history_visible" (
    "ticker" TEXT COLLATE "C" NOT NULL,
    "timeframe" TEXT COLLATE "C" NOT NULL,
    "start" BIGINT NOT NULL,
    "content" TEXT COLLATE "C",
    "rows" INTEGER NOT NULL,
    "first" BIGINT,
    "last" BIGINT,
    "sources" INTEGER[] NOT NULL,
    "struck" BIGINT[] NOT NULL,
    "struck_by" INTEGER[] NOT NULL,
    -- How many of its klines have ask and mid prices.
    "sides" INTEGER NOT NULL DEFAULT 0,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "history_visible_pkey" PRIMARY KEY ("ticker", "timeframe", "start")
);

-- Klines of H1 and longer that were computed from minutes, because computing them for each read takes too long. They can be deleted
-- at any time. "stamp" is the hash of what they were computed from.
CREATE TABLE "history_derived" (
    "ticker" TEXT COLLATE "C" NOT NULL,
    "timeframe" TEXT COLLATE "C" NOT NULL,
    "start" BIGINT NOT NULL,
    "stamp" TEXT COLLATE "C" NOT NULL,
    "content" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "history_derived_pkey" PRIMARY KEY ("ticker", "timeframe", "start")
);

-- For the sweep, which looks up by what names a segment.
CREATE INDEX "history_layer_content_idx" ON "history_layer" ("content");
CREATE INDEX "history_visible_content_idx" ON "history_visible" ("content");
CREATE INDEX "history_derived_content_idx" ON "history_derived" ("content");

-- The minutes that the feed made and that are in no layer yet, also the open one.
CREATE TABLE "kline_tail" (
    "ticker" TEXT COLLATE "C" NOT NULL,
    "time" BIGINT NOT NULL,
    "open" DOUBLE PRECISION NOT NULL,
    "high" DOUBLE PRECISION NOT NULL,
    "low" DOUBLE PRECISION NOT NULL,
    "close" DOUBLE PRECISION NOT NULL,
    "tick_volume" DOUBLE PRECISION NOT NULL,
    "real_volume" DOUBLE PRECISION,
    "spread" DOUBLE PRECISION,

    CONSTRAINT "kline_tail_pkey" PRIMARY KEY ("ticker", "time")
);

-- When an import was undone, and when it was put back: what showed at an instant is known by them.
CREATE TABLE "history_change" (
    "id" BIGSERIAL NOT NULL,
    "layer" INTEGER NOT NULL,
    "undone" BOOLEAN NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "history_change_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "history_change_layer_idx" ON "history_change" ("layer", "id");

-- The ticks that came since the last full hour, as they are written: those of a ticker and source that came within some seconds are one
-- row. "ticks" has five doubles a tick (little-endian): time and arrival in Unix milliseconds around bid, ask and volume, as in
-- server/store/history/tick-tail.ts. "outcomes" says of each tick whether it was taken, or why not; null where all were. "first" and "last" are the
-- times of those that were taken, "came_first" and "came_last" the arrivals of all, Unix milliseconds. "chunk" keeps a write that is repeated from storing them twice.
CREATE TABLE "tick_tail" (
    "id" BIGSERIAL NOT NULL,
    "chunk" UUID NOT NULL,
    "ticker" TEXT COLLATE "C" NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "first" BIGINT,
    "last" BIGINT,
    "ticks" BYTEA NOT NULL,
    "outcomes" TEXT,
    "came_first" BIGINT NOT NULL,
    "came_last" BIGINT NOT NULL,

    CONSTRAINT "tick_tail_pkey" PRIMARY KEY ("ticker", "id")
);
ALTER TABLE "tick_tail" ALTER COLUMN "ticks" SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX "tick_tail_chunk_key" ON "tick_tail" ("chunk");

-- The ticks of one ticker and UTC day ("day", Unix seconds) that a layer has: the feed (0), or an import with its number. "kind" is taken or
-- held. A day of very many ticks has several parts, each after the one before. "first" and "last" are Unix milliseconds.
CREATE TABLE "tick_segment" (
    "ticker" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "day" BIGINT NOT NULL,
    "layer" INTEGER NOT NULL,
    "part" INTEGER NOT NULL,
    "content" TEXT COLLATE "C" NOT NULL,
    "rows" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "first" BIGINT NOT NULL,
    "last" BIGINT NOT NULL,

    CONSTRAINT "tick_segment_pkey" PRIMARY KEY ("ticker", "kind", "day", "layer", "part")
);
CREATE INDEX "tick_segment_content_idx" ON "tick_segment" ("content");
CREATE INDEX "tick_segment_day_idx" ON "tick_segment" ("day");
CREATE INDEX "tick_segment_layer_idx" ON "tick_segment" ("layer");
