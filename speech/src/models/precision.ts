/** Type of a graph's weights: 8 bits, half or single precision. */
export type Precision = "int8" | "fp16" | "fp32";
export const PRECISIONS: readonly [Precision, ...Precision[]] = ["int8", "fp16", "fp32"];
