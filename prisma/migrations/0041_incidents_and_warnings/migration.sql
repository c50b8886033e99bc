-- Incidents that the service noticed itself, beside what operators say. Null for theirs.
ALTER TABLE "incident_note"
  ADD COLUMN "part" TEXT,
  ADD COLUMN "measured_from" TIMESTAMPTZ(3),
  ADD COLUMN "measured_until" TIMESTAMPTZ(3),
  ADD COLUMN "automatic" BOOLEAN NOT NULL DEFAULT false;

-- Each is noticed once, by whichever node sees it first.
-- previous release: writes notes without a part, which the index does not compare.
CREATE UNIQUE INDEX "incident_note_part_measured_from_key" ON "incident_note"("part", "measured_from");

-- What is wrong now, by the name of its check, so that operators are told once, and since when.
CREATE TABLE "operator_warning" (
    "name" TEXT NOT NULL,
    "problem" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "told_at" TIMESTAMPTZ(3),

    CONSTRAINT "operator_warning_pkey" PRIMARY KEY ("name")
);
