import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import type { ResolvedAddress, ResolveHost } from "./guard-url.ts";

/** Of one question to one name server; doubled by c-ares at its second try. */
const TIMEOUT_MS = 1_500;
const TRIES = 2;

/**
 * Asks the name servers itself. The system's own function (`getaddrinfo`) blocks one of libuv's few threads for
 * as long as a name server lets it wait, which is up to whoever owns the name: names of one owner would hold up
 * those of all others, and can not be given up. What is lost is nsswitch and search domains, so a name must be
 * whole; the hosts file is read here, at every question, for it is small and may be changed at any time.
 *
 * @param servers for tests: `127.0.0.1:5353`; the machine's own unless given
 */
export function createHostResolver({
  hostsFile = "/etc/hosts",
  servers,
}: {
  hostsFile?: string;
  servers?: string[];
} = {}): ResolveHost {
  return async (hostname) => {
    const written = await addressesInHosts(hostsFile, hostname);
    if (written.length > 0) return written;
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
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const wanted = hostname.toLowerCase().replace(/\.$/, "");
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    const family = isIP(address);
    return family !== 0 && names.some((name) => name.toLowerCase() === wanted) ? [{ address, family }] : [];
  });
}
