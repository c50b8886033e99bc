import { createClient } from "@redis/client";
import nodemailer from "nodemailer";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { readEnv } from "#server/env";

const SOCKET = "/run/postgresql";

/** How pg reads what the service makes of an address. */
function database(DATABASE_URL: string) {
  const {
    host,
    port,
    user,
    password,
    database: name,
  } = new pg.Client({ connectionString: readEnv({ DATABASE_URL }).DATABASE_URL });
  return { host, port, user, password, name };
}

/** How the client of Redis does. */
function redis(REDIS_URL: string) {
  const { username, password, database: db, socket } = createClient({ url: withRedis(REDIS_URL).REDIS_URL as string }).options;
  return { username, password, db, socket };
}
const withRedis = (REDIS_URL: string) => readEnv({ DATABASE_URL: "postgresql://db/spotwire", REDIS_URL });

/** How nodemailer does. */
function smtp(SMTP_URL: string) {
  const { host, port, secure, auth } = nodemailer.createTransport(readEnv({ SMTP_URL }).SMTP_URL as string).options as {
    readonly host?: string;
    readonly port?: number;
    readonly secure?: boolean;
    readonly auth?: object;
  };
  return { host, port, secure, auth };
}

describe("addresses that are read as they are meant", () => {
  test.each([
    [
      "postgresql://ada:p%23%2F%3F%40%25%3A@db.internal:6432/prices?sslmode=disable",
      { host: "db.internal", port: 6432, password: "p#/?@%:" },
    ],
    ["POSTGRES://ada:p@ss:word@db.internal/prices", { host: "db.internal", password: "p@ss:word" }],
    [" postgresql://ada:100%!@db.internal/prices", { password: "100%!" }],
    ["postgresql://ada:a b%2Fc@db.internal/prices", { password: "a b/c" }],
    ["postgresql://ada:word@[::1]:5433/prices", { host: "::1", port: 5433 }],
    [`postgresql://ada:word@/prices?host=${SOCKET}`, { host: SOCKET, password: "word" }],
    [`postgresql:///prices?host=${SOCKET}&user=ada`, { host: SOCKET }],
    [`postgresql://ada:word@%2Frun%2Fpostgresql:5433/prices`, { host: SOCKET, port: 5433, password: "word" }],
    [`socket:${SOCKET}?db=prices&user=ada`, { host: SOCKET }],
    [`socket://ada:word@${SOCKET}/?db=prices`, { host: `${SOCKET}/`, password: "word" }],
  ])("DATABASE_URL=%s", (address, read) => expect(database(address)).toMatchObject({ user: "ada", name: "prices", ...read }));

  test.each([
    [
      "redis://ada:p%23%25%40@redis.internal:6380/2",
      { username: "ada", password: "p#%@", db: 2, socket: { host: "redis.internal", port: 6380 } },
    ],
    ["rediss://:100%@redis.internal", { password: "100%", socket: { host: "redis.internal", tls: true } }],
    ["REDIS://redis.internal/", { socket: { host: "redis.internal", tls: false } }],
    ["unix:///run/redis/redis.sock", { socket: { path: "/run/redis/redis.sock" } }],
    ["unix://ada:p%40ss@/run/redis.sock?db=3", { username: "ada", password: "p@ss", db: 3, socket: { path: "/run/redis.sock" } }],
  ])("REDIS_URL=%s", (address, read) => expect(redis(address)).toMatchObject(read));

  test.each([
    [
      "smtp://ada%40example.com:p%23%2F%25@mail.example.com:587",
      { port: 587, secure: false, auth: { user: "ada@example.com", pass: "p#/%" } },
    ],
    ["smtp://ada:100%@mail.example.com", { secure: false, auth: { user: "ada", pass: "100%" } }],
    ["SMTP://mail.example.com:465", { port: 465, secure: true }],
    ["smtp://mail.example.com:465?secure=false", { port: 465, secure: false }],
    ["smtps://mail.example.com", { secure: true }],
  ])("SMTP_URL=%s", (address, read) => expect(smtp(address)).toMatchObject({ host: "mail.example.com", ...read }));

  test.each([
    ["https://market.example.com", "https://market.example.com"],
    ["HTTPS://Market.Example.com:443/", "https://market.example.com"],
    [" http://market.example.com:80 ", "http://market.example.com"],
    ["http://10.0.0.5:3000/", "http://10.0.0.5:3000"],
    ["https://b\u00fccher.example", "https://xn--bcher-kva.example"],
  ])("PUBLIC_URL=%s is the origin that browsers send", (PUBLIC_URL, origin) =>
    expect(readEnv({ PUBLIC_URL }).PUBLIC_URL).toBe(origin),
  );
});

const ENCODE = /cannot be read: it must name one host.* percent-encoded, such as # as %23/;

describe("an address that would be read otherwise is refused by the name of its setting, without any part of it", () => {
  test.each<[name: string, address: string, reason: RegExp]>([
    ["DATABASE_URL", "postgresql://ada:s3#cret@db.secret/prices", ENCODE],
    ["DATABASE_URL", "postgresql://ada:s3/cret@db.secret/prices", ENCODE],
    ["DATABASE_URL", "postgresql://ada:s3?cret@db.secret/prices", ENCODE],
    // Each of these has parts: another host, or another database.
    ["DATABASE_URL", "postgresql://ada:12/secret@db/prices", ENCODE],
    ["DATABASE_URL", "postgresql://ada:12?secret@db/prices", ENCODE],
    ["DATABASE_URL", "postgresql://ada:12#secret@db/prices", ENCODE],
    ["DATABASE_URL", "postgresql://ada:p@s/secret@db/prices", ENCODE],
    ["DATABASE_URL", "postgresql://ada:secret%ff@db/prices", ENCODE],
    ["DATABASE_URL", "postgresql://ada:secret@[db/prices", ENCODE],
    ["DATABASE_URL", "postgresql://secret-a:1,secret-b:2/prices", ENCODE],
    ["DATABASE_URL", "postgresql://secret-a,secret-b/prices", ENCODE],
    [
      "DATABASE_URL",
      "host=/run/secret dbname=prices",
      /must be a postgresql:\/\/ URL; for a socket postgresql:\/\/\/name\?host=/,
    ],
    ["DATABASE_URL", "/run/secret prices", /must be a postgresql:\/\/ URL/],
    ["DATABASE_URL", "jdbc:postgresql://secret/prices", /must be a postgresql:\/\/ URL/],
    ["DATABASE_URL", "mysql://ada:secret@db/prices", /must be a postgresql:\/\/ URL/],
    ["DATABASE_URL", "socket://secret/run?db=prices", /must have the path of a directory/],
    ["REDIS_URL", "redis://:secret#@redis", ENCODE],
    ["REDIS_URL", "redis://:secret/@redis", ENCODE],
    ["REDIS_URL", "redis://:secret%ff@redis/1", ENCODE],
    ["REDIS_URL", "redis://:secret@/1", ENCODE],
    ["REDIS_URL", "redis:///run/secret.sock", /must name a database by its number in the path.* a socket is unix:\/\/\/path/],
    ["REDIS_URL", "redis://secret:6379?db=2", /must name a database by its number in the path/],
    ["REDIS_URL", "redis+unix:///run/secret.sock", /must be a redis:\/\/ or rediss:\/\/ URL, or unix:\/\/\/path/],
    ["REDIS_URL", "/run/secret.sock", /must be a redis:\/\/ or rediss:\/\/ URL, or unix:\/\/\/path/],
    ["REDIS_URL", "unix:/run/secret.sock", /must be unix:\/\/user:password@\/path/],
    ["REDIS_URL", "unix:///run/secret.sock?db=two", /must be unix:\/\/user:password@\/path/],
    ["REDIS_URL", "unix://ada:se@cret@/run/secret.sock", /must be unix:\/\/user:password@\/path/],
    ["SMTP_URL", "smtp://ada:secret#1@mail", ENCODE],
    ["SMTP_URL", "smtp://ada:1/secret@mail", ENCODE],
    ["SMTP_URL", "smtp://ada:secret%ff@mail", ENCODE],
    ["SMTP_URL", "smtp://ada:secret@/run/mail", /must name a host/],
    ["SMTP_URL", "mail.secret:25", /must be an smtp:\/\/ or smtps:\/\/ URL/],
    ["PUBLIC_URL", "https://market.secret/spotwire", /must be a host, .* the service works under no path/],
    ["PUBLIC_URL", "https://market.secret/?a=b", /must be a host/],
    ["PUBLIC_URL", "https://market.secret/?", /must be a host/],
    ["PUBLIC_URL", "https://market.secret/#top", /must be a host/],
    ["PUBLIC_URL", "https://ada:secret@market.example.com", /must be a host/],
    ["PUBLIC_URL", "market.secret", /must be an http:\/\/ or https:\/\/ URL/],
    ["PUBLIC_URL", "https://market.secret:99999", /must be an http:\/\/ or https:\/\/ URL/],
  ])("%s=%s", (name, address, reason) => {
    let thrown: unknown;
    try {
      // With another address that is wrong, which must not keep the first from being named.
      readEnv({ DATABASE_URL: "postgresql://other:s3#@db", REDIS_URL: "redis://other:s3#@r", [name]: address });
    } catch (error) {
      thrown = error;
    }
    const { name: kind, message, stack } = thrown as Error;
    expect(kind).toBe("EnvError");
    expect(message.split("\n").find((line) => line.startsWith(`  \`${name}\` `))).toMatch(reason);
    expect(`${message} ${stack} ${JSON.stringify(thrown)}`).not.toMatch(/secret|s3#/);
    expect(thrown).not.toHaveProperty("input");
  });
});
