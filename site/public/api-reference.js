Scalar.createApiReference("#app", {
  url: "/api/openapi.json",
  // The page must not send requests to other hosts.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  proxyUrl: "",
  showDeveloperTools: "never",
  hideClientButton: true,
  persistAuth: false,
});
