-- The relational part, as Prisma's engine writes it from schema.prisma.

-- CreateTable
CREATE TABLE "plan" (
    "name" TEXT NOT NULL,
    "rest_per_minute" INTEGER NOT NULL,
    "rest_burst" INTEGER NOT NULL,
    "stream_connections" INTEGER NOT NULL,
    "subscriptions_per_connection" INTEGER NOT NULL,

    CONSTRAINT "plan_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "account" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "plan" TEXT NOT NULL DEFAULT 'free',
    "permissions" JSONB NOT NULL DEFAULT '{"kind":"all"}',
    "suspended_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "venue" TEXT NOT NULL,
    "scopes" TEXT[],
    "origins" TEXT[],
    "hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "grace_until" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "last_used_address" TEXT,
    "replaced_by" UUID,

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
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
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "import_job_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "account_name_key" ON "account"("name");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_replaced_by_key" ON "api_key"("replaced_by");

-- CreateIndex
CREATE INDEX "api_key_account_id_created_at_idx" ON "api_key"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "calendar_override_calendar_starts_at_idx" ON "calendar_override"("calendar", "starts_at");

-- AddForeignKey
ALTER TABLE "account" ADD CONSTRAINT "account_plan_fkey" FOREIGN KEY ("plan") REFERENCES "plan"("name") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_replaced_by_fkey" FOREIGN KEY ("replaced_by") REFERENCES "api_key"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "calendar_override" ADD CONSTRAINT "calendar_override_calendar_fkey" FOREIGN KEY ("calendar") REFERENCES "calendar"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "listing" ADD CONSTRAINT "listing_calendar_fkey" FOREIGN KEY ("calendar") REFERENCES "calendar"("name") ON DELETE SET NULL ON UPDATE CASCADE;

-- What schema.prisma does not know: only lib/market/kline-store.ts reads and writes these.

-- Partitioned by year of the open time (Unix seconds), so that old years stay untouched by what is written now. One
-- series is one stretch of the primary key: a range of it is one index range scan in each year it touches.
CREATE TABLE "kline" (
    "venue" TEXT COLLATE "C" NOT NULL,
    "ticker" TEXT COLLATE "C" NOT NULL,
    "timeframe" TEXT COLLATE "C" NOT NULL,
    "time" BIGINT NOT NULL,
    "open" DOUBLE PRECISION NOT NULL,
    "high" DOUBLE PRECISION NOT NULL,
    "low" DOUBLE PRECISION NOT NULL,
    "close" DOUBLE PRECISION NOT NULL,
    "tick_volume" DOUBLE PRECISION NOT NULL,
    "real_volume" DOUBLE PRECISION,
    "spread" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "kline_pkey" PRIMARY KEY ("venue", "ticker", "timeframe", "time")
) PARTITION BY RANGE ("time");

-- Further years are made when the first row of theirs arrives.
CREATE TABLE "kline_y2026" PARTITION OF "kline" FOR VALUES FROM (1767225600) TO (1798761600);
CREATE TABLE "kline_y2027" PARTITION OF "kline" FOR VALUES FROM (1798761600) TO (1830297600);
CREATE TABLE "kline_y2028" PARTITION OF "kline" FOR VALUES FROM (1830297600) TO (1861920000);

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

-- Reads of one series: the oldest, or the newest, rows with from <= time < to. They are functions for the sake of their
-- settings. On fresh statistics the planner walks the key in order and stops at the limit; between an import and the
-- next ANALYZE it believes a series to be one row, and would fetch and sort all of it.
CREATE FUNCTION "kline_oldest"(TEXT, TEXT, TEXT, "from" BIGINT, "to" BIGINT, "count" INTEGER)
RETURNS TABLE (
    "time" BIGINT, "open" DOUBLE PRECISION, "high" DOUBLE PRECISION, "low" DOUBLE PRECISION, "close" DOUBLE PRECISION,
    "tick_volume" DOUBLE PRECISION, "real_volume" DOUBLE PRECISION, "spread" DOUBLE PRECISION
)
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_custom_plan
AS $$
    SELECT k."time", k."open", k."high", k."low", k."close", k."tick_volume", k."real_volume", k."spread"
    FROM "kline" k
    WHERE k."venue" = $1 AND k."ticker" = $2 AND k."timeframe" = $3 AND k."time" >= $4 AND k."time" < $5
    ORDER BY k."time" LIMIT $6
$$;

CREATE FUNCTION "kline_newest"(TEXT, TEXT, TEXT, "from" BIGINT, "to" BIGINT, "count" INTEGER)
RETURNS TABLE (
    "time" BIGINT, "open" DOUBLE PRECISION, "high" DOUBLE PRECISION, "low" DOUBLE PRECISION, "close" DOUBLE PRECISION,
    "tick_volume" DOUBLE PRECISION, "real_volume" DOUBLE PRECISION, "spread" DOUBLE PRECISION
)
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_custom_plan
AS $$
    SELECT k."time", k."open", k."high", k."low", k."close", k."tick_volume", k."real_volume", k."spread"
    FROM "kline" k
    WHERE k."venue" = $1 AND k."ticker" = $2 AND k."timeframe" = $3 AND k."time" >= $4 AND k."time" < $5
    ORDER BY k."time" DESC LIMIT $6
$$;
