-- Where the files of history lie: one row, "database" or the URL of a directory or bucket. That has an object with "mark" in it, by
-- which it is known again under another path, and told from an empty directory under the same one.
CREATE TABLE "history_place" (
    "one" BOOLEAN NOT NULL DEFAULT true,
    "place" TEXT COLLATE "C" NOT NULL,
    "mark" TEXT COLLATE "C",

    CONSTRAINT "history_place_pkey" PRIMARY KEY ("one"),
    CONSTRAINT "history_place_one" CHECK ("one")
);
