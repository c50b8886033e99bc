-- Who makes the events of a venue, where several nodes may. Not of Prisma's schema: it is taken by compare and set.

CREATE TABLE "venue_lease" (
    "venue" TEXT NOT NULL,
    -- Rises with each holder; what comes with a lower one is refused.
    "token" BIGINT NOT NULL,
    -- Rises while the holder is there.
    "beat" BIGINT NOT NULL,
    -- Null when it was given back.
    "holder" TEXT,
    -- When the holders began, one after the other without a pause, Unix ms.
    "origin" BIGINT NOT NULL DEFAULT 0,
    "beaten_at" TIMESTAMPTZ NOT NULL DEFAULT '-infinity',
    -- When a node last said that it would take the lease, and would reach the others.
    "standby_at" TIMESTAMPTZ NOT NULL DEFAULT '-infinity',

    CONSTRAINT "venue_lease_pkey" PRIMARY KEY ("venue")
);
