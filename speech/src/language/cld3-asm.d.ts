/** CLD3, compiled to WebAssembly. The package's own entry point would load four more packages, one of them outdated. */
declare module "cld3-asm/dist/cjs/lib/node/cld3.js" {
  interface Cld3 {
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    _get_SizeLanguageResult(): number;
    _Cld_create(minBytes: number, maxBytes: number): number;
    _Cld_findLanguage(detector: number, text: number, result: number): void;
    allocateUTF8(text: string): number;
    getValue(pointer: number, type: "*" | "float"): number;
    UTF8ToString(pointer: number): string;
  }
  const start: (options: { onRuntimeInitialized(): void }) => Cld3;
  export = start;
}
