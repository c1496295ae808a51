import type { JSONWebKeySet } from "jose";
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./api.js";
import { type DownloadOptions, type File, readBytes, readResources, type Resource } from "./download.js";
import { InvalidManifest, RecordbridgeError } from "./errors.js";
import { type Manifest, verifyManifest } from "./manifest.js";
import { retrying, wait, type Wait } from "./retry.js";

/** The limit of a manifest's and of a JWK Set's size. */
const MAX_MANIFEST = 1 << 20;

type Schemas = components["schemas"];

/** A connection. `kind` tells whether it is one through a portal or with a TEFCA facility. */
export type Connection = Schemas["Connection"];
/** A webhook event. `type` selects the type of `data`. */
export type Event = Schemas["Event"];
/** The options of an export. */
export type ExportRequest = Schemas["CreateExportRequest"];
/** An export's ID and status. */
export type Task = Schemas["Task"];
/** An export's status, links, files and missing data. */
export type ExportResult = Schemas["TaskWithResult"];

export interface Options {
  /** The API's base URL, such as `https://api.example.com/v1`. */
  baseUrl: string;
  publicId: string;
  privateKey: string;
  /** The number of times that a request is sent at most. The default is 5. */
  attempts?: number;
  /** The default is the global fetch. */
  fetch?: typeof fetch;
  /** Waits between attempts. Tests replace it. */
  wait?: Wait;
}

/** A file of an export. `name` is its name in the manifest. */
export type ExportFile = File & { exportType: string; name: string };

/** A client of the backend's API. Its methods throw RecordbridgeError if the API rejects a request. */
export class Recordbridge {
  readonly #api: Client<paths>;
  readonly #baseUrl: string;
  readonly #environment: { send: typeof fetch; attempts: number; pause: Wait };

  constructor({ baseUrl, publicId, privateKey, attempts = 5, fetch: send = fetch, wait: pause = wait }: Options) {
    const authorization = `Basic ${Buffer.from(`${publicId}:${privateKey}`).toString("base64")}`;
    const repeated = retrying(send, attempts, pause);
    // The API reads a list as one parameter, with commas.
    const querySerializer = { array: { style: "form", explode: false } } as const;
    this.#api = createClient<paths>({ baseUrl, headers: { authorization }, fetch: repeated, querySerializer });
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#environment = { send, attempts, pause };
  }

  /** Returns a connection. */
  async getConnection(id: string): Promise<Connection> {
    const path = { orgConnectionId: id };
    return data(await this.#api.GET("/bridge/org_connection/{orgConnectionId}", { params: { path } }));
  }

  /** Revokes a connection and deletes its exports' files. */
  async disconnect(id: string): Promise<Connection> {
    const path = { orgConnectionId: id };
    return data(await this.#api.DELETE("/bridge/org_connection/{orgConnectionId}", { params: { path } }));
  }

  /** Requests an export. A pending export of the connection is returned again. */
  async createExport(request: ExportRequest): Promise<Task> {
    return data(await this.#api.POST("/bridge/fhir/ehi-export", { body: request }));
  }

  /** Returns an export's status and, once it has ended, its result. */
  async getExport(taskId: string): Promise<ExportResult> {
    const params = { path: { taskId }, query: { include: "result" as const } };
    return data(await this.#api.GET("/bridge/fhir/ehi-export/{taskId}", { params }));
  }

  /** Deletes an export's files. */
  async deleteFiles(taskId: string): Promise<void> {
    data(await this.#api.DELETE("/bridge/fhir/ehi-export/{taskId}/files", { params: { path: { taskId } } }));
  }

  /**
   * Yields the events after a cursor, oldest first, each with the cursor to continue after it. It ends with the newest
   * event, so call it again later. Without a cursor, it starts with the oldest event, which is up to 15 days old.
   */
  async *events({ after, types }: { after?: string; types?: Event["type"][] } = {}): AsyncGenerator<{
    event: Event;
    after: string;
  }> {
    for (let cursor = after, more = true; more; ) {
      const query = { limit: 500, ...(cursor === undefined ? {} : { after: cursor }), ...(types ? { types } : {}) };
      const page = data(await this.#api.GET("/bridge/events", { params: { query } }));
      // Only the page's last event has a cursor of its own; the others repeat the page if reading stops there.
      for (const [i, event] of page.events.entries()) {
        yield { event, after: i === page.events.length - 1 ? page.after : (cursor ?? "") };
      }
      cursor = page.after;
      more = page.has_more;
    }
  }

  /** Returns the files of a successful export, with their digests. */
  async files(taskId: string): Promise<ExportFile[]> {
    return filesOf(await this.getExport(taskId));
  }

  /**
   * Downloads and verifies the manifest of a successful export. It throws InvalidManifest if the export has no manifest
   * or the manifest can't be verified.
   */
  async manifest(taskId: string): Promise<Manifest> {
    return this.#manifestOf(taskId, await this.getExport(taskId));
  }

  /**
   * Returns the files of a successful export as its verified manifest describes them. `download` and `resources` then
   * throw FileMismatch unless a file matches the manifest. It throws InvalidManifest if the export's files and the
   * manifest's differ.
   */
  async verifiedFiles(taskId: string): Promise<ExportFile[]> {
    const result = await this.getExport(taskId);
    const listed = new Map((await this.#manifestOf(taskId, result)).files.map((file) => [file.name, file]));
    const files = filesOf(result).map((file) => {
      const found = listed.get(file.name);
      if (!found || !listed.delete(file.name)) throw new InvalidManifest(`the manifest doesn't list ${file.name}`);
      const { sha256, bytes, resources } = found;
      return { ...file, sha256, bytes, resources };
    });
    if (listed.size > 0) throw new InvalidManifest(`the export has no link to ${[...listed.keys()].join(", ")}`);
    return files;
  }

  /**
   * Yields a file's bytes. A broken connection is resumed after the last byte. If the size or the SHA-256 differs from
   * the file's, it throws FileMismatch after the last byte.
   */
  download(file: File, options: DownloadOptions = {}): AsyncGenerator<Uint8Array, void> {
    return readBytes(this.#environment, file, options);
  }

  /** Yields the FHIR resources of a `jsonl` file while it is downloaded. See download. */
  resources(file: File, options: DownloadOptions = {}): AsyncGenerator<Resource, void> {
    return readResources(this.download(file, options), file.resources);
  }

  async #manifestOf(taskId: string, { manifest: link }: ExportResult): Promise<Manifest> {
    if (!link) throw new InvalidManifest("the export has no manifest");
    const content = await this.#small(link.url);
    const keys = await this.#small(`${this.#baseUrl}/.well-known/manifest-jwks.json`);
    const manifest = await verifyManifest(content, link.signature, keySetFrom(keys));
    if (manifest.task_id !== taskId) {
      throw new InvalidManifest(`the manifest belongs to the export ${manifest.task_id}`);
    }
    return manifest;
  }

  /** Downloads a file of at most MAX_MANIFEST bytes. */
  async #small(url: string): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.download({ url })) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_MANIFEST) throw new InvalidManifest(`the download is larger than ${MAX_MANIFEST} bytes`);
    }
    return Buffer.concat(chunks);
  }
}

function keySetFrom(content: Buffer): JSONWebKeySet {
  try {
    return JSON.parse(content.toString()) as JSONWebKeySet;
  } catch (cause) {
    throw new InvalidManifest("the JWK Set isn't JSON", { cause });
  }
}

function filesOf(result: ExportResult): ExportFile[] {
  return (result.download_links ?? []).map(({ url, export_type: exportType }) => {
    const file = result.files?.find((one) => one.export_type === exportType);
    if (!file) return { url, exportType, name: "" };
    return { url, exportType, name: file.file_name, sha256: file.sha256, bytes: file.bytes };
  });
}

/** Returns a response's data, or throws its error. */
function data<T>({ data: answer, error, response }: { data?: { data: T }; error?: unknown; response: Response }): T {
  if (answer !== undefined && error === undefined) return answer.data;
  const { error: code = "", error_description: description, request_id: id = "" } =
    typeof error === "object" && error !== null ? (error as Record<string, string>) : {};
  throw new RecordbridgeError(code, description ?? `the API responded with ${response.status}`, response.status, id);
}
