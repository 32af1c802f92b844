import { type TSchema, Type } from "typebox";

export const DEFAULT_PAGE_SIZE = 25;
export const MAX_PAGE_SIZE = 100;

export const PAGE_QUERY = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      description: `Items per page; ${DEFAULT_PAGE_SIZE} by default`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "`nextCursor` of the previous page; opaque" }),
  ),
};

/** One page of a list, newest first. */
export function pageOf<Item extends TSchema>(id: string, item: Item) {
  return Type.Object(
    {
      data: Type.Array(item),
      nextCursor: Type.Union([Type.String(), Type.Null()], {
        description: "The `cursor` of the next page; null on the last page",
      }),
    },
    { $id: id, additionalProperties: false },
  );
}
