import ipaddr from "ipaddr.js";

/** The address that rate limits count a client by: an IPv6 customer has 2⁶⁴ addresses, so they all count as one. */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
