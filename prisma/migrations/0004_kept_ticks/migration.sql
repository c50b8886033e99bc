-- Ticks are written less often than the klines that they make. The journal of which ticks were kept last, and how many of its ticks are
-- kept. A release before this one changes "journal" and "ticks" alone: then "kept_journal" is lower, and what is stored stands for both.
ALTER TABLE "venue_writer" ADD COLUMN "kept_journal" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "venue_writer" ADD COLUMN "kept_ticks" BIGINT NOT NULL DEFAULT 0;
