import { type Mutation, mutationsOf as of } from "./mutation.ts";

const KEYS = ["server/test/api-keys/api-keys.test.ts", "server/test/transcription/transcription.test.ts"];
const DELIVERIES = ["server/test/webhooks/deliver.test.ts"];
const FILE_ACCESS = ["server/test/health/file-access.test.ts"];

/** Keys, roles, signatures, addresses, secrets, vocabularies and documentation. */
export const accessMutations: Mutation[] = [
  // API keys
  ...of("server/src/api-keys/api-keys.ts", KEYS, [
    ['!row || !timingSafeEqual(hash(key), Buffer.from(row.key_hash, "hex"))', "!row"],
    ["if (checksum(key.slice(0, -CHECKSUM_LENGTH)) !== match[3]) return undefined;", ""],
    ["row.revoked_at || ", ""],
    [" || (row.expires_at && row.expires_at <= clock.now())", ""],
  ]),
  ...of("server/src/api-keys/authorize.ts", KEYS, [
    ["if (!key.permissions.includes(permission)) {", "if (false) {"],
  ]),

  // Roles of the admin API
  ...of(
    "server/src/admin/access.ts",
    ["server/test/admin/authorization.test.ts"],
    [
      ["if (roles.some((role) => callers.includes(role))) return actor;", "return actor;"],
      ['if (callers === "command line") {', "if (false) {"],
      ['if (callers === "session") throw', "if (false) throw"],
      ['if (callers === "anyone") return null;', 'if (typeof callers === "string") return null;'],
      ['if (scope === "all environments") return [];', 'if (scope === "all environments") return ["owner"];'],
      ["if (!membership) throw scope.notFound(value);", 'if (!membership) return ["owner"];'],
      ["return [membership.role];", 'return ["owner"];'],
    ],
  ),
  ...of(
    "server/src/admin/scope.ts",
    ["server/test/admin/authorization.test.ts"],
    [
      ["if (!scope || (start !== undefined && roleIn)) {", "if (!scope) {"],
      ["?? (await findVideo(db, id))?.environment_id", ""],
    ],
  ),
  ...of(
    "server/src/admin/environments.ts",
    ["server/test/admin/operators.test.ts"],
    [
      ["if (role === null) return [];", ""],
      ["const maySeeSettings = VIEWERS.some((each) => each === role);", "const maySeeSettings = true;"],
    ],
  ),
  ...of(
    "server/src/operators/queries.ts",
    ["server/test/admin/operators.test.ts"],
    [
      ['if (found.isLastOwner && role !== "owner") return "last_owner";', ""],
      ['if (found.isLastOwner) return "last_owner";', ""],
      ['await tx.deleteFrom("operator_membership").where("operator_id", "=", id).execute();', ""],
    ],
  ),
  ...of(
    "server/src/admin/videos/stream.ts",
    ["server/test/admin/video-stream.slow.test.ts"],
    [['if (await isAuthorized()) send(":\\n\\n");', 'if (true) send(":\\n\\n");']],
  ),
  ...of(
    "server/src/admin/videos/detail.ts",
    ["server/test/admin/video-page.test.ts"],
    [
      [
        'if (transcription && roleIn(actor, video.environment_id) === "editor") transcription.events = [];',
        "",
      ],
    ],
  ),

  // Signatures
  ...of(
    "server/src/storage/disk/file-url.ts",
    ["server/test/api/files.test.ts"],
    [
      ['"subtext file url 1", key, expires,', '"subtext file url 1", expires,'],
      ['"subtext file url 1", key, expires,', '"subtext file url 1", key,'],
      ["key, expires, fileName, contentType]", "key, expires, contentType]"],
      ["key, expires, fileName, contentType]", "key, expires, fileName]"],
      ["if (parameters.size !== 4) return null;", ""],
      ["equalInConstantTime(signature, signFileUrl(claims, secret)) ? claims : null", "claims"],
    ],
  ),
  ...of(
    "server/src/webhooks/sign.ts",
    ["server/test/webhooks/sign.test.ts"],
    [
      ["`${id}.${seconds}.${body}`", "`${seconds}.${body}`"],
      ["`${id}.${seconds}.${body}`", "`${id}.${body}`"],
      ["key.length < 24 || ", ""],
      [' || key.toString("base64") !== encoded', ""],
    ],
  ),
  ...of("server/src/webhooks/request.ts", DELIVERIES, [
    ["previous && expiresAt && now < expiresAt ? [secret, previous]", "previous ? [secret, previous]"],
    ["previous && expiresAt && now < expiresAt ? [secret, previous]", "false ? [secret, previous]"],
  ]),
  ...of(
    "client/src/verify-webhook.ts",
    ["client/test/sdk-verify-webhook.test.ts"],
    [
      ["if (!(await isSigned(signed, signatures, keys))) {", "if (false) {"],
      ["Math.abs(now.getTime() - sentAt.getTime())", "now.getTime() - sentAt.getTime()"],
      ["if (keys.length === 0) throw", "if (false) throw"],
      ["if (bytes.length < MIN_SECRET_BYTES)", "if (false)"],
    ],
  ),
  ...of(
    "server/src/storage/content-disposition.ts",
    ["server/test/storage/disk-transcript-store.test.ts"],
    [
      ['safeFileName(fileName.normalize("NFKD")', '(fileName.normalize("NFKD")'],
      ["/[^\\x20-\\x7E]|%/g", "/[^\\x20-\\x7E]/g"],
    ],
  ),

  // URL guard
  ...of(
    "server/src/webhooks/guard-url.ts",
    ["server/test/webhooks/guard-url.test.ts"],
    [
      ["if (canonical === null) return true;", "if (canonical === null) return false;"],
      ["!isException || isForbiddenAddress(translated, policy)", "!isException"],
      ["return !isException && !isPublic(parsed);", "return !isPublic(parsed);"],
      [" || isWithin(address, PUBLIC_BUT_INTERNAL)", ""],
      ["address instanceof ipaddr.IPv4 || isWithin(address, [GLOBAL_UNICAST_V6])", "true"],
      ["found.filter(({ address }) => !isForbiddenAddress(address, policy))", "found"],
      ['if (url.username !== "" || url.password !== "")', "if (false)"],
      ["if (literal !== null && isForbiddenAddress(literal, policy)) {", "if (false) {"],
      ["if (literal !== null && isForbiddenAddress(literal, policy)) throw", "if (false) throw"],
    ],
  ),

  // Secrets and private files
  ...of("server/src/cli.ts", FILE_ACCESS, [["process.umask(0o077);", ""]]),
  ...of("server/src/db/embedded/durable-node-fs.ts", FILE_ACCESS, [["mode & OWNER_ONLY", "mode"]]),
  ...of(
    "server/src/lib/secret-token.ts",
    ["server/test/admin/operators.test.ts"],
    [['createHash("sha256").update(token).digest("hex")', "token"]],
  ),
  ...of(
    "speech/src/processes/model-worker.ts",
    ["speech/test/processes/spawn-options.test.ts"],
    [['  process.env.ORT_DISABLE_TELEMETRY = "1";\n', ""]],
  ),

  // Vocabularies and the decoding of Whisper texts
  ...of(
    "speech/src/engines/vocabulary.ts",
    ["speech/test/engines/vocabulary.test.ts"],
    [["return addsTerm && isSimilar && isProbable ? prompted : plain;", "return prompted;"]],
  ),
  ...of(
    "speech/src/engines/whisper/whisper.ts",
    ["speech/test/engines/whisper/decoding.test.ts"],
    [
      ["temperature === 0 ? vocabularyTokens : []", "[]"],
      ["if (isTimestamp(sequence.tokens[last - 1])) last -= 1;", ""],
      [
        "isLoop: (row, sequence) => this.#isLoop(utterances[row]!, languages[row] ?? null, sequence)",
        "isLoop: () => false",
      ],
    ],
  ),
  ...of(
    "speech/src/checkpoints/checkpoint-cache.ts",
    ["speech/test/engines/vocabulary.test.ts"],
    [['${languages?.[index] ?? ""}${terms}`', '${languages?.[index] ?? ""}`']],
  ),
  ...of(
    "server/src/transcription/recognize.ts",
    ["server/test/transcription/checkpoints.test.ts"],
    [["await findVocabulary(deps.db, row.environment_id)", "[]"]],
  ),

  // Documentation
  ...of(
    "server/src/api/docs.ts",
    ["server/test/docs/site.test.ts"],
    [[`"script-src": "'self'",`, `"script-src": "'self' 'unsafe-inline'",`]],
  ),
  ...of(
    "server/src/http/static-files.ts",
    ["server/test/docs/site.test.ts"],
    [['plain ?? (await promisify(gunzip)(encoded.gzip ?? ""))', "plain ?? encoded.gzip"]],
  ),
];
