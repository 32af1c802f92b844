import { type Static, Type } from "typebox";

/** The body of every error, RFC 9457, `application/problem+json`. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: "URL of a page that explains the error" }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String({ description: "Path of the request" }),
    code: Type.String({ description: "Stable error code" }),
    requestId: Type.String(),
  },
  { $id: "Problem" },
);
export type Problem = Static<typeof Problem>;
