-- How many of the klines that show have ask and mid prices.
ALTER TABLE "history_visible" ADD COLUMN "sides" INTEGER NOT NULL DEFAULT 0;

-- Every tick of the live venue. Not of Prisma's schema: only lib/history reads and writes these.

-- The ticks that came since the last full hour, as they are written: those of a ticker and source that came within some seconds are one
-- row. "ticks" has five doubles a tick (little-endian): time and arrival in Unix milliseconds around bid, ask and volume, as in
-- lib/history/tick-tail.ts. "outcomes" says of each tick whether it was taken, or why not; null where all were. "first" and "last" are the
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
