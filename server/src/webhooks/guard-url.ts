import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { AppError } from "../lib/errors.ts";

const MAX_URL_LENGTH = 2048;

/** Answers by cloud providers' own machinery at addresses that are public otherwise: Azure's wire server. */
const PUBLIC_BUT_INTERNAL = [ipaddr.parseCIDR("168.63.129.16/32")];
/** Everything that is or ever was given out as public IPv6 (RFC 4291, 2.4). */
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR("2000::/3");
/** On a network without IPv4 every IPv4 address is reached through this one (RFC 6052). */
const NAT64 = ipaddr.parseCIDR("64:ff9b::/96");

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** Where webhooks may be sent. */
export interface EndpointPolicy {
  /** Plain http besides https. */
  allowHttp: boolean;
  /** Networks that would be refused otherwise. */
  exceptions: readonly Network[];
}

/**
 * @param allowPrivateNetworks the operator's exceptions in CIDR notation: `127.0.0.1/32`, `fd00:1234::/32`
 * @throws TypeError where one of them is no network
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
 * The address of a webhook endpoint as its owner typed it. Names are judged when they are connected to:
 * what they stand for can change at any time.
 *
 * @throws AppError `webhook_url_rejected`, its message says why
 */
export function parseEndpointUrl(text: string, policy: EndpointPolicy): URL {
  const reject = (reason: string): never => {
    throw new AppError("webhook_url_rejected", reason);
  };
  if (text.length > MAX_URL_LENGTH) reject(`The URL is longer than ${MAX_URL_LENGTH} characters.`);
  // URL drops some of these silently, and then it is not what its owner sees.
  if (/[\s\p{Cc}\\]/u.test(text)) reject("The URL holds spaces, control characters or backslashes.");
  if (!URL.canParse(text)) reject("The text is not a URL.");
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && policy.allowHttp)) {
    reject(`The URL must begin with ${policy.allowHttp ? "https:// or http://" : "https://"}.`);
  }
  if (url.username !== "" || url.password !== "") reject("The URL must not hold a user name or password.");
  if (text.includes("#")) reject("The URL must not hold a fragment.");
  const literal = literalAddress(url.hostname);
  if (literal !== null && isForbiddenAddress(literal, policy)) {
    reject(`The address ${literal} is not one that webhooks may be sent to.`);
  }
  return url;
}

/**
 * Whether an IP address is out of bounds: anything but public unicast, in any notation that hides an
 * IPv4 address in an IPv6 one, unless the operator made an exception.
 *
 * @param address as a resolver or a URL gives it, without brackets; what is no IP address is forbidden
 */
export function isForbiddenAddress(address: string, policy: EndpointPolicy): boolean {
  const canonical = canonicalAddress(address);
  if (canonical === null) return true;
  const parsed = ipaddr.process(canonical);
  const excepted = isWithin(parsed, policy.exceptions);
  if (parsed instanceof ipaddr.IPv6 && isWithin(parsed, [NAT64])) {
    // An exception for the translator is none for the private addresses behind it.
    const translated = ipaddr.fromByteArray(parsed.toByteArray().slice(12)).toString();
    return !excepted || isForbiddenAddress(translated, policy);
  }
  return !excepted && !isPublic(parsed);
}

/**
 * The one spelling that all parsers agree on; null where there is none. ipaddr.js itself is lenient: it
 * takes `127.1`, and `::8.8.8.8` for `::ffff:8.8.8.8`. An address with a zone is none of the world's.
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

/** The IP address that a URL's host is, without brackets; null for a name. URL has normalised its digits. */
function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return isIP(bare) === 0 ? null : bare;
}

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** All addresses of a host name. Rejects where it has none. */
export type ResolveHost = (hostname: string) => Promise<ResolvedAddress[]>;

/** Every address of the host is out of bounds. */
export class RefusedAddressError extends Error {
  constructor(hostname: string) {
    super(`${hostname} has no address that webhooks may be sent to`);
    this.name = "RefusedAddressError";
  }
}

/** The host's name could not be turned into addresses. */
export class UnresolvedHostError extends Error {
  constructor(hostname: string, cause: unknown) {
    const code = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    super(`${hostname} could not be resolved${code}`, { cause });
    this.name = "UnresolvedHostError";
  }
}

/**
 * The `lookup` of a socket: what it gives is what is connected to, so a name that changes its answer
 * between a check and the connection gains nothing. Sockets do not call it for literal addresses; ask
 * `refuseLiteral` first.
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

/** @throws RefusedAddressError where the host is an IP address and out of bounds */
export function refuseLiteral(hostname: string, policy: EndpointPolicy): void {
  const literal = literalAddress(hostname);
  if (literal !== null && isForbiddenAddress(literal, policy)) throw new RefusedAddressError(hostname);
}
