import { type Static, Type } from "typebox";

/** The body of every error, RFC 9457, `application/problem+json`. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: "Where the error is explained" }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String({ description: "The path that was asked for" }),
    code: Type.String({ description: "The error's name, stable" }),
    requestId: Type.String(),
  },
  { $id: "Problem" },
);
export type Problem = Static<typeof Problem>;
