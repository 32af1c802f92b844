// Generated from the OpenAPI document by "npm run generate:types".

export interface paths {
    "/api/v1/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{uploadId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteUpload"];
        options?: never;
        head: operations["getUploadOffset"];
        patch: operations["uploadChunk"];
        trace?: never;
    };
    "/api/v1/videos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listVideos"];
        put?: never;
        post: operations["createVideo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/videos/{videoId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getVideo"];
        put?: never;
        post?: never;
        delete: operations["deleteVideo"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/videos/{videoId}/transcription": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTranscription"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/videos/{videoId}/transcription/words": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTranscriptWords"];
        put: operations["updateTranscriptWords"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhookEndpoints"];
        put?: never;
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{endpointId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWebhookEndpoint"];
        put?: never;
        post?: never;
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        patch: operations["updateWebhookEndpoint"];
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{endpointId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{endpointId}/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{endpointId}/redeliver-failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["redeliverFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{endpointId}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{endpointId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["sendTestEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "transcriptions.transcription.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["onTranscriptionsTranscriptionCompleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "transcriptions.transcription.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["onTranscriptionsTranscriptionFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "transcriptions.transcription.skipped": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["onTranscriptionsTranscriptionSkipped"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "transcriptions.transcription.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["onTranscriptionsTranscriptionUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhooks.endpoint.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["onWebhooksEndpointTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        CreatedVideo: {
            upload: components["schemas"]["UploadTicket"];
            video: components["schemas"]["Video"];
        };
        Delivery: {
            attempts: components["schemas"]["DeliveryAttempt"][];
            createdAt: string;
            eventId: string;
            /** @enum {string} */
            eventType: "transcriptions.transcription.completed" | "transcriptions.transcription.failed" | "transcriptions.transcription.skipped" | "transcriptions.transcription.updated" | "webhooks.endpoint.test";
            finishedAt: string | null;
            id: string;
            nextAttemptAt: string | null;
            /** @enum {string} */
            status: "pending" | "succeeded" | "failed" | "canceled";
            transcriptionId: string | null;
            webhookEndpointId: string;
        };
        DeliveryAttempt: {
            attemptedAt: string;
            failure: string | null;
            latencyMs: number;
            number: number;
            responseStart: string | null;
            statusCode: number | null;
        };
        DeliveryPage: {
            data: components["schemas"]["Delivery"][];
            nextCursor: string | null;
        };
        EditableWord: {
            channel: number | null;
            confidence: number | null;
            end: number;
            speaker: string | null;
            start: number;
            word: string;
        };
        NewVideo: {
            expiresInSeconds?: number;
            filename?: string;
            metadata?: {
                [key: string]: string;
            };
            sizeBytes: number;
        };
        NewWebhookEndpoint: {
            eventTypes?: ("transcriptions.transcription.completed" | "transcriptions.transcription.failed" | "transcriptions.transcription.skipped" | "transcriptions.transcription.updated")[];
            metadata?: {
                [key: string]: unknown;
            };
            url: string;
        };
        Problem: {
            code: string;
            detail: string;
            instance: string;
            requestId: string;
            status: number;
            title: string;
            type: string;
        };
        RedeliverFailed: {
            since: string;
        };
        Redelivering: {
            count: number;
            hasMore: boolean;
        };
        SavedWords: {
            etag: string;
            revision: number;
        };
        Transcription: {
            completedAt: string | null;
            createdAt: string;
            duration: number | null;
            environmentId: string;
            files: components["schemas"]["TranscriptionFiles"] | null;
            id: string;
            language: string | null;
            /** @enum {string} */
            status: "PENDING" | "PROCESSING" | "COMPLETED" | "FAILED" | "SKIPPED";
            videoId: string;
            wordCount: number | null;
        };
        TranscriptionCompletedEvent: {
            data: {
                completedAt: string | null;
                createdAt: string;
                duration: number | null;
                environmentId: string;
                files: components["schemas"]["TranscriptionFiles"] | null;
                id: string;
                language: string | null;
                /** @enum {string} */
                status: "PENDING" | "PROCESSING" | "COMPLETED" | "FAILED" | "SKIPPED";
                videoId: string;
                videoMetadata: components["schemas"]["VideoMetadata"];
                wordCount: number | null;
            };
            metadata: {
                [key: string]: unknown;
            };
            timestamp: string;
            /** @constant */
            type: "transcriptions.transcription.completed";
        };
        TranscriptionFailedEvent: {
            data: {
                completedAt: string | null;
                createdAt: string;
                duration: number | null;
                environmentId: string;
                error: components["schemas"]["TranscriptionFailure"];
                files: components["schemas"]["TranscriptionFiles"] | null;
                id: string;
                language: string | null;
                /** @enum {string} */
                status: "PENDING" | "PROCESSING" | "COMPLETED" | "FAILED" | "SKIPPED";
                videoId: string;
                videoMetadata: components["schemas"]["VideoMetadata"];
                wordCount: number | null;
            };
            metadata: {
                [key: string]: unknown;
            };
            timestamp: string;
            /** @constant */
            type: "transcriptions.transcription.failed";
        };
        TranscriptionFailure: {
            code: "unreadable_media" | "unsupported_media" | "undecodable_audio" | "media_too_long" | "language_unsupported" | "language_undetermined" | "decoder_unavailable" | "decoder_crashed" | "model_unusable" | "model_not_found" | "model_download_failed" | "model_corrupt" | "model_store_failed" | "engine_crashed" | "engine_hung" | "insufficient_memory" | "engine_out_of_memory" | "engine_refused" | "engine_unavailable" | "engine_answer_invalid" | "storage_object_denied" | "storage_object_unusable" | "storage_object_missing" | "worker_lost" | "canceled" | "internal_error";
            message: string;
        };
        TranscriptionFiles: {
            json: {
                /** @constant */
                contentType: "application/json";
                expiresAt: string;
                url: string;
            };
            txt: {
                /** @constant */
                contentType: "text/plain";
                expiresAt: string;
                url: string;
            };
            vtt: {
                /** @constant */
                contentType: "text/vtt";
                expiresAt: string;
                url: string;
            };
        };
        TranscriptionSkippedEvent: {
            data: {
                completedAt: string | null;
                createdAt: string;
                duration: number | null;
                environmentId: string;
                files: components["schemas"]["TranscriptionFiles"] | null;
                id: string;
                language: string | null;
                reason: "no_audio_track" | "empty_audio_track" | "silent_audio_track";
                /** @enum {string} */
                status: "PENDING" | "PROCESSING" | "COMPLETED" | "FAILED" | "SKIPPED";
                videoId: string;
                videoMetadata: components["schemas"]["VideoMetadata"];
                wordCount: number | null;
            };
            metadata: {
                [key: string]: unknown;
            };
            timestamp: string;
            /** @constant */
            type: "transcriptions.transcription.skipped";
        };
        TranscriptionSummary: {
            completedAt: string | null;
            createdAt: string;
            duration: number | null;
            failure: components["schemas"]["TranscriptionFailure"] | null;
            id: string;
            incomplete: boolean;
            language: string | null;
            skipReason: ("no_audio_track" | "empty_audio_track" | "silent_audio_track") | null;
            /** @enum {string} */
            status: "PENDING" | "PROCESSING" | "COMPLETED" | "FAILED" | "SKIPPED";
            wordCount: number | null;
        };
        TranscriptionUpdatedEvent: {
            data: {
                completedAt: string | null;
                createdAt: string;
                duration: number | null;
                environmentId: string;
                files: components["schemas"]["TranscriptionFiles"] | null;
                id: string;
                language: string | null;
                /** @enum {string} */
                status: "PENDING" | "PROCESSING" | "COMPLETED" | "FAILED" | "SKIPPED";
                videoId: string;
                videoMetadata: components["schemas"]["VideoMetadata"];
                wordCount: number | null;
            };
            metadata: {
                [key: string]: unknown;
            };
            timestamp: string;
            /** @constant */
            type: "transcriptions.transcription.updated";
        };
        TranscriptWord: {
            end: number;
            start: number;
            word: string;
        };
        TranscriptWords: {
            etag: string;
            revision: number;
            words: components["schemas"]["EditableWord"][];
        };
        TranscriptWordsChange: {
            editSessionId?: string;
            words: {
                channel?: number | null;
                confidence?: number | null;
                end: number;
                speaker?: string | null;
                start: number;
                word: string;
            }[];
        };
        UploadTicket: {
            expiresAt: string;
            url: string;
        };
        Video: {
            createdAt: string;
            environmentId: string;
            filename: string | null;
            id: string;
            metadata: components["schemas"]["VideoMetadata"];
            sizeBytes: number | null;
            /** @enum {string} */
            status: "uploading" | "uploaded";
            transcription: components["schemas"]["TranscriptionSummary"] | null;
            uploadedAt: string | null;
        };
        VideoMetadata: {
            [key: string]: string | null;
        };
        VideoPage: {
            data: components["schemas"]["Video"][];
            nextCursor: string | null;
        };
        WebhookEndpoint: {
            createdAt: string;
            disabledAt: string | null;
            disabledReason: string | null;
            enabled: boolean;
            environmentId: string;
            eventTypes: ("transcriptions.transcription.completed" | "transcriptions.transcription.failed" | "transcriptions.transcription.skipped" | "transcriptions.transcription.updated")[];
            failingSince: string | null;
            id: string;
            metadata: {
                [key: string]: unknown;
            };
            previousSecretExpiresAt: string | null;
            url: string;
        };
        WebhookEndpointChange: {
            enabled?: boolean;
            eventTypes?: ("transcriptions.transcription.completed" | "transcriptions.transcription.failed" | "transcriptions.transcription.skipped" | "transcriptions.transcription.updated")[];
            metadata?: {
                [key: string]: unknown;
            };
            url?: string;
        };
        WebhookEndpointPage: {
            data: components["schemas"]["WebhookEndpoint"][];
            nextCursor: string | null;
        };
        WebhookEndpointWithSecret: {
            createdAt: string;
            disabledAt: string | null;
            disabledReason: string | null;
            enabled: boolean;
            environmentId: string;
            eventTypes: ("transcriptions.transcription.completed" | "transcriptions.transcription.failed" | "transcriptions.transcription.skipped" | "transcriptions.transcription.updated")[];
            failingSince: string | null;
            id: string;
            metadata: {
                [key: string]: unknown;
            };
            previousSecretExpiresAt: string | null;
            secret: string;
            url: string;
        };
        WebhookTestEvent: {
            data: {
                environmentId: string;
                webhookEndpointId: string;
            };
            metadata: {
                [key: string]: unknown;
            };
            timestamp: string;
            /** @constant */
            type: "webhooks.endpoint.test";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    createUpload: {
        parameters: {
            query?: never;
            header: {
                "Idempotency-Key"?: string;
                "Tus-Resumable": string;
                "Upload-Length"?: string;
                "Upload-Metadata"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    Location?: string;
                    "Upload-Expires"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    deleteUpload: {
        parameters: {
            query?: never;
            header: {
                "Tus-Resumable": string;
            };
            path: {
                uploadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getUploadOffset: {
        parameters: {
            query?: never;
            header: {
                "Tus-Resumable": string;
            };
            path: {
                uploadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Upload-Length"?: string;
                    "Upload-Offset"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    uploadChunk: {
        parameters: {
            query?: never;
            header: {
                "Tus-Resumable": string;
                "Upload-Offset": string;
            };
            path: {
                uploadId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/offset+octet-stream": unknown;
            };
        };
        responses: {
            204: {
                headers: {
                    "Upload-Expires"?: string;
                    "Upload-Offset"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listVideos: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                transcriptionStatus?: "PENDING" | "PROCESSING" | "COMPLETED" | "FAILED" | "SKIPPED";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VideoPage"];
                };
            };
        };
    };
    createVideo: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewVideo"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedVideo"];
                };
            };
        };
    };
    getVideo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                videoId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Video"];
                };
            };
        };
    };
    deleteVideo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                videoId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getTranscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                videoId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transcription"];
                };
            };
        };
    };
    getTranscriptWords: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                videoId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptWords"];
                };
            };
        };
    };
    updateTranscriptWords: {
        parameters: {
            query?: never;
            header: {
                "Idempotency-Key"?: string;
                "If-Match": string;
            };
            path: {
                videoId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TranscriptWordsChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedWords"];
                };
            };
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointPage"];
                };
            };
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhookEndpoint"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
        };
    };
    getWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                status?: "pending" | "succeeded" | "failed" | "canceled";
            };
            header?: never;
            path: {
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
        };
    };
    redeliver: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                deliveryId: string;
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    redeliverFailed: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RedeliverFailed"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Redelivering"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
        };
    };
    sendTestEvent: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    getFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Content-Disposition"?: string;
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptWord"][];
                    "text/plain": string;
                    "text/vtt": string;
                };
            };
            206: {
                headers: {
                    "Content-Disposition"?: string;
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptWord"][];
                    "text/plain": string;
                    "text/vtt": string;
                };
            };
        };
    };
    onTranscriptionsTranscriptionCompleted: {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-signature": string;
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TranscriptionCompletedEvent"];
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onTranscriptionsTranscriptionFailed: {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-signature": string;
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TranscriptionFailedEvent"];
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onTranscriptionsTranscriptionSkipped: {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-signature": string;
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TranscriptionSkippedEvent"];
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onTranscriptionsTranscriptionUpdated: {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-signature": string;
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TranscriptionUpdatedEvent"];
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhooksEndpointTest: {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-signature": string;
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookTestEvent"];
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
