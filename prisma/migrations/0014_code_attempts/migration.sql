-- How many codes of an authenticator app were tried and not right in a day.

-- CreateTable
CREATE TABLE "code_attempts" (
    "user_id" UUID NOT NULL,
    "browser" TEXT NOT NULL,
    "mark" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,
    CONSTRAINT "code_attempts_pkey" PRIMARY KEY ("user_id", "browser")
);

-- AddForeignKey
ALTER TABLE "code_attempts" ADD CONSTRAINT "code_attempts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
