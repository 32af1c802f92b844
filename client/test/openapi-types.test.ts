import { expect, expectTypeOf, test } from "vitest";
import { openApi } from "../src/contract/openapi.ts";
import { ROUTES } from "../src/contract/routes.ts";
import type * as states from "../src/states.ts";
import type * as types from "../src/types.ts";
import type { components, operations } from "./generated/openapi.ts";

/*
 * Compares the client's types with those that openapi-typescript generates from the OpenAPI document. `npm run
 * typecheck` checks them; `npm run test:reference` checks that the generated file is up to date.
 */

type Schemas = components["schemas"];

/** The client's types, keyed by the name of the schema in the document. */
interface ClientTypes {
  CreatedVideo: types.CreatedVideo;
  Delivery: types.Delivery;
  DeliveryAttempt: types.DeliveryAttempt;
  DeliveryPage: types.DeliveryPage;
  EditableWord: types.EditableWord;
  NewVideo: types.NewVideo;
  NewWebhookEndpoint: types.NewWebhookEndpoint;
  Problem: types.Problem;
  RedeliverFailed: types.RedeliverFailed;
  Redelivering: types.Redelivering;
  SavedWords: types.SavedWords;
  Transcription: types.Transcription;
  TranscriptionCompletedEvent: types.TranscriptionCompletedEvent;
  TranscriptionFailedEvent: types.TranscriptionFailedEvent;
  TranscriptionFailure: types.TranscriptionFailure;
  TranscriptionFiles: types.TranscriptionFiles;
  TranscriptionSkippedEvent: types.TranscriptionSkippedEvent;
  TranscriptionSummary: types.TranscriptionSummary;
  TranscriptionUpdatedEvent: types.TranscriptionUpdatedEvent;
  TranscriptWord: types.TranscriptWord;
  TranscriptWords: types.TranscriptWords;
  TranscriptWordsChange: types.TranscriptWordsChange;
  UploadTicket: types.UploadTicket;
  Video: types.Video;
  VideoMetadata: types.VideoMetadata;
  VideoPage: types.VideoPage;
  WebhookEndpoint: types.WebhookEndpoint;
  WebhookEndpointChange: types.WebhookEndpointChange;
  WebhookEndpointPage: types.WebhookEndpointPage;
  WebhookEndpointWithSecret: types.WebhookEndpointWithSecret;
  WebhookTestEvent: types.WebhookTestEvent;
}

type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : undefined;

/** The input and output of each operation of the client, as the document describes them. */
type DocumentedOperations = {
  [Id in keyof types.Operations]: {
    params: operations[Id]["parameters"] extends { path: infer Params } ? Params : object;
    query: operations[Id]["parameters"] extends { query?: never }
      ? undefined
      : NonNullable<operations[Id]["parameters"]["query"]>;
    body: Json<operations[Id]["requestBody"]>;
    success: Json<operations[Id]["responses"][keyof operations[Id]["responses"]]>;
  };
};

test("the client's types match the document's schemas", () => {
  expectTypeOf<ClientTypes>().toEqualTypeOf<Schemas>();
});

test("the input and output of the client's operations match the document", () => {
  expectTypeOf<{
    [Id in keyof types.Operations]: Omit<types.Operations[Id], "method" | "path">;
  }>().branded.toEqualTypeOf<DocumentedOperations>();
});

test("the client's types by state are assignable to the document's schemas", () => {
  expectTypeOf<states.Video>().toExtend<Schemas["Video"]>();
  expectTypeOf<states.Transcription>().toExtend<Schemas["Transcription"]>();
  expectTypeOf<states.TranscriptionSummary>().toExtend<Schemas["TranscriptionSummary"]>();
  expectTypeOf<states.CreatedVideo>().toExtend<Schemas["CreatedVideo"]>();
});

test("the client uses the document's method and path for each operation", () => {
  const { paths } = openApi({ version: "1.0.0", serverUrl: "https://subtext.example.com" });
  const documented = Object.entries(paths as Record<string, Record<string, { operationId: string }>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [
        operationId,
        `${method.toUpperCase()} ${path}`,
      ]),
  );
  expect(Object.fromEntries(documented)).toMatchObject(ROUTES);
});
