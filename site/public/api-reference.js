Scalar.createApiReference("#app", {
  url: "/api/openapi.json",
  // Nothing may be requested from other hosts.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  proxyUrl: "",
  showDeveloperTools: "never",
  hideClientButton: true,
  persistAuth: false,
});
