import type { LookupAddress } from "node:dns";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../../src/lib/errors.ts";
import {
  createEndpointPolicy,
  guardedLookup,
  isForbiddenAddress,
  parseEndpointUrl,
  RefusedAddressError,
  refuseLiteral,
  UnresolvedHostError,
} from "../../src/webhooks/guard-url.ts";

const strict = createEndpointPolicy({ allowHttp: false, allowPrivateNetworks: [] });
const allowing = (...allowPrivateNetworks: string[]) =>
  createEndpointPolicy({ allowHttp: true, allowPrivateNetworks });

describe("a forbidden address", () => {
  const forbidden: Record<string, string[]> = {
    "this machine": ["127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::"],
    "a private network": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fd00::1", "fc00::1"],
    "a link-local address": ["169.254.0.1", "fe80::1", "fe80::1%eth0", "febf::1"],
    "the metadata service of a cloud provider": [
      "169.254.169.254",
      "fd00:ec2::254",
      "100.100.100.200",
      "168.63.129.16",
    ],
    "a carrier-grade NAT address": ["100.64.0.1", "100.127.255.255"],
    "a multicast group or a broadcast": ["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1"],
    reserved: ["240.0.0.1", "192.0.0.8", "192.88.99.1", "2001:1::1", "4000::1", "8000::1", "::2"],
    "reserved for benchmarks": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    "reserved for documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "a deprecated site-local address": ["fec0::1", "feff::1"],
    "a discard-only address": ["100::1"],
    "IPv4 inside IPv6, mapped": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe"],
    "IPv4 inside IPv6, compatible": ["::127.0.0.1", "::7f00:1", "::8.8.8.8"],
    "IPv4 inside IPv6, translated": ["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"],
    "IPv4 inside IPv6, 6to4": ["2002:7f00:1::1", "2002:808:808::1"],
    "IPv4 inside IPv6, NAT64": ["64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "64:ff9b:1:ffff::1"],
    "IPv4 inside IPv6, Teredo": ["2001::1", "2001:0:7f00:1::"],
    "not an address": [
      "",
      "localhost",
      "127.1",
      "0x7f.1",
      "017700000001",
      "2130706433",
      "1.2.3",
      "::g",
      "[::1]",
    ],
  };
  for (const [what, addresses] of Object.entries(forbidden)) {
    it(`is ${what}: ${addresses.join(", ")}`, () => {
      for (const address of addresses)
        expect([address, isForbiddenAddress(address, strict)]).toEqual([address, true]);
    });
  }

  it("is not a public address", () => {
    for (const address of [
      "8.8.8.8",
      "1.1.1.1",
      "172.15.0.1",
      "172.32.0.1",
      "100.63.0.1",
      "100.128.0.1",
      "192.0.1.1",
      "223.255.255.255",
      "2606:4700:4700::1111",
      "2a00:1450:4001::1",
      "::ffff:8.8.8.8",
    ]) {
      expect([address, isForbiddenAddress(address, strict)]).toEqual([address, false]);
    }
  });

  it("is recognized in every spelling of an IPv4-mapped IPv6 address", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a, b, c, d] = address.split(".").map(Number) as [number, number, number, number];
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const expected = isForbiddenAddress(address, strict);
        expect(isForbiddenAddress(`::ffff:${address}`, strict)).toBe(expected);
        expect(isForbiddenAddress(`::FFFF:${hex}`, strict)).toBe(expected);
        expect(isForbiddenAddress(`0:0:0:0:0:ffff:${hex}`, strict)).toBe(expected);
      }),
    );
  });
});

describe("an operator's exception", () => {
  it("allows only the network that it names", () => {
    const policy = allowing("127.0.0.1/32", "10.1.0.0/16", "fd00:1234::/32");
    for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "10.1.200.3", "fd00:1234::5"]) {
      expect([address, isForbiddenAddress(address, policy)]).toEqual([address, false]);
    }
    for (const address of ["127.0.0.2", "10.2.0.1", "fd00:1235::5", "::1", "169.254.169.254"]) {
      expect([address, isForbiddenAddress(address, policy)]).toEqual([address, true]);
    }
  });

  it("for a NAT64 prefix allows only the public addresses behind it", () => {
    const policy = allowing("64:ff9b::/96");
    expect(isForbiddenAddress("64:ff9b::8.8.8.8", policy)).toBe(false);
    for (const hidden of ["10.0.0.1", "127.0.0.1", "169.254.169.254"]) {
      expect(isForbiddenAddress(`64:ff9b::${hidden}`, policy)).toBe(true);
    }
    expect(isForbiddenAddress("64:ff9b::10.0.0.1", allowing("64:ff9b::/96", "10.0.0.0/8"))).toBe(false);
  });

  it("is rejected if it is not a network", () => {
    for (const text of ["127.0.0.1", "localhost/8", "10.0.0.0/33", "", "*"]) {
      expect(() => allowing(text)).toThrow(TypeError);
    }
  });
});

describe("the URL of a webhook endpoint", () => {
  const rejection = (text: string, policy = strict): string => {
    try {
      parseEndpointUrl(text, policy);
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
      expect((error as AppError).code).toBe("webhook_url_rejected");
      return (error as AppError).message;
    }
    return "accepted";
  };

  it("can be https with any public host, port, path and query", () => {
    for (const text of [
      "https://example.com",
      "https://example.com:8443/hooks/1?token=a%20b",
      "https://8.8.8.8/",
      "https://[2606:4700:4700::1111]:444/",
      "https://münchen.example/",
    ]) {
      expect(parseEndpointUrl(text, strict).href).toBe(new URL(text).href);
    }
  });

  it("can be http only if the operator allows it", () => {
    expect(rejection("http://example.com/")).toMatch(/https:\/\//);
    expect(rejection("http://example.com/", allowing())).toBe("accepted");
    for (const scheme of ["ftp", "file", "javascript", "ws", "gopher"]) {
      expect(rejection(`${scheme}://example.com/`, allowing())).toMatch(/begin with/);
    }
  });

  it("must not contain credentials, fragments or spaces, or exceed 2048 characters", () => {
    expect(rejection("https://user@example.com/")).toMatch(/user name/);
    expect(rejection("https://user:pass@example.com/")).toMatch(/user name/);
    expect(rejection("https://example.com/#part")).toMatch(/fragment/);
    expect(rejection("https://example.com/#")).toMatch(/fragment/);
    for (const text of [
      " https://example.com/",
      "https://exam\nple.com/",
      "https://example.com/\t",
      "https:\\\\a",
    ]) {
      expect(rejection(text)).toMatch(/spaces/);
    }
    expect(rejection(`https://example.com/${"a".repeat(2048)}`)).toMatch(/longer/);
    for (const text of ["", "example.com", "https://", "//example.com", "https://[::1", "https://a:99999/"]) {
      expect(rejection(text)).toBe("The text is not a URL.");
    }
  });

  it("must not be a forbidden address in any notation", () => {
    for (const host of [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0x7f.0x0.0x0.0x1",
      "017700000001",
      "0177.0.0.01",
      "１２７.0.0.1",
      "127。0。0。1",
      "%31%32%37.0.0.1",
      "127.0.0.1.",
      "0",
      "[::1]",
      "[0:0:0:0:0:0:0:1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[::127.0.0.1]",
      "[64:ff9b::127.0.0.1]",
      "169.254.169.254",
      "0xa9fea9fe",
      "10.0.0.1",
    ]) {
      expect([host, rejection(`https://${host}/`)]).toEqual([
        host,
        expect.stringMatching(/^Webhooks cannot be sent to the address /),
      ]);
    }
  });

  it("can be a forbidden address for which the operator made an exception", () => {
    expect(rejection("http://127.0.0.1:9000/", allowing("127.0.0.0/8"))).toBe("accepted");
  });

  it("never accepts a literal that would be forbidden as an address", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.ipV4(),
          fc.ipV4Extended(),
          fc.ipV6().map((ip) => `[${ip}]`),
        ),
        (host) => {
          const url = `https://${host}/`;
          fc.pre(URL.canParse(url));
          const bare = new URL(url).hostname.replace(/[[\]]/g, "");
          expect(rejection(url) === "accepted").toBe(!isForbiddenAddress(bare, strict));
        },
      ),
    );
  });
});

describe("the lookup of a guarded socket", () => {
  const ask = (resolve: () => Promise<LookupAddress[]>, options: { all: boolean }, policy = strict) =>
    new Promise((done) => {
      guardedLookup(policy, resolve)("receiver.example", options, (...answer) => done(answer));
    });
  const found = (...addresses: string[]) =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

  it("returns only allowed addresses", async () => {
    const resolve = async () => found("10.0.0.1", "8.8.8.8", "::1", "2606:4700:4700::1111");
    expect(await ask(resolve, { all: true })).toEqual([null, found("8.8.8.8", "2606:4700:4700::1111")]);
    expect(await ask(resolve, { all: false })).toEqual([null, "8.8.8.8", 4]);
  });

  it("rejects a host without allowed addresses", async () => {
    for (const addresses of [found("127.0.0.1", "::1"), found("::ffff:10.0.0.1"), []]) {
      const [error] = (await ask(async () => addresses, { all: true })) as [Error];
      expect(error).toBeInstanceOf(RefusedAddressError);
    }
  });

  it("reports that a host does not resolve", async () => {
    const missing = async () => {
      throw Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    };
    const [error] = (await ask(missing, { all: true })) as [Error];
    expect(error).toBeInstanceOf(UnresolvedHostError);
    expect(error.message).toBe("receiver.example could not be resolved (ENOTFOUND)");
  });
});

describe("a literal host, for which sockets skip the lookup", () => {
  it("is rejected by the same rules", () => {
    for (const host of ["127.0.0.1", "::1", "[::1]", "::ffff:127.0.0.1"]) {
      expect(() => refuseLiteral(host, strict)).toThrow(RefusedAddressError);
    }
    for (const host of ["8.8.8.8", "2606:4700:4700::1111", "localhost", "example.com"]) {
      expect(() => refuseLiteral(host, strict)).not.toThrow();
    }
  });
});
