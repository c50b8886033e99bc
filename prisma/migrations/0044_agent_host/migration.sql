-- Host of the agent that a key was made for when its account let it connect.
ALTER TABLE "api_key" ADD COLUMN "agent_host" TEXT;
