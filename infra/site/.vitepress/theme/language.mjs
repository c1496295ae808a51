/** Selects the reader's preferred programming language in every group of code blocks. */

const stored = "recordbridge-docs-language";

/** Selects the stored language in the page's groups, and stores the language that the reader selects. */
export function keepLanguage() {
  select(read());
  for (const input of document.querySelectorAll(".vp-code-group input")) {
    input.addEventListener("change", () => {
      write(languageOf(input));
      select(languageOf(input));
    });
  }
}

const languageOf = (input) => input.nextElementSibling?.getAttribute("data-title");

function select(language) {
  for (const group of document.querySelectorAll(".vp-code-group")) {
    const inputs = [...group.querySelectorAll("input")];
    const at = inputs.findIndex((input) => languageOf(input) === language);
    if (at < 0) continue;
    inputs[at].checked = true;
    [...group.querySelectorAll(".blocks > div")].forEach((block, of) => block.classList.toggle("active", of === at));
  }
}

function read() {
  try {
    return localStorage.getItem(stored);
  } catch {
    return null; // storage is blocked
  }
}

function write(language) {
  try {
    localStorage.setItem(stored, language);
  } catch {
    // storage is blocked
  }
}
