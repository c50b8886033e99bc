import { expect, test } from "vitest";
import { parseReceiver } from "./receiver";

const REACH = { allowedHosts: ["hooks.internal", "10.0.0.5:8080", "[fd00::5]:9000"], ports: [443, 8443] };

test.each([
  ["", "must be an https:// URL."],
  ["hooks.example.com", "must be an https:// URL."],
  ["ftp://hooks.example.com", "must be an https:// URL."],
  ["file:///etc/passwd", "must be an https:// URL."],
  ["http://hooks.example.com", "must begin with https://."],
  ["https://user:password@hooks.example.com", "must not contain a user name or password."],
  ["https://user@hooks.example.com", "must not contain a user name or password."],
  ["https://hooks.example.com/#part", "must not contain a fragment (#)."],
  ["https://hooks.example.com:22/", "must use one of the ports 443, 8443."],
  ["https://hooks.example.com:6379/", "must use one of the ports 443, 8443."],
  ["https://8.8.8.8:25/", "must use one of the ports 443, 8443."],
])("%j is refused: %s", (url, problem) => {
  expect(parseReceiver(url, REACH)).toBe(problem);
});

test.each([
  "https://127.0.0.1/",
  "https://127.1/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://[::1]/",
  "https://10.0.0.5/",
  "https://[::ffff:127.0.0.1]/",
  "https://[fd00::5]/",
  "https://169.254.169.254/latest/meta-data",
  "https://localhost/",
  "https://localhost./",
  "https://app.localhost/",
  "https://redis/",
  "https://redis./",
  "https://hooks.internal.:1/",
])("%s is refused, because it is inside the network", (url) => {
  expect(parseReceiver(url, REACH)).toMatch(/public address|port/);
});

test.each(["https://hooks.example.com/in?x=1", "https://hooks.example.com:8443/", "https://8.8.8.8/", "https://[2606:4700::1]/"])(
  "%s is a receiver, which has to be public",
  (url) => {
    expect(parseReceiver(url, REACH)).toMatchObject({ url: new URL(url), trusted: false });
  },
);

test.each(["http://hooks.internal/a", "http://HOOKS.internal/", "http://10.0.0.5:8080/", "https://[fd00::5]:9000/"])(
  "%s is a receiver that the operator allows, by its host and port",
  (url) => {
    expect(parseReceiver(url, REACH)).toMatchObject({ trusted: true });
  },
);

test.each(["http://hooks.internal:81/", "https://10.0.0.5:8081/", "http://10.0.0.5/", "http://sub.hooks.internal/"])(
  "%s is refused: another host or port than the operator allows",
  (url) => {
    expect(typeof parseReceiver(url, REACH)).toBe("string");
  },
);
