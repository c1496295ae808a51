/** A document's attachments: text is shown, and other files can be saved. Nothing is ever run or rendered as HTML. */
import type { Attachment, Binary, FhirResource } from "fhir/r4";
import type { JSX } from "preact";
import { dateText } from "./dates.ts";
import type { Record } from "./record.ts";
import { joined, text } from "./value.ts";

/** The media types that can be saved, by their file name extension. None of them can contain a script. */
const extensions: { [type: string]: string } = {
  "application/pdf": "pdf",
  "application/rtf": "rtf",
  "text/rtf": "rtf",
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/tiff": "tiff",
};

const LONGEST_TEXT = 200_000;

export function Files({
  files,
  owner,
  record,
}: {
  files: readonly Attachment[];
  owner: FhirResource;
  record: Record;
}): JSX.Element {
  return (
    <ul class="files">
      {files.map((file, i) => (
        <li key={i}>
          <File file={file} owner={owner} record={record} />
        </li>
      ))}
    </ul>
  );
}

function File({ file, owner, record }: { file: Attachment; owner: FhirResource; record: Record }): JSX.Element {
  const found = record.resolve({ reference: text(file.url) }, owner);
  const binary = found?.resourceType === "Binary" ? (found as Binary) : undefined;
  const type = (text(file.contentType) || text(binary?.contentType)).split(";")[0]?.trim().toLowerCase() ?? "";
  const data = file.data ?? binary?.data;
  const name = joined([text(file.title) || "Attachment", type, dateText(text(file.creation))], " · ");
  const bytes = typeof data === "string" ? decoded(data) : undefined;
  if (bytes !== undefined && type === "text/plain") {
    const written = new TextDecoder().decode(bytes);
    return (
      <>
        <span class="soft">{name}</span>
        <pre tabIndex={0}>{written.length > LONGEST_TEXT ? `${written.slice(0, LONGEST_TEXT)}…` : written}</pre>
      </>
    );
  }
  const extension = Object.hasOwn(extensions, type) ? extensions[type] : undefined;
  if (bytes !== undefined && extension !== undefined)
    return (
      <>
        {name}{" "}
        <button type="button" class="more" onClick={() => save(bytes, type, `document.${extension}`)}>
          Save the file
        </button>
      </>
    );
  const address = secure(text(file.url));
  if (bytes === undefined && address !== undefined)
    return (
      <>
        {name}{" "}
        <a href={address} target="_blank" rel="noopener noreferrer">
          Open on {new URL(address).host}
        </a>
      </>
    );
  return <>{joined([name, bytes === undefined ? "not in this file" : "only in the FHIR JSON"], " · ")}</>;
}

/** Returns an https URL, or undefined for any other value. */
export function secure(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url?.protocol === "https:" && url.username === "" && url.password === "" ? url.href : undefined;
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64.replaceAll(/\s/g, "")), (one) => one.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function save(bytes: Uint8Array<ArrayBuffer>, type: string, name: string): void {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
