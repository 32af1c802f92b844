import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { AppError } from "../lib/errors.ts";

const MAX_URL_LENGTH = 2048;

/** Public addresses of a cloud provider's internal services: Azure's WireServer. */
const PUBLIC_BUT_INTERNAL = [ipaddr.parseCIDR("168.63.129.16/32")];
/** Global unicast IPv6 addresses (RFC 4291, 2.4). */
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR("2000::/3");
/** IPv6-only networks reach IPv4 addresses through this prefix (RFC 6052). */
const NAT64 = ipaddr.parseCIDR("64:ff9b::/96");

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

export interface EndpointPolicy {
  allowHttp: boolean;
  /** Private networks that are allowed. */
  exceptions: readonly Network[];
}

/**
 * @param allowPrivateNetworks in CIDR notation: `127.0.0.1/32`, `fd00:1234::/32`
 * @throws TypeError if a network is invalid
 */
export function createEndpointPolicy(options: {
  allowHttp: boolean;
  allowPrivateNetworks: readonly string[];
}): EndpointPolicy {
  const exceptions = options.allowPrivateNetworks.map((text): Network => {
    if (!ipaddr.isValidCIDR(text)) throw new TypeError(`not a network in CIDR notation: ${text}`);
    return ipaddr.parseCIDR(text);
  });
  return { allowHttp: options.allowHttp, exceptions };
}

/**
 * Parses the URL of a webhook endpoint. Host names are checked when a connection is opened, because their addresses can
 * change at any time.
 *
 * @throws AppError `webhook_url_rejected` with the reason as its message
 */
export function parseEndpointUrl(text: string, policy: EndpointPolicy): URL {
  const reject = (reason: string): never => {
    throw new AppError("webhook_url_rejected", reason);
  };
  if (text.length > MAX_URL_LENGTH) reject(`The URL is longer than ${MAX_URL_LENGTH} characters.`);
  // `URL` would silently drop some of these characters.
  if (/[\s\p{Cc}\\]/u.test(text)) reject("The URL contains spaces, control characters or backslashes.");
  if (!URL.canParse(text)) reject("The text is not a URL.");
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && policy.allowHttp)) {
    reject(`The URL must begin with ${policy.allowHttp ? "https:// or http://" : "https://"}.`);
  }
  if (url.username !== "" || url.password !== "") reject("The URL must not contain a user name or password.");
  if (text.includes("#")) reject("The URL must not contain a fragment.");
  const literal = literalAddress(url.hostname);
  if (literal !== null && isForbiddenAddress(literal, policy)) {
    reject(`Webhooks cannot be sent to the address ${literal}.`);
  }
  return url;
}

/**
 * Checks whether webhooks to an IP address are forbidden. Only public unicast addresses and the operator's exceptions
 * are allowed. IPv4 addresses inside IPv6 addresses are checked too.
 *
 * @param address as returned by a resolver or a URL, without brackets. Other text is forbidden
 */
export function isForbiddenAddress(address: string, policy: EndpointPolicy): boolean {
  const canonical = canonicalAddress(address);
  if (canonical === null) return true;
  const parsed = ipaddr.process(canonical);
  const isException = isWithin(parsed, policy.exceptions);
  if (parsed instanceof ipaddr.IPv6 && isWithin(parsed, [NAT64])) {
    // An exception for the NAT64 prefix does not apply to private addresses behind the prefix.
    const translated = ipaddr.fromByteArray(parsed.toByteArray().slice(12)).toString();
    return !isException || isForbiddenAddress(translated, policy);
  }
  return !isException && !isPublic(parsed);
}

/**
 * Returns the form that all parsers read in the same way, or null if there is none. ipaddr.js accepts `127.1` and reads
 * `::8.8.8.8` as `::ffff:8.8.8.8`. An address with a zone is never public.
 */
function canonicalAddress(address: string): string | null {
  if (isIP(address) === 4) return address;
  const url = `http://[${address}]`;
  return isIP(address) === 6 && URL.canParse(url) ? literalAddress(new URL(url).hostname) : null;
}

function isPublic(address: Address): boolean {
  if (address.range() !== "unicast" || isWithin(address, PUBLIC_BUT_INTERNAL)) return false;
  return address instanceof ipaddr.IPv4 || isWithin(address, [GLOBAL_UNICAST_V6]);
}

function isWithin(address: Address, networks: readonly Network[]): boolean {
  return networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/** Returns a URL's host without brackets if it is an IP address, otherwise null. `URL` has normalized it. */
function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return isIP(bare) === 0 ? null : bare;
}

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Returns all addresses of a host name. Rejects if it has none. */
export type ResolveHost = (hostname: string) => Promise<ResolvedAddress[]>;

export class RefusedAddressError extends Error {
  constructor(hostname: string) {
    super(`webhooks cannot be sent to any address of ${hostname}`);
    this.name = "RefusedAddressError";
  }
}

export class UnresolvedHostError extends Error {
  constructor(hostname: string, cause: unknown) {
    const code = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    super(`${hostname} could not be resolved${code}`, { cause });
    this.name = "UnresolvedHostError";
  }
}

/**
 * Returns a `lookup` function for sockets. The socket connects to an address that was checked, which prevents DNS
 * rebinding. Call `refuseLiteral` first, because sockets do not look up IP addresses.
 */
export function guardedLookup(policy: EndpointPolicy, resolve: ResolveHost): LookupFunction {
  return (hostname, options, callback) => {
    const answer = async (): Promise<ResolvedAddress[]> => {
      const found = await resolve(hostname).catch((error: unknown) => {
        throw new UnresolvedHostError(hostname, error);
      });
      const allowed = found.filter(({ address }) => !isForbiddenAddress(address, policy));
      if (allowed.length === 0) throw new RefusedAddressError(hostname);
      return allowed;
    };
    answer().then(
      (allowed) => {
        const [first] = allowed;
        if (options.all) callback(null, allowed);
        else callback(null, first!.address, first!.family);
      },
      (error: Error) => callback(error, ""),
    );
  };
}

/** @throws RefusedAddressError if the host is a forbidden IP address */
export function refuseLiteral(hostname: string, policy: EndpointPolicy): void {
  const literal = literalAddress(hostname);
  if (literal !== null && isForbiddenAddress(literal, policy)) throw new RefusedAddressError(hostname);
}
