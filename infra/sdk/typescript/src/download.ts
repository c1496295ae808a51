import { createHash } from "node:crypto";
import { DigestMismatch, RecordbridgeError } from "./errors.js";
import { delay, TRANSIENT, type Wait } from "./retry.js";

/** A file to download: a link of the success event or of an export's result. */
export interface File {
  url: string;
  /** SHA-256 in hex, from `files` of an export's result. Checked if present. */
  sha256?: string;
  /** Size, for the progress. */
  bytes?: number;
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
 * Yields a file's bytes. If the connection breaks, it continues behind the last byte. It throws DigestMismatch at the
 * end if the file has another digest.
 */
export async function* readBytes(
  { send, attempts, pause }: Environment,
  file: File,
  { onProgress, signal }: DownloadOptions,
): AsyncGenerator<Uint8Array, void> {
  const digest = createHash("sha256");
  let read = 0;
  for (let attempt = 1; ; ) {
    let response: Response | undefined;
    try {
      // Each request gets a new redirect to the file, which expires after ten minutes.
      response = await send(file.url, { headers: read > 0 ? { range: `bytes=${read}-` } : {}, signal: signal ?? null });
      if (response.status !== (read > 0 ? 206 : 200)) throw await refusal(response);
      for await (const chunk of response.body ?? []) {
        read += chunk.length;
        attempt = 1;
        digest.update(chunk);
        onProgress?.(file.bytes === undefined ? { read } : { read, total: file.bytes });
        yield chunk;
      }
      break;
    } catch (error) {
      const refused = error instanceof RecordbridgeError && !TRANSIENT.has(error.status);
      if (refused || signal?.aborted || attempt >= attempts) throw error;
      await pause(delay(attempt++, response?.headers.get("retry-after")));
    }
  }
  const found = digest.digest("hex");
  if (file.sha256 !== undefined && found !== file.sha256) {
    throw new DigestMismatch(`the file's SHA-256 is ${found}, not ${file.sha256}`);
  }
}

/** Yields the resources of an NDJSON file, one per line. */
export async function* readResources(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Resource, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line) as Resource;
  }
  rest += decoder.decode();
  if (rest !== "") yield JSON.parse(rest) as Resource;
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
