-- Whether an account may use the live venue, by a grant of its own or by its plan. The release before asks for neither: it
-- keeps serving live keys of every account until it has stopped.
ALTER TABLE "plan" ADD COLUMN "live_access" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "account" ADD COLUMN "live_access" BOOLEAN NOT NULL DEFAULT false;

-- Accounts that an operator made at a terminal, operators' own, and those that have used live keys or push to the venue keep it.
UPDATE "account" a SET "live_access" = true
 WHERE (a."name" <> 'demo' AND NOT EXISTS (SELECT 1 FROM "portal_user" u WHERE u."account_id" = a."id"))
    OR EXISTS (SELECT 1 FROM "portal_user" u WHERE u."account_id" = a."id" AND u."operator")
    OR EXISTS (SELECT 1 FROM "api_key" k WHERE k."account_id" = a."id" AND k."venue" = 'live'
                  AND (k."last_used_at" IS NOT NULL OR 'market:ingest' = ANY (k."scopes")));

-- Browsers that signed in before this are not known any more: their attempts count like those of strangers.
ALTER TABLE "portal_user" ADD COLUMN "browsers_forgotten_at" TIMESTAMPTZ(3);
