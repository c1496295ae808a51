// Talks to the runner, and knows how the parts of the page are addressed.

const root = "/_local/api";

// get reads one endpoint; path is a list of segments.
export async function get(path, query = {}, signal = undefined) {
  const response = await fetch(address(path, query), { signal });
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error);
  return answer;
}

// address is where an endpoint is, for links.
export function address(path, query = {}) {
  return `${root}/${path.map(encodeURIComponent).join("/")}${search(query)}`;
}

// Refused is an answer of the runner; any other error means that there was none.
export class Refused extends Error {}

export async function post(path) {
  const response = await fetch(address(path), { method: "POST" });
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error);
  return answer;
}

function search(query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

// place is the address of a part of the page, such as #/tables?table=local-WorkTable.
export const place = (part, query = {}) => `#/${part}${search(query)}`;

// here reads the address of the page.
export function here() {
  const [part, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { part: part || "overview", query: Object.fromEntries(new URLSearchParams(query)) };
}

export function say(text, bad = false) {
  const status = document.getElementById("status");
  if (status.textContent !== text) status.textContent = text;
  status.classList.toggle("bad", bad);
}

let lastSaid = 0;

// quiet says what is normal, unless a person was told something in the last seconds.
export function quiet(text) {
  if (Date.now() - lastSaid > 6000) say(text);
}

export function tell(text, bad = false) {
  lastSaid = Date.now();
  say(text, bad);
}
