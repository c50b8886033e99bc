-- Klines of M5 to MN1 that files hold as such. A kline is either one of them or the aggregation of its minutes, which win.

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

-- AddForeignKey
ALTER TABLE "imported_series" ADD CONSTRAINT "imported_series_batch_fkey" FOREIGN KEY ("batch") REFERENCES "backfill"("number") ON DELETE CASCADE ON UPDATE CASCADE;

-- What schema.prisma does not know: only lib/market reads and writes it.

-- What files said; several imports can say something of the same kline, and the highest batch counts. The ones that count and
-- whose intervals have no minutes are in "kline" too, with their batch; a computed kline of M5 to MN1 has none.
CREATE TABLE "kline_imported" (
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
    "spread" DOUBLE PRECISION,
    "batch" INTEGER NOT NULL,

    CONSTRAINT "kline_imported_pkey" PRIMARY KEY ("venue", "ticker", "timeframe", "time", "batch")
);
