import ipaddr from "ipaddr.js";

/** Returns the key for rate limits by address. All 2⁶⁴ addresses of an IPv6 /64 network share one key. */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
