import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { build, defineConfig, type Plugin } from "vite";

const SERVICE = "http://127.0.0.1:8080";
const LOCALES = ["en-US", "de-DE"];
const FIRST_PAINT = "/src/ui/theme/first-paint.ts";

/**
 * Builds a separate script that runs before the first paint. A module would run later, and the Content-Security-Policy
 * forbids inline scripts.
 */
function firstPaint(): Plugin {
  let file: string | null = null;
  return {
    name: "first-paint",
    async generateBundle() {
      const result = await build({
        configFile: false,
        root: import.meta.dirname,
        logLevel: "silent",
        build: {
          write: false,
          target: "es2023",
          lib: { entry: join(import.meta.dirname, FIRST_PAINT), formats: ["iife"], name: "firstPaint" },
        },
      });
      const output = Array.isArray(result) ? result[0]?.output : undefined;
      if (!output) throw new Error("the script before the first paint was not built");
      const reference = this.emitFile({ type: "asset", name: "first-paint.js", source: output[0].code });
      file = this.getFileName(reference);
    },
    transformIndexHtml: {
      order: "post",
      handler: () => [
        file === null
          ? { tag: "script", attrs: { type: "module", src: FIRST_PAINT }, injectTo: "head-prepend" }
          : { tag: "script", attrs: { src: `/${file}` }, injectTo: "head-prepend" },
      ],
    },
  };
}

/** Removes the texts of React Aria in languages that the dashboard does not have. */
function dropUnusedLocales(): Plugin {
  return {
    name: "drop-unused-locales",
    apply: "build",
    enforce: "pre",
    load(id) {
      const locale = /\/react-(?:aria|stately)[^?]*\/intl\/[^?]*\/([a-z]{2}-[A-Z]{2})\.m?js$/.exec(id)?.[1];
      return locale === undefined || LOCALES.includes(locale) ? null : "export default {};";
    },
  };
}

/** Compresses at build time instead of on every request. */
function precompress(): Plugin {
  return {
    name: "precompress",
    apply: "build",
    writeBundle({ dir = "dist" }) {
      for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(html|js|css|svg)$/.test(entry.name)) continue;
        const file = join(entry.parentPath, entry.name);
        const bytes = readFileSync(file);
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: quality }));
      }
    },
  };
}

export default defineConfig(({ command }) => {
  // Ignore a different NODE_ENV in the environment.
  if (command === "build") process.env.NODE_ENV = "production";
  return {
    plugins: [react(), dropUnusedLocales(), firstPaint(), precompress()],
    build: {
      target: "es2023",
      // Inlined assets would be data: URLs, which the Content-Security-Policy forbids.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // This limit applies before compression. The browser tests check the compressed size of the first load.
      chunkSizeWarningLimit: 750,
      rolldownOptions: {
        output: {
          codeSplitting: {
            groups: [
              // The entry waits for the German messages, so they must not import anything from the entry.
              { name: "messages", test: /\/src\/messages\/(locale|numbers|parts)\.ts$/, priority: 1 },
              // One file for the first load compresses better than dozens that lazy pages happen to share.
              { name: "index", test: /\/src\/main\.tsx$/ },
            ],
          },
        },
        // Compression takes most of the time, which is expected.
        checks: { pluginTimings: false },
        onwarn(warning, warn) {
          // "use client" directives have no effect without server rendering.
          if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
        },
      },
    },
    server: {
      proxy: Object.fromEntries(["/internal", "/api", "/files"].map((path) => [path, SERVICE])),
    },
  };
});
