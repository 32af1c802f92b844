/** Rejects unknown fields. */
export const strict = { additionalProperties: false } as const;
/** PostgreSQL cannot store U+0000. */
export const WITHOUT_NUL = "^[^\\u0000]*$";
