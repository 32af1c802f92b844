import type { DBAdapter, Where } from "better-auth";
import { hashToken } from "../lib/secret-token.ts";

interface Query {
  model: string;
  where?: Where[] | undefined;
}

/**
 * Wraps better-auth's database adapter so that the database stores only hashes of session tokens. A row that is found
 * by a token contains the token again, as better-auth expects; other rows contain the hash.
 */
export function hashSessionTokens(adapter: DBAdapter): DBAdapter {
  const hashing: DBAdapter = {
    ...adapter,
    async create<T extends Record<string, unknown>, R = T>(query: { model: string; data: Omit<T, "id"> }) {
      const { token } = query.data as { token?: unknown };
      if (query.model !== "session" || typeof token !== "string") return await adapter.create<T, R>(query);
      const data = { ...query.data, token: hashToken(token) };
      return { ...(await adapter.create<T, R>({ ...query, data })), token };
    },
    findOne: async (query) => withToken(await adapter.findOne(byHash(query)), query),
    findMany: (query) => adapter.findMany(byHash(query)),
    update: async (query) => withToken(await adapter.update(byHash(query)), query),
    delete: (query) => adapter.delete(byHash(query)),
    // The adapter has no transactions, and its own method would pass the unwrapped adapter to the callback.
    transaction: (work) => work(hashing),
  };
  return hashing;
}

function byHash<Q extends Query>(query: Q): Q {
  const where = query.where?.map((condition) =>
    isToken(query, condition) ? { ...condition, value: hashToken(condition.value) } : condition,
  );
  return where ? { ...query, where } : query;
}

function withToken<T>(row: T | null, query: Query): T | null {
  const token = query.where?.find((condition) => isToken(query, condition))?.value;
  return row !== null && token !== undefined ? { ...row, token } : row;
}

function isToken({ model }: Query, condition: Where): condition is Where & { value: string } {
  return model === "session" && condition.field === "token" && typeof condition.value === "string";
}
