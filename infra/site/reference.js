/**
 * Runs in the browser: draws an API description with Redoc, in the site's colour mode, and repairs Redoc's markup for
 * assistive technology. Redoc draws only the sections near the visible one, so each change of the page is repaired.
 */

const element = document.querySelector("redoc");
const root = document.documentElement;

/** Redoc's and VitePress's own keys of the stored colour mode. */
const stored = { redoc: "redoc.colorMode", site: "vitepress-theme-appearance" };

const modeOf = ({ classList }) => (classList.contains("dark") ? "dark" : "light");

/** Passes the site's colour mode, which start.js applied, to Redoc, and the reader's selection to the site. */
function shareColourMode() {
  let mode = modeOf(root);
  write(stored.redoc, mode);
  new MutationObserver(() => {
    if (modeOf(root) === mode) return;
    mode = modeOf(root);
    write(stored.site, mode);
  }).observe(root, { attributeFilter: ["class"] });
}

function write(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // storage is blocked
  }
}

/** Repairs the drawn part of the page. */
function repair() {
  describeOverlays();
  const content = element.querySelector("main");
  if (content === null) return;
  nameSidebar(content);
  orderHeadings();
  nameButtonsByText();
  makeScrollable();
}

/** Describes the search and open menus, which Redoc draws outside its element. */
function describeOverlays() {
  for (const item of document.querySelectorAll("body > :not(redoc) [role=menuitem]"))
    describe(item.closest("body > *"), { role: "region", "aria-label": "Menu" });
  const dialog = document.querySelector("[data-testid=search-dialog]");
  if (dialog === null) return;
  describe(dialog, { role: "dialog", "aria-modal": "true", "aria-label": "Search" });
  describe(dialog.querySelector("header"), { role: "presentation" });
  describe(dialog.querySelector("input"), { "aria-label": "Search" });
  describe(dialog.querySelector("header button"), { "aria-label": "Clear" });
}

function describe(target, attributes) {
  for (const [name, value] of Object.entries(attributes)) target?.setAttribute(name, value);
}

/** Marks the menu beside the content as navigation. */
function nameSidebar(content) {
  const children = [...content.parentElement.children];
  const sidebar = children.find((child) => child.querySelector("[data-testid=search-trigger]"));
  describe(sidebar, { role: "navigation", "aria-label": "Operations" });
}

/** Gives each heading at most one level more than the heading before it. */
function orderHeadings() {
  let before = 1;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!heading.checkVisibility()) continue;
    before = Math.min(Number(heading.tagName[1]), before + 1);
    heading.setAttribute("aria-level", String(before));
  }
}

/** Removes names that differ from a button's visible text, by which voice control finds the button. */
function nameButtonsByText() {
  for (const button of element.querySelectorAll("button[aria-label]")) {
    const name = button.getAttribute("aria-label");
    const text = button.textContent.trim();
    if (text === "" || name.includes(text)) continue;
    button.removeAttribute("aria-label");
    button.setAttribute("aria-description", name);
  }
}

/** Lets keyboard users scroll wide and high code. */
function makeScrollable() {
  for (const block of element.querySelectorAll("pre, [data-component-name='Panel/PanelBody'] div")) {
    const overflows = block.scrollWidth > block.clientWidth || block.scrollHeight > block.clientHeight;
    if (overflows && getComputedStyle(block).overflow !== "visible") block.tabIndex = 0;
  }
}

shareColourMode();
new MutationObserver(repair).observe(document.body, { childList: true, characterData: true, subtree: true });
const { init } = await import("./redoc.js"); // which reads the stored colour mode
const options = { disableTelemetry: true, hideDownloadButtons: true, hideSchemaPattern: true };
init(element.dataset.description, options, element);
