-- Stored klines as layers of columns (lib/decisions/0047-history-is-layers-of-columns.md).

-- What schema.prisma does not know: only lib/history reads and writes these.

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

-- Tickers whose klines an earlier release stored as rows, and that are not in layers yet.
CREATE TABLE "history_unconverted" (
    "ticker" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "history_unconverted_pkey" PRIMARY KEY ("ticker")
);
-- One look-up in the key for each ticker that has rows, instead of a scan of all of them.
WITH RECURSIVE found AS (
    (SELECT ticker FROM "kline" WHERE venue = 'live' ORDER BY venue, ticker LIMIT 1)
    UNION ALL
    SELECT (SELECT k.ticker FROM "kline" k WHERE k.venue = 'live' AND k.ticker > found.ticker ORDER BY k.venue, k.ticker LIMIT 1)
    FROM found WHERE found.ticker IS NOT NULL
)
INSERT INTO "history_unconverted" SELECT ticker FROM found WHERE ticker IS NOT NULL
    UNION SELECT DISTINCT ticker FROM "kline_imported" WHERE venue = 'live'
    UNION SELECT DISTINCT ticker FROM "kline_previous"
    UNION SELECT DISTINCT ticker FROM "struck_minute";
