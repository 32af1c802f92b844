import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { nullIfAbsent } from "../lib/files.ts";
import type { ResolvedAddress, ResolveHost } from "./guard-url.ts";

/** Timeout for each query to a name server. c-ares doubles it for the second try. */
const TIMEOUT_MS = 1_500;
const TRIES = 2;

/**
 * Queries the name servers directly. `getaddrinfo` cannot be canceled and occupies one of libuv's few threads until the
 * name server responds, so a slow name server would delay the deliveries to all endpoints. nsswitch and search domains
 * do not apply, so names must be fully qualified. The hosts file is read for every query, because it can change at any
 * time.
 *
 * @param servers for tests, for example `127.0.0.1:5353`; the system's by default
 */
export function createHostResolver({
  hostsFile = "/etc/hosts",
  servers,
}: {
  hostsFile?: string;
  servers?: string[];
} = {}): ResolveHost {
  return async (hostname) => {
    const fromHosts = await addressesInHosts(hostsFile, hostname);
    if (fromHosts.length > 0) return fromHosts;
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const [v6, v4] = await Promise.allSettled([resolver.resolve6(hostname), resolver.resolve4(hostname)]);
    const found = [
      ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
      ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ];
    if (found.length === 0 && v4.status === "rejected") throw v4.reason;
    return found;
  };
}

async function addressesInHosts(path: string, hostname: string): Promise<ResolvedAddress[]> {
  const text = (await readFile(path, "utf8").catch(nullIfAbsent)) ?? "";
  const wanted = hostname.toLowerCase().replace(/\.$/, "");
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    const family = isIP(address);
    return family !== 0 && names.some((name) => name.toLowerCase() === wanted) ? [{ address, family }] : [];
  });
}
