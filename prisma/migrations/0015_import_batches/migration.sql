-- Every import is a batch that can be undone. A kline names the batch that wrote it, and kline_previous keeps what a batch
-- replaced, so that each row is the newest of a chain of versions.

-- AlterTable
ALTER TABLE "backfill" ADD COLUMN     "number" SERIAL NOT NULL,
ADD COLUMN     "sealed_at" TIMESTAMPTZ(3),
ADD COLUMN     "undone_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "import_job" ADD COLUMN     "batches" INTEGER[] DEFAULT ARRAY[]::INTEGER[];

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

-- CreateIndex
CREATE UNIQUE INDEX "backfill_number_key" ON "backfill"("number");

-- AddForeignKey
ALTER TABLE "backfill_series" ADD CONSTRAINT "backfill_series_batch_fkey" FOREIGN KEY ("batch") REFERENCES "backfill"("number") ON DELETE CASCADE ON UPDATE CASCADE;

-- Imports of earlier releases did not keep what they replaced.
UPDATE "backfill" SET "sealed_at" = "updated_at";

-- What schema.prisma does not know: only lib/market reads and writes these.

-- Null: from a feed, or imported by an earlier release. Higher timeframes belong to no batch, they are computed.
ALTER TABLE "kline" ADD COLUMN "batch" INTEGER;

-- The version of an M1 kline of the live venue that a batch replaced, or confirmed by the same values. "owner" is what its own
-- "batch" was. No foreign key, because millions of rows are written at once.
CREATE TABLE "kline_previous" (
    "batch" INTEGER NOT NULL,
    "ticker" TEXT COLLATE "C" NOT NULL,
    "time" BIGINT NOT NULL,
    "open" DOUBLE PRECISION NOT NULL,
    "high" DOUBLE PRECISION NOT NULL,
    "low" DOUBLE PRECISION NOT NULL,
    "close" DOUBLE PRECISION NOT NULL,
    "tick_volume" DOUBLE PRECISION NOT NULL,
    "real_volume" DOUBLE PRECISION,
    "spread" DOUBLE PRECISION,
    "owner" INTEGER,

    CONSTRAINT "kline_previous_pkey" PRIMARY KEY ("batch", "ticker", "time")
);

CREATE INDEX "kline_previous_owner_idx" ON "kline_previous" ("owner") WHERE "owner" IS NOT NULL;
