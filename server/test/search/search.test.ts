import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { SearchPageView } from "../../src/admin/contract/search.ts";
import { sweep } from "../../src/cleanup/sweep.ts";
import type { Db } from "../../src/db/schema.ts";
import { databaseUnavailable } from "../../src/lib/lost-connection.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { reindexTranscript } from "../../src/search/document-queries.ts";
import { fileKey, filePrefix } from "../../src/storage/transcript-files.ts";
import { deleteVideoRows } from "../../src/videos/queries.ts";
import { codeOf, sendAsCommandLine } from "../admin/operator-requests.ts";
import {
  indexSeeded,
  seedSearchable,
  seedTranscript,
  type TranscriptSeed,
} from "../support/seed-transcript.ts";
import { createTenant, shareService } from "../support/service.ts";

const subtext = shareService({ start: false });

async function environment(...seeds: Omit<TranscriptSeed, "environmentId">[]): Promise<string> {
  const { environmentId } = await createTenant(subtext);
  for (const seed of seeds) await seedSearchable(subtext.service, { environmentId, ...seed });
  return environmentId;
}

async function ask(environmentId: string, q: string, more: Record<string, string> = {}) {
  const query = new URLSearchParams({ q, ...more });
  return await sendAsCommandLine(subtext, `/environments/${environmentId}/search?${query}`);
}

async function search(
  environmentId: string,
  q: string,
  more: Record<string, string> = {},
): Promise<SearchPageView> {
  const response = await ask(environmentId, q, more);
  expect(response.body).toContain("nextCursor");
  return response.json<SearchPageView>();
}

/** The passages, with matches in brackets. */
function shown({ data }: SearchPageView): string[] {
  return data.flatMap(({ passages }) =>
    passages.map(({ text, marks }) =>
      marks.reduceRight(
        (marked, [start, end]) =>
          `${marked.slice(0, start)}[${marked.slice(start, end)}]${marked.slice(end)}`,
        text,
      ),
    ),
  );
}

async function found(environmentId: string, q: string, more: Record<string, string> = {}): Promise<string[]> {
  return shown(await search(environmentId, q, more));
}

describe("a search result", () => {
  test("is the sentence, with its video, its time and the matches marked", async () => {
    const id = await environment({
      language: "en",
      filename: "board.mp4",
      text: "Good morning. We approved the budgets for next year. Thank you.",
    });
    const page = await search(id, "budget");
    expect(page).toMatchObject({
      nextCursor: null,
      videoCount: 1,
      matchCount: 1,
      isTruncated: false,
      hint: null,
      languages: ["en"],
    });
    expect(page.data).toMatchObject([
      {
        filename: "board.mp4",
        language: "en",
        matchCount: 1,
        passages: [{ startSeconds: 1, endSeconds: 4.5, text: "We approved the budgets for next year." }],
      },
    ]);
    expect(shown(page)).toEqual(["We approved the [budgets] for next year."]);
  });

  test("has all the words in any form, and no excluded ones", async () => {
    const id = await environment({
      language: "en",
      text: "The dogs were running home. A dog sleeps. Cats run. Running dogs bark loudly.",
    });
    expect(await found(id, "dog run")).toEqual([
      "The [dogs] were [running] home.",
      "[Running] [dogs] bark loudly.",
    ]);
    expect(await found(id, "dog run -bark")).toEqual(["The [dogs] were [running] home."]);
    expect(await found(id, "sleep OR cat")).toEqual(["A dog [sleeps].", "[Cats] run."]);
    expect(await found(id, "The dogs")).toHaveLength(3);
  });

  test("has the words of a quoted phrase in order, including stop words", async () => {
    const id = await environment({
      language: "en",
      text: "The end of the year is near. The year of the end is over. End year. The end in that year. To be or not to be.",
    });
    expect(await found(id, '"end of the year"')).toEqual(["The [end] [of] [the] [year] is near."]);
    expect(await found(id, '"end year"')).toEqual(["[End] [year]."]);
    expect(await found(id, '-"end year" "the year"')).toHaveLength(2);
    expect(await found(id, '"not to be"')).toEqual(["To be or [not] [to] [be]."]);
    expect(await found(id, '"to be not"')).toEqual([]);
    expect(await found(id, 'near -"of the year"')).toEqual([]);
  });

  test("is found while the last word is being typed, but not by prefixes of other words", async () => {
    const id = await environment({ language: "en", text: "Quarterly earnings grew. Nothing else did." });
    expect(await found(id, "earnings quart")).toEqual(["[Quarterly] [earnings] grew."]);
    expect(await found(id, "quart earnings")).toEqual([]);
    expect(await found(id, '"quart"')).toEqual([]);
  });

  test("ignores accents and matches the word forms of its language", async () => {
    const id = await environment(
      { language: "fr", text: "Les écoles étaient fermées à Noël." },
      { language: "de", text: "Die Häuser sind größer als die Straße." },
      { language: "es", text: "Mañana hablaremos de la canción." },
      { language: "ru", text: "Новые ёлки стояли в городах." },
      { language: "pl", text: "Łódź jest piękna." },
    );
    expect(await found(id, "ecole")).toEqual(["Les [écoles] étaient fermées à Noël."]);
    expect(await found(id, "école fermee")).toEqual(["Les [écoles] étaient [fermées] à Noël."]);
    expect(await found(id, "NOEL")).toEqual(["Les écoles étaient fermées à [Noël]."]);
    expect(await found(id, "Haus")).toEqual(["Die [Häuser] sind größer als die Straße."]);
    expect(await found(id, "hauser strasse")).toEqual(["Die [Häuser] sind größer als die [Straße]."]);
    expect(await found(id, "die Häuser")).toEqual(["Die [Häuser] sind größer als die Straße."]);
    expect(await found(id, "canciones manana")).toEqual(["[Mañana] hablaremos de la [canción]."]);
    expect(await found(id, "город елка")).toEqual(["Новые [ёлки] стояли в [городах]."]);
    expect(await found(id, "lodz")).toEqual(["[Łódź] jest piękna."]);
  });

  test("is found by any part of a word in scripts without spaces", async () => {
    const id = await environment(
      { language: "ja", text: "昨日東京都に行きました。 京都は東です。" },
      { language: "zh", text: "我们明天开会讨论预算。" },
      { language: "th", text: "สวัสดีครับวันนี้อากาศดี" },
      { language: "ko", text: "학교에서 친구를 만났어요." },
    );
    expect(await found(id, "東京")).toEqual(["昨日[東京]都に行きました。"]);
    expect(await found(id, "東京都")).toEqual(["昨日[東京都]に行きました。"]);
    expect(await found(id, "京")).toEqual(["昨日東[京]都に行きました。", "[京]都は東です。"]);
    expect(await found(id, "预算")).toEqual(["我们明天开会讨论[预算]。"]);
    expect(await found(id, "开会 明天")).toEqual(["我们[明天开会]讨论预算。"]);
    expect(await found(id, "อากาศ")).toEqual(["สวัสดีครับวันนี้[อากาศ]ดี"]);
    expect(await found(id, "학교")).toEqual(["[학교]에서 친구를 만났어요."]);
    expect(await found(id, "東都")).toEqual([]);
  });

  test("is ranked: adjacent words, whole words and many matches come first", async () => {
    const id = await environment(
      { language: "en", filename: "far", text: "Budget talks about the whole of the annual report." },
      { language: "en", filename: "near", text: "The annual budget talks." },
      { language: "en", filename: "twice", text: "A report. Another report." },
      { language: "en", filename: "begun", text: "The reportage came." },
    );
    const names = async (q: string) => (await search(id, q)).data.map(({ filename }) => filename);
    expect(await names("annual budget")).toEqual(["near", "far"]);
    expect(await names("report")).toEqual(["twice", "far", "begun"]);
  });

  test("can be filtered by language", async () => {
    const id = await environment(
      { language: "en", text: "The radio plays." },
      { language: "es", text: "La radio suena." },
    );
    expect(await found(id, "radio")).toHaveLength(2);
    expect(await found(id, "radio", { language: "es" })).toEqual(["La [radio] suena."]);
    expect(await found(id, "radio", { language: "fr" })).toEqual([]);
  });

  test("is from this environment only", async () => {
    const own = await environment({ language: "en", text: "Our secret recipe." });
    const other = await environment({ language: "en", text: "Their secret launch." });
    expect(await found(own, "secret")).toEqual(["Our [secret] recipe."]);
    expect(await found(other, "secret OR recipe")).toEqual(["Their [secret] launch."]);
    expect(await found(await environment(), "secret")).toEqual([]);
    expect(codeOf(await ask("env_none", "secret"))).toEqual([404, "environment_not_found"]);
  });
});

describe("pages", () => {
  test("have every video exactly once", async () => {
    const texts = Array.from({ length: 7 }, (_, n) => `Needle ${"needle ".repeat(n % 3)}number ${n}.`);
    const id = await environment(...texts.map((text) => ({ language: "en", text })));
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: SearchPageView = await search(id, "needle", { limit: "2", ...(cursor && { cursor }) });
      expect(page.videoCount).toBe(7);
      seen.push(...page.data.map(({ videoId }) => videoId));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(7);
  });

  test("require a cursor of this service", async () => {
    const id = await environment();
    for (const cursor of ["x", "W10", Buffer.from('["a",1,2]').toString("base64url")]) {
      expect(codeOf(await ask(id, "word", { cursor }))).toEqual([400, "invalid_request"]);
    }
  });
});

describe("a search that cannot match", () => {
  test("gets the reason", async () => {
    const id = await environment({ language: "en", text: "To be or not to be." });
    const hints: [string, SearchPageView["hint"]][] = [
      ["", "no_words"],
      ["  ", "no_words"],
      ['"', "no_words"],
      ["& | ! ( ) :* <-> \\ '", "no_words"],
      ["OR OR OR", "no_words"],
      ["🦕🦖", "no_words"],
      ["\0", "no_words"],
      ["\ud800", "no_words"],
      ["-be", "only_excluded"],
      ['-"not to be"', "only_excluded"],
      ["the of and", "only_common_words"],
      ["word", null],
    ];
    for (const [q, hint] of hints) {
      const page = await search(id, q);
      expect(page, JSON.stringify(q)).toMatchObject({ data: [], hint });
    }
  });

  test("is rejected if it is too long", async () => {
    const id = await environment();
    expect(codeOf(await ask(id, "a".repeat(301)))).toEqual([400, "invalid_request"]);
    expect(codeOf(await ask(id, "a ".repeat(25)))).toEqual([400, "invalid_request"]);
    expect((await ask(id, "a".repeat(300))).statusCode).toBe(200);
    expect((await ask(id, "東".repeat(300))).statusCode).toBe(200);
  });
});

describe("a transcript", () => {
  test("is removed from the search with its video", async () => {
    const { environmentId } = await createTenant(subtext);
    const { videoId } = await seedSearchable(subtext.service, {
      environmentId,
      language: "en",
      text: "Forget me.",
    });
    expect(await found(environmentId, "forget")).toHaveLength(1);
    const db = subtext.service.parts.database.kysely;
    await db.transaction().execute((tx) => deleteVideoRows(tx, environmentId, videoId));
    expect(await found(environmentId, "forget")).toEqual([]);
    const { rows } = await sql`
      select from search_passage where document not in (select number from search_document)
    `.execute(db);
    expect(rows).toEqual([]);
  });

  test("is indexed completely and once by the attempt after an interrupted one", async () => {
    const { environmentId } = await createTenant(subtext);
    const text = Array.from({ length: 600 }, (_, n) => `Sentence ${n}.`).join(" ");
    const seeded = await seedTranscript(subtext.service, { environmentId, language: "en", text });
    const shutdown = new AbortController();
    const db = atTransaction(2, () => shutdown.abort());
    const cut = indexSeeded(subtext.service, seeded, { db, shutdown: shutdown.signal });
    await expect(cut).rejects.toThrow("aborted");
    const count = async () => (await search(environmentId, "sentence")).matchCount;
    expect(await count()).toBe(250);
    await indexSeeded(subtext.service, seeded);
    expect(await count()).toBe(600);
    await indexSeeded(subtext.service, seeded);
    expect(await count()).toBe(600);
  });

  test("gets a new job if its job is lost", async () => {
    const { environmentId } = await createTenant(subtext);
    const { service } = subtext;
    const db = service.parts.database.kysely;
    const { transcriptionId, jobId } = await seedTranscript(service, {
      environmentId,
      language: "en",
      text: "Lost and found.",
    });
    await sweepOnce();
    const document = await db
      .selectFrom("search_document")
      .select("job_id")
      .where("transcription_id", "=", transcriptionId)
      .executeTakeFirstOrThrow();
    expect(document.job_id).not.toBe(jobId);
    await indexSeeded(service, { transcriptionId, jobId });
    expect(await found(environmentId, "found")).toEqual([]);
    await indexSeeded(service, { transcriptionId, jobId: document.job_id });
    expect(await found(environmentId, "found")).toEqual(["Lost and [found]."]);
  });

  test.each(['[{"word":"cut of', "{}", '[{"word":7,"start":0,"end":1}]'])(
    "whose words are damaged (%s) is indexed without them, which is logged",
    async (damaged) => {
      const { environmentId } = await createTenant(subtext);
      const seeded = await seedTranscript(subtext.service, {
        environmentId,
        language: "en",
        text: "Once whole.",
      });
      const key = fileKey(filePrefix(seeded.transcriptionId, 1), "json");
      await subtext.service.parts.transcripts.put(key, Buffer.from(damaged));
      await indexSeeded(subtext.service, seeded);
      expect(await found(environmentId, "whole")).toEqual([]);
      expect(await isIndexed(seeded.transcriptionId)).toBe(true);
      const logged = linesOf(seeded.transcriptionId);
      expect(logged).toContain("the words of a transcript are damaged; it will not be searchable");
    },
  );

  test("that cannot be indexed fails after twenty attempts, which is logged", async () => {
    const { environmentId } = await createTenant(subtext);
    const seeded = await seedTranscript(subtext.service, { environmentId, language: "en", text: "Cursed." });
    const tryFor = (retryCount: number) => {
      const db = atTransaction(1, () => {
        throw new Error("it never works");
      });
      return indexSeeded(subtext.service, seeded, { db, retryCount });
    };
    await expect(tryFor(18)).rejects.toThrow("it never works");
    expect(await isIndexed(seeded.transcriptionId)).toBe(false);
    await tryFor(19);
    expect(await isIndexed(seeded.transcriptionId)).toBe(true);
    expect(linesOf(seeded.transcriptionId)).toContain("could not index a transcript");
  });

  test("whose changed words cannot be indexed is not found by its previous words either", async () => {
    const { environmentId } = await createTenant(subtext);
    const { transcriptionId } = await seedSearchable(subtext.service, {
      environmentId,
      language: "en",
      text: "Outdated.",
    });
    const jobId = newJobId();
    await subtext.service.parts.database.kysely
      .transaction()
      .execute((tx) => reindexTranscript(tx, { transcriptionId, environmentId, jobId }));
    expect(await found(environmentId, "outdated")).toEqual(["[Outdated]."]);
    const db = atTransaction(1, () => {
      throw new Error("it never works");
    });
    await indexSeeded(subtext.service, { transcriptionId, jobId }, { db, retryCount: 19 });
    expect(await found(environmentId, "outdated")).toEqual([]);
  });

  test("never fails because of an outage", async () => {
    const { environmentId } = await createTenant(subtext);
    const seeded = await seedTranscript(subtext.service, { environmentId, language: "en", text: "Patient." });
    const db = atTransaction(1, () => {
      throw databaseUnavailable(null);
    });
    await expect(indexSeeded(subtext.service, seeded, { db, retryCount: 500 })).rejects.toThrow(
      "The database is unavailable.",
    );
    await indexSeeded(subtext.service, seeded, { retryCount: 501 });
    expect(await found(environmentId, "patient")).toEqual(["[Patient]."]);
  });

  async function isIndexed(transcriptionId: string): Promise<boolean> {
    const row = await subtext.service.parts.database.kysely
      .selectFrom("search_document")
      .select("indexed_at")
      .where("transcription_id", "=", transcriptionId)
      .executeTakeFirstOrThrow();
    return row.indexed_at !== null;
  }

  function linesOf(transcriptionId: string): string {
    const lines = subtext.logged().split("\n");
    return lines.filter((line) => line.includes(transcriptionId)).join("\n");
  }

  /** The database, with a callback at the start of the matching transaction, so that a test can write before it commits. */
  function atTransaction(number: number, begin: () => void): Db {
    let begun = 0;
    return new Proxy(subtext.service.parts.database.kysely, {
      get(db, key) {
        if (key === "transaction" && ++begun === number) begin();
        const value: unknown = Reflect.get(db, key);
        return typeof value === "function" ? value.bind(db) : value;
      },
    });
  }

  async function sweepOnce(): Promise<void> {
    const { parts } = subtext.service;
    const nothing = { async *list() {} };
    await sweep(
      {
        db: parts.database.kysely,
        queue: parts.queue,
        clock: parts.clock,
        log: parts.log,
        recordings: nothing as never,
        transcripts: parts.transcripts,
        ownership: parts.ownership,
        uploadExpiryMs: 1e9,
      },
      { full: true, signal: new AbortController().signal },
    );
  }
});
