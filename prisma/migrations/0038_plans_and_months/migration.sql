-- What a plan includes besides its rates. Null is no bound, so that existing plans stay as they are.
ALTER TABLE "plan"
    ADD COLUMN "month_units" INTEGER,
    ADD COLUMN "month_hard" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "history_days" INTEGER,
    ADD COLUMN "streams" BOOLEAN NOT NULL DEFAULT true,
    ADD COLUMN "permissions" JSONB NOT NULL DEFAULT '{"kind":"all"}',
    ADD COLUMN "price" TEXT,
    ADD COLUMN "public" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "revision" INTEGER NOT NULL DEFAULT 1;

-- Calls of an earlier release have no units.
ALTER TABLE "usage_bucket" ADD COLUMN "units" BIGINT NOT NULL DEFAULT 0;

-- Usage of the months that are not closed, by account, plan and operation. It is added to in the statement that adds to the buckets.
CREATE TABLE "month_usage" (
    "month" DATE NOT NULL,
    "account_id" UUID NOT NULL,
    "plan" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "calls" BIGINT NOT NULL DEFAULT 0,
    "units" BIGINT NOT NULL DEFAULT 0,
    "connections" BIGINT NOT NULL DEFAULT 0,
    "messages" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "month_usage_pkey" PRIMARY KEY ("account_id", "month", "plan", "operation")
);
CREATE INDEX "month_usage_month_idx" ON "month_usage"("month");

CREATE TABLE "closed_month" (
    "month" DATE NOT NULL,
    "closed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "closed_month_pkey" PRIMARY KEY ("month")
);

-- The rows of "month_usage" that closing a month moved here, with the name that the account had then.
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

    CONSTRAINT "closed_month_usage_pkey" PRIMARY KEY ("month", "account_id", "plan", "operation")
);

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

-- A warning that an account used a share of its month, so that it is sent once.
CREATE TABLE "month_warning" (
    "account_id" UUID NOT NULL,
    "month" DATE NOT NULL,
    "percent" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "month_warning_pkey" PRIMARY KEY ("account_id", "month", "percent")
);
