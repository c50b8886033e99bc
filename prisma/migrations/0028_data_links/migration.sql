-- Links: calls with fixed parameters, for programs that cannot send a key.

-- CreateTable
CREATE TABLE "data_link" (
    "id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "last_used_address" TEXT,
    CONSTRAINT "data_link_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "data_link_key_id_idx" ON "data_link"("key_id");

-- AddForeignKey
ALTER TABLE "data_link" ADD CONSTRAINT "data_link_key_id_fkey" FOREIGN KEY ("key_id") REFERENCES "api_key"("id") ON DELETE CASCADE ON UPDATE CASCADE;
