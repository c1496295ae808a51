import { createHash } from "node:crypto";
import { FileMismatch, RecordbridgeError } from "./errors.js";
import { delay, MAX_RETRY_AFTER, TRANSIENT, type Wait } from "./retry.js";

/** A file to download: a link of the success event or of an export's result. */
export interface File {
  url: string;
  /** SHA-256 in hex. Downloads check it if present. */
  sha256?: string;
  /** Size. Downloads check it if present. */
  bytes?: number;
  /** The number of resources, which `verifiedFiles` sets. `resources` checks it if present. */
  resources?: number;
}

/** The bytes that have been read, and the file's size if it is known. */
export interface Progress {
  read: number;
  total?: number;
}

/** A FHIR resource. */
export interface Resource {
  resourceType: string;
  id?: string;
  [member: string]: unknown;
}

export interface DownloadOptions {
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

interface Environment {
  send: typeof fetch;
  attempts: number;
  pause: Wait;
}

/**
 * Yields a file's bytes. If the connection breaks, it continues after the last byte. It throws FileMismatch at the end
 * if the file has another size or digest.
 */
export async function* readBytes(
  environment: Environment,
  file: File,
  { onProgress, signal }: DownloadOptions,
): AsyncGenerator<Uint8Array, void> {
  const digest = createHash("sha256");
  let read = 0;
  for await (const chunk of chunksOf(environment, file.url, signal)) {
    read += chunk.length;
    digest.update(chunk);
    onProgress?.(file.bytes === undefined ? { read } : { read, total: file.bytes });
    yield chunk;
    if (file.bytes !== undefined && read > file.bytes) break;
  }
  if (file.bytes !== undefined && read !== file.bytes) {
    throw new FileMismatch(`the file has ${read} bytes, not ${file.bytes}`);
  }
  const found = digest.digest("hex");
  if (file.sha256 !== undefined && found !== file.sha256) {
    throw new FileMismatch(`the file's SHA-256 is ${found}, not ${file.sha256}`);
  }
}

/** Yields the bytes at a URL, in several requests if the connection breaks. */
async function* chunksOf(
  { send, attempts, pause }: Environment,
  url: string,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  let read = 0;
  for (let attempt = 1; ; ) {
    let response: Response | undefined;
    try {
      // Each request gets a new redirect to the file, which expires after ten minutes. Ranges are of the plain file.
      const headers = { "accept-encoding": "identity", ...(read > 0 ? { range: `bytes=${read}-` } : {}) };
      response = await send(url, { headers, signal: signal ?? null });
      if (response.status !== (read > 0 ? 206 : 200)) throw await refusal(response);
      const sent = response.headers.get("content-range") ?? "";
      if (read > 0 && !sent.startsWith(`bytes ${read}-`)) {
        await response.body?.cancel();
        const message = `the download can't be resumed at byte ${read}: the server sent "${sent}"`;
        throw new RecordbridgeError("", message, response.status, "");
      }
      for await (const chunk of response.body ?? []) {
        read += chunk.length;
        attempt = 1;
        yield chunk;
      }
      return;
    } catch (error) {
      const refused = error instanceof RecordbridgeError && !TRANSIENT.has(error.status);
      const time = delay(attempt++, response?.headers.get("retry-after"));
      if (refused || signal?.aborted || attempt > attempts || time > MAX_RETRY_AFTER) throw error;
      await pause(time);
    }
  }
}

/** Yields the resources of an NDJSON file, one per line, and checks their number if it is known. */
export async function* readResources(
  bytes: AsyncIterable<Uint8Array>,
  expected?: number,
): AsyncGenerator<Resource, void> {
  let count = 0;
  for await (const line of linesOf(bytes)) {
    yield JSON.parse(line) as Resource;
    count++;
  }
  if (expected !== undefined && count !== expected) {
    throw new FileMismatch(`the file has ${count} resources, not ${expected}`);
  }
}

/** Yields the lines that aren't empty. A line can have many chunks, so they are joined only once. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let parts: string[] = [];
  for await (const chunk of bytes) {
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    parts.push(first);
    for (const part of others) {
      const line = parts.join("");
      if (line !== "") yield line;
      parts = [part];
    }
  }
  const line = parts.join("") + decoder.decode();
  if (line !== "") yield line;
}

/** Reads the API's error from a response. */
async function refusal(response: Response): Promise<RecordbridgeError> {
  const text = await response.text();
  try {
    const { error, error_description: description, request_id: id } = JSON.parse(text) as Record<string, string>;
    return new RecordbridgeError(error ?? "", description ?? "", response.status, id ?? "");
  } catch {
    return new RecordbridgeError("", `the file's server responded with status ${response.status}`, response.status, "");
  }
}
