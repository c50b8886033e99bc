-- Who stores the ticks of a venue. Not of Prisma's schema: it is changed with the rows that it is about, by compare and set.

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
